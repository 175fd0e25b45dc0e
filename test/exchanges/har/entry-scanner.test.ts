import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EntryScanner, type Extent } from '../../../src/exchanges/har/entry-scanner.ts'

interface Found {
  entries: unknown[]
  lost: number
  isWhole: boolean
  creator: string | undefined
}

/** Scans a text that comes in pieces of these sizes, in turn. */
function scan(text: string, sizes: readonly number[]): Found {
  const bytes = Buffer.from(text)
  const entries: unknown[] = []
  let lost = 0
  const scanner = new EntryScanner()
  const read = ({ offset, length }: Extent) => bytes.subarray(offset, offset + length).toString()
  for (let at = 0, turn = 0; at < bytes.length && !scanner.isBroken; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    for (const found of scanner.push(bytes.subarray(at, at + size))) {
      if (found.problem === undefined) entries.push(JSON.parse(read(found)))
      else lost++
    }
    at += size
  }
  const { creator } = scanner
  return { entries, lost, isWhole: scanner.end() === undefined, creator: creator && read(creator) }
}

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 })
/** As a parser reads them: JSON writes minus zero as zero. */
const entries = fc
  .array(fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 3 })), { maxLength: 5 })
  .map((list) => JSON.parse(JSON.stringify(list)) as unknown[])
const others = fc.dictionary(
  fc.string({ maxLength: 5 }).filter((name) => !['log', 'entries', 'creator'].includes(name)),
  fc.jsonValue({ maxDepth: 3 }),
)
const runs = { numRuns: 200, seed: 20_260_115 }

describe('The scanner of entries', () => {
  it('finds what a parser of JSON finds, whatever stands beside it and in whatever pieces it comes', {}, () => {
    fc.assert(
      fc.property(
        entries,
        others,
        others,
        sizes,
        fc.constantFrom(undefined, 1, '\t'),
        (list, log, rest, pieces, space) => {
          const text = JSON.stringify(
            { ...rest, log: { ...log, entries: list, creator: { name: 'x' } }, z: rest },
            undefined,
            space,
          )
          const found = scan(text, pieces)
          expect(found).toMatchObject({ entries: list, lost: 0, isWhole: true })
          expect(JSON.parse(found.creator ?? '')).toEqual({ name: 'x' })
        },
      ),
      runs,
    )
  })
})
