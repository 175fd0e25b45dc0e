import { expect } from 'vitest'
import type { ResponseContract } from '../../src/contract/api.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { isObject, valueAt } from '../../src/ground/json.ts'
import { addFault, journalOf } from '../support/control-plane.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { openService, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { AUTHORIZED, CLOSE, readResponses, requestBytes } from '../support/wire.ts'

const RECORD = { p: 'reject', sp: 'none', np: 'none', pct: 100, testing: 'n', dmarc: 100, dkim: 100, spf: 0 } as const

/** Three domains with the same record, and a group with what JSON has to escape. */
const HELD: Fixture = {
  domains: ['a.example', 'b.example', 'c.example'].map((name) => ({ name, record: { ...RECORD, count: 48_211 } })),
  groups: [{ name: 'Lamps "and" \\ Ünïcödé/😀', domains: ['a.example', 'b.example'] }],
}

export interface Changed {
  text: string
  /** What the journal says that was changed. */
  change: string
  injected: boolean
}

export interface Answers {
  genuine: string
  response: ResponseContract
  changed: Changed[]
}

interface Asked {
  /** Such as `GET /dmarc`. */
  request: string
  /** How many requests are sent: each is changed with other draws. */
  count?: number
  /** What an overlay changes in the contract. */
  actions?: readonly object[]
  fixture?: Fixture
}

/** What a service sends in place of an answer while a rule corrupts it. */
export async function answersTo(
  corrupt: string,
  { request, count = 25, actions, fixture = HELD }: Asked,
): Promise<Answers> {
  const overlays = actions === undefined ? [] : [writeOverlay(temporaryFolder(), actions)]
  const service = await openService({ fixture, overlays, enforceQuotas: false })
  return collect(service, corrupt, request, count).finally(service.stop)
}

async function collect(service: TestService, corrupt: string, request: string, count: number): Promise<Answers> {
  const [method = '', path = ''] = request.split(' ')
  const target = `/api/v1${path}`
  const { text: genuine, status } = await service.send(method, path)
  await addFault(service, { corrupt })
  const sent = Array.from({ length: count }, (_, index) =>
    requestBytes({ method, target, headers: index === count - 1 ? [AUTHORIZED, CLOSE] : [AUTHORIZED] }),
  )
  const texts = readResponses(await service.sendRaw(Buffer.concat(sent))).map((response) => {
    expect(response.status).toBe(status)
    return response.text
  })
  const entries = (await journalOf(service)).slice(1)
  expect([texts.length, entries.length]).toEqual([count, count])
  const operation = service.contract.operations.find(
    (each) => each.method === method && each.path === path.split('?')[0],
  )
  const response = operation?.responses.get(status)
  if (response === undefined) throw new Error(`${request} has no response ${status}.`)
  const changed = texts.map((text, index): Changed => {
    return { text, change: entries[index]?.fault?.effect ?? '', injected: entries[index]?.injected === true }
  })
  return { genuine, response, changed }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Values alone, whatever the order of properties and items. */
export function values(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => JSON.stringify(values(each))).toSorted()
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, values(value[key])]),
  )
}

/** Expects everything that a kind promises of a changed answer. */
export function expectPromised(
  kind: string,
  { genuine, response }: Answers,
  { text, change, injected }: Changed,
): void {
  expect(injected).toBe(true)
  expect(text).not.toBe(genuine)
  expect(change).toMatch(/^(\/|The |All )[^\n]*[^.\s]\.$/)
  expect(isJson(text), `${change} ${text}`).toBe(kind !== 'malformed-json')
  if (kind === 'malformed-json') return
  const violations = response.check(JSON.parse(text))
  expect(violations.length === 0, `${change} ${text.slice(0, 400)}`).toBe(kind === 'compatible')
  if (kind === 'compatible' || kind === 'bad-envelope') return
  const pointer = change.split(' ')[0] ?? ''
  const [before, after] = [genuine, text].map((each) => valueAt(JSON.parse(each), pointer))
  expect(after, change).not.toEqual(before)
  if (kind === 'missing-field') expect(after).toBeUndefined()
  if (kind === 'extra-field') expect(before).toBeUndefined()
}
