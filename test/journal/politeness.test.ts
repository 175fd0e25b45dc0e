import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { contentOf, UNREAD } from '../../src/ground/message.ts'
import {
  COMPARED,
  EXAMPLES,
  type ImpoliteKind,
  type Judged,
  Manners,
  type Noted,
  type ObservedConduct,
  reportImpoliteness,
  Verdict,
} from '../../src/journal/verdict.ts'
import { recorded } from '../support/entry.ts'
import { START } from '../support/service.ts'

const { operations, settings } = await loadContract()
/** When the quota is renewed, on the account's clock. */
const RESET = START + 30_000
const LIMITED = { status: 429, allowance: { allowed: false, limit: 1, remaining: 0, resetAt: RESET / 1000 } }
const FAILED = { status: 503 }

/** A request. Its times on the wire are in milliseconds of real time, that on the account's clock counts from the start. */
interface Step extends Partial<ObservedConduct> {
  operation?: string
  wire?: [started: number, ended: number]
  sent?: string | typeof UNREAD
  received?: string
}

/** What is noted of the last request. */
function notedOfLast(steps: readonly Step[]): ImpoliteKind[] {
  const manners = new Manners(settings.refresh)
  // A body is compared as long as something else keeps it.
  const kept: unknown[] = []
  const key = {}
  let noted: ImpoliteKind[] = []
  for (const [index, { operation: id = 'listDomains', wire, sent, received, ...chosen }] of steps.entries()) {
    const [started, ended] = wire ?? [index * 10, index * 10 + 5]
    const operation = operations.find((each) => each.id === id)
    const method = operation?.method ?? ''
    const responseBody = contentOf(received ?? '')
    kept.push(responseBody)
    const conduct = { ...recorded({ at: START, method, status: operation?.success.status }), ...chosen }
    const requestBody = typeof sent === 'object' ? sent : sent === undefined ? undefined : contentOf(sent)
    noted = manners.look(conduct, key, { operation, started, ended, requestBody, responseBody })
  }
  return noted
}

const both: ImpoliteKind[] = ['request-before-reset', 'immediate-retry']
const ADD: Step = { operation: 'addDomains', sent: '{}' }
const READ: Step = { operation: 'listDmarc', received: '[]' }
const RENEWED: Step = { ...LIMITED, at: RESET, allowance: { ...LIMITED.allowance, resetAt: RESET / 1000 + 60 } }
/** A step with another body. */
const sending = (sent: NonNullable<Step['sent']>, step = ADD): Step => ({ ...step, sent })
/** A step at these times on the wire. */
const during = (started: number, ended: number, step: Step = {}): Step => ({ ...step, wire: [started, ended] })

