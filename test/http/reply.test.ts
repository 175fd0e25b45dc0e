import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { Replier } from '../../src/http/reply.ts'

const contract = await loadContract({ overlays: [] })
const operation = contract.operations.find(({ id }) => id === 'listDmarc')
if (operation === undefined) throw new Error('There is no listDmarc.')

describe('A reply to a reading', () => {
  it('is made once for each source and variant, until all replies together are larger than the limit', () => {
    const size = new Replier(contract, 'error').succeedCached(operation, readingOf({})).body.size
    const replier = new Replier(contract, 'error', 3 * size)
    const made: number[] = []
    const sources = [{}, {}, {}, {}]
    const read = (...indexes: number[]) => {
      for (const index of indexes) {
        const reading = readingOf(sources[index] ?? {}, () => made.push(index))
        replier.succeedCached(operation, reading)
      }
      return made.splice(0)
    }
    expect(read(0, 1, 2, 0, 1, 2)).toEqual([0, 1, 2])
    expect(read(3, 3)).toEqual([3])
    expect(read(0, 3)).toEqual([0])
  })

  it('is kept alone when it is larger than the limit', () => {
    const replier = new Replier(contract, 'error', 1)
    let made = 0
    const reading = readingOf({}, () => made++)
    for (let round = 0; round < 3; round++) replier.succeedCached(operation, reading)
    expect(made).toBe(1)
  })
})

function readingOf(source: object, note: () => void = () => {}) {
  return {
    source,
    variant: '',
    make() {
      note()
      return []
    },
  }
}
