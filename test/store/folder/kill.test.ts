import { describe, expect } from 'vitest'
import { range } from '../../support/at-once.ts'
import { it } from '../../support/program.ts'
import { createRandom } from '../../support/random.ts'

const SEED = 7
const CLIENTS = 8

describe('A program that is killed at any moment', () => {
  it.for([
    ['rename', 40],
    ['fsync', 15],
  ] as const)(
    'has kept every change that it has answered, and no half of one: %s',
    async ([durability, least], { serveProcess, folder }) => {
      const random = createRandom(SEED)
      const options = ['--data', folder, '--fixture', 'empty', '--durability', durability, '--no-quotas']
      const answered = new Set<string>()
      const sent = new Set<string>()
      for (const round of range(1, 2)) {
        const service = await serveProcess(options)
        const enough = answered.size + least + Math.floor(random() * least)
        /** Adds pairs of domains until the program is gone. */
        async function addPairs(client: number): Promise<void> {
          for (let number = 0; ; number++) {
            const pair = ['a', 'b'].map((half) => `${half}-${round}-${client}-${number}.example`)
            sent.add(`${pair}`)
            const body = JSON.stringify({ domains: pair })
            const added = await service.request('/domains', { method: 'POST', body }).catch(() => undefined)
            if (added === undefined) return
            expect(added.status).toBe(200)
            answered.add(`${pair}`)
            if (answered.size === enough) service.stop('SIGKILL')
          }
        }
        await Promise.all(range(1, CLIENTS).map(addPairs))
        await service.ended
      }
      const again = await serveProcess(options)
      const { body } = await again.request('/domains')
      const { domains } = (body as { data: { domains: string[] } }).data
      const pairs = new Set(
        range(0, domains.length / 2 - 1).map((index) => `${domains.slice(2 * index, 2 * index + 2)}`),
      )
      expect([...answered].filter((pair) => !pairs.has(pair))).toEqual([])
      expect([...pairs].filter((pair) => !sent.has(pair))).toEqual([])
    },
  )
})
