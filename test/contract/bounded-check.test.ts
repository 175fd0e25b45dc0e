import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boundErrors } from '../../src/contract/bounded-check.ts'
import type { Json } from '../../src/ground/json.ts'

const SCHEMA: Json = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  minProperties: 2,
  properties: {
    name: { type: 'string', maxLength: 3 },
    domains: { type: 'array', maxItems: 50, items: { type: 'string', minLength: 1, pattern: '^[a-z]*$' } },
    more: { type: 'array', items: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } } },
  },
}
const ajv = new Ajv2020({ allErrors: true, verbose: true, strictTypes: false })
const all = ajv.compile(SCHEMA)
const check = boundErrors(SCHEMA, (part) => ajv.compile(part as Json))

/** What decides which code is answered: which schema was violated, and how. */
function kindsOf(errors: readonly { schemaPath: string }[]): string[] {
  return [...new Set(errors.map(({ schemaPath }) => schemaPath))].sort()
}

function compare(body: unknown): void {
  const bounded = check(body)
  all(body)
  expect(kindsOf(bounded)).toEqual(kindsOf(all.errors ?? []))
  const places = new Set((all.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`))
  for (const { instancePath, keyword } of bounded) expect(places).toContain(`${instancePath} ${keyword}`)
  expect(bounded.length).toBeLessThan(1_100)
}

describe('A body with thousands of faults', () => {
  const item = fc.constantFrom<unknown>('', 'a', 'A', 1, null, { a: 1 }, { a: 'x' }, {})
  const long = fc
    .tuple(item, item, item)
    .map(([most, rare, last]) => [...Array(1_500).fill(most), rare, ...Array(300).fill(last)])
  const few = fc.array(item, { maxLength: 5 })
  const fields = fc.constantFrom(0, 3, 1_500).map((count) => Array.from({ length: count }, (_, at) => [`x${at}`, at]))
  const body = fc.tuple(
    fc.record({ name: item, domains: fc.oneof(long, few, item), more: fc.oneof(long, few) }, { requiredKeys: [] }),
    fields,
  )

  it('is wrong in the same ways as ajv finds it, of which not all places are told (seed 42)', () => {
    fc.assert(
      fc.property(body, ([known, unknown]) => compare({ ...known, ...Object.fromEntries(unknown) })),
      { seed: 42, numRuns: 15 },
    )
  })

  it.each([[null], [[]], ['x'], [Array(2_000).fill(0)]])('is held to its type when it is no object', (body) =>
    compare(body),
  )

  it('tells the place of an item far behind that is wrong in a way of its own', () => {
    const domains = Array(5_000).fill('')
    domains[4_000] = 7
    const places = check({ name: 'x', domains }).filter(({ keyword }) => keyword === 'type')
    expect(places.map(({ instancePath }) => instancePath)).toEqual(['/domains/4000'])
  })
})
