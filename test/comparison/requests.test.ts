import { describe, expect, it } from 'vitest'
import { compareRequests } from '../../src/comparison/requests.ts'
import { runAtOnce } from '../../src/ground/work.ts'
import type { Entry } from '../../src/journal/entry.ts'
import type { NewEntry } from '../../src/journal/journal.ts'
import { entry } from '../support/entry.ts'

/** Requests that belong to no operation, one for each path. */
function requests(...chosen: Partial<NewEntry>[]): Entry[] {
  return chosen.map((each, index) => ({ ...entry({ requestId: `r${index}`, ...each }), ordinal: index + 1, weight: 0 }))
}

function compare(one: Entry[], other: Entry[]) {
  const redact = () => (text: string) => text.replace('secret', '[hidden]')
  return runAtOnce(compareRequests(one, other, redact))
}

describe('two sequences of requests', () => {
  it.each<[string, Partial<NewEntry>, Partial<NewEntry>, number | undefined]>([
    ['nothing', {}, {}, undefined],
    ['the id and the time', { requestId: 'a', at: 1 }, { requestId: 'b', at: 2 }, undefined],
    ['the query', { target: '/x?id=1', path: '/x' }, { target: '/x?id=2', path: '/x' }, undefined],
    ['the method', { method: 'GET' }, { method: 'PUT' }, 2],
    ['the path', { path: '/x' }, { path: '/y' }, 2],
    ['the status', { status: 200 }, { status: 404 }, 2],
    ['an answer that never came', { status: 200 }, { status: undefined }, 2],
    ['the code', { status: 400, code: 'a' }, { status: 400, code: 'b' }, 2],
  ])('that differ in %s', (_, one, other, position) => {
    expect(compare(requests({}, one), requests({}, other)).parting?.position).toBe(position)
  })

  it('are of different lengths', () => {
    const { parting, ...counts } = compare(requests({}), requests({}, {}, {}))
    expect(counts).toMatchObject({ one: 1, other: 3 })
    expect(parting).toMatchObject({ position: 2, one: null, other: { request_id: 'r1' } })
  })

  it('are both empty', () => {
    expect(compare([], [])).toEqual({ one: 0, other: 0, operations: [], parting: null })
  })

  it('have secrets in their paths, which are hidden', () => {
    const { parting } = compare(requests({ path: '/secret' }), [])
    expect(parting?.one?.path).toBe('/[hidden]')
  })

  it('are counted by answer, and the answers of faults apart', () => {
    const { operations } = compare(requests({}, { injected: true }, {}), requests({ status: 404, code: 'not_found' }))
    expect(operations).toMatchObject([
      {
        ...{ operation: null, method: null, path: null, one: 3, other: 1 },
        answers: [
          { status: 200, injected: false, one: 2, other: 0, one_request: 'r0', other_request: null },
          { status: 404, code: 'not_found', one: 0, other: 1, other_request: 'r0' },
          { status: 200, injected: true, one: 1, other: 0, one_request: 'r1' },
        ],
      },
    ])
  })
})