describe('of the last request is noted', () => {
  it.each<[sequence: string, steps: Step[], noted: ImpoliteKind[]]>([
    ['a retry at once after a 429, before the reset', [LIMITED, {}], both],
    ['a retry just before the reset', [LIMITED, { at: RESET - 1 }], both],
    ['a retry at once at the very moment of the reset', [LIMITED, { at: RESET }], []],
    ['another request after a while', [LIMITED, during(9_000, 9_001, { target: '/other' })], both.slice(0, 1)],
    ['a 429 that tells no reset', [{ status: 429 }, { at: RESET }], ['immediate-retry']],
    [
      'the third of three, the second of which ran beside the first',
      [during(0, 10, LIMITED), during(5, 20, LIMITED), during(15, 30)],
      ['request-before-reset'],
    ],
    ['a request after the reset and another 429 of the next window', [LIMITED, RENEWED, { at: RESET + 1 }], both],
    ['a retry at once after a 500', [{ status: 500 }, {}], ['immediate-retry']],
    ['a retry at once after a refusal of another kind', [{ status: 499 }, {}], []],
    ['a retry at once after a lost connection', [{ status: undefined }, {}], []],
    ['a retry of a 5xx just within a second', [during(0, 5, FAILED), during(1_004, 1_005)], ['immediate-retry']],
    ['a retry of a 5xx after a second', [during(0, 5, FAILED), during(1_005, 1_006)], []],
    ['a request that began as soon as the other failed', [during(0, 5, FAILED), during(5, 6)], ['immediate-retry']],
    ['a request that began before the other failed', [{ ...FAILED, wire: [0, 5] }, { wire: [4, 6] }], []],
    ['a request that began before the 429 of the other', [{ ...LIMITED, wire: [0, 5] }, { wire: [4, 6] }], []],
    ['another request after a 5xx', [FAILED, { target: '/other' }], []],
    ['another body after a 5xx', [sending('{}', { ...ADD, ...FAILED }), sending('[]')], []],
    [
      'a long body that is sent again, which is not compared',
      [sending(' '.repeat(COMPARED + 1), { ...ADD, ...FAILED }), sending(' '.repeat(COMPARED + 1))],
      [],
    ],
    [
      'the longest body that is compared',
      [sending(' '.repeat(COMPARED)), sending(' '.repeat(COMPARED))],
      ['repeated-write'],
    ],
    ['a write that is sent again', [ADD, ADD], ['repeated-write']],
    ['a write after a failure, of which nobody has read the body', [sending(UNREAD, { ...ADD, ...FAILED }), ADD], []],
    ['a write that nobody has read after a failure', [{ ...ADD, ...FAILED }, sending(UNREAD)], []],
    ['a write that nobody has read after one that succeeded', [ADD, sending(UNREAD, { ...ADD, ...FAILED })], []],
    [
      'a write without a body that is sent again',
      [{ operation: 'addDomains', ...FAILED }, sending('')],
      ['immediate-retry'],
    ],
    [
      'a read with a body, which the service ignores',
      [sending(UNREAD, FAILED), sending('{}', {})],
      ['immediate-retry'],
    ],
    [
      'a removal with a body, which the service ignores',
      Array(2).fill(sending(UNREAD, { operation: 'deleteDomainGroup' })),
      ['repeated-write'],
    ],
    ['a write that is sent again after another', [ADD, sending('[]'), ADD], []],
    ['a write that is sent twice at a time', [during(0, 5, ADD), during(4, 6, ADD)], []],
    ['a write after an injected success', [{ ...ADD, injected: true }, ADD], []],
    ['a write after a refusal', [{ ...ADD, status: 400 }, ADD], []],
    ['GET /dmarc with the same answer', [READ, READ], ['repeated-read']],
    ['GET /dmarc with another answer', [READ, { ...READ, received: '{}' }], []],
    ['GET /dmarc with the last answer', [READ, ...Array(2).fill({ ...READ, received: '{}' })], ['repeated-read']],
    ['GET /dmarc after a refresh', [READ, { ...READ, at: START + 86_400_000 }], []],
    ['HEAD of /dmarc', [READ, { ...READ, method: 'HEAD' }], []],
    ['GET /dmarc that a fault answers', [READ, { ...READ, injected: true }], []],
  ])('%s', (_, steps, noted) => {
    expect(notedOfLast(steps)).toEqual(noted)
  })
})

it('says how often each kind was noted, in the order of the kinds', () => {
  const noted = (count: number) => ({ count, requestIds: [] })
  const all: Partial<Record<ImpoliteKind, Noted>> = {
    'repeated-write': noted(3),
    'request-before-reset': noted(1),
    'immediate-retry': noted(2),
  }
  expect(reportImpoliteness((kind) => all[kind]).map(({ message }) => message)).toEqual([
    'A path was requested once after its 429 and before the instant in X-RateLimit-Reset.',
    'The same request was sent again twice within a second after a 429 or a 5xx.',
    'A write was sent again 3 times, although its success had been answered.',
  ])
})

it('keeps the first ids of each kind, counts all, and knows the whole after it was cleared', () => {
  const verdict = new Verdict(settings)
  const operation = operations.find(({ id }) => id === 'addDomains')
  const principal = { account: {}, key: {} } as Judged['principal']
  const bodies = { requestBody: contentOf(''), responseBody: undefined }
  const evidence = { operation, judged: true, principal, owner: undefined, ...bodies }
  let time = 0
  const write = (requestId: string) => {
    const sent = recorded({ requestId, method: 'POST', status: operation?.success.status })
    verdict.note(sent, { ...evidence, started: ++time, ended: time })
  }
  for (let count = 0; count <= EXAMPLES; count++) write(`a${count}`)
  write('b')
  const ids = Array.from({ length: EXAMPLES }, (_, index) => `a${index + 1}`)
  expect(verdict.sinceClearing.counts.politeness).toMatchObject([
    { request_ids: ids, message: expect.stringContaining('11 times') },
  ])
  verdict.clear()
  expect(verdict.sinceClearing.counts.politeness).toEqual([])
  write('c')
  expect(verdict.sinceClearing.counts.politeness).toMatchObject([
    { request_ids: ['c'], message: expect.stringContaining('once') },
  ])
  expect(verdict.sinceStart.counts.politeness).toMatchObject([
    { request_ids: ids, message: expect.stringContaining('12 times') },
  ])
})
