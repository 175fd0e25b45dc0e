import { describe, expect, it } from 'vitest'
import { type CountedRequest, type Fall, SharedCounts } from '../../src/conformance/shared-counts.ts'
import { wordsOf } from '../../src/ground/chance.ts'

const PATHS = ['/dmarc', '/domains', '/domaingroups']

interface Service {
  /** Whether all paths share one count. */
  shares: boolean
  countsRefusals?: boolean
  /** How many requests others send before each, at most. */
  others?: number
  isSoleClient?: boolean
  seed?: number
}

/** What is said of 300 requests to three paths, in four windows. */
function fallsOf({ shares, countsRefusals = true, others = 0, isSoleClient = false, seed = 1 }: Service): Fall[] {
  let drawn = 0
  const draw = (size: number) => wordsOf(`shared counts ${seed} ${++drawn}`)[0] % size
  const counts = new SharedCounts(isSoleClient)
  const falls: Fall[] = []
  let left = new Map<string, number>()
  let windows: object[] = []
  const spend = (path: string) => {
    for (const each of PATHS) if (shares || each === path) left.set(each, (left.get(each) ?? 0) - 1)
  }
  for (let sent = 0; sent < 300; sent++) {
    if (sent % 75 === 0) {
      left = new Map(PATHS.map((path) => [path, 1_000]))
      windows = PATHS.map(() => ({}))
    }
    for (let count = draw(others + 1); count > 0; count--) spend(PATHS[draw(3)] as string)
    const index = draw(3)
    const path = PATHS[index] as string
    const kind: CountedRequest['kind'] = draw(3) === 0 ? 'refused' : 'success'
    if (kind === 'success' || countsRefusals) spend(path)
    const sample = { remaining: left.get(path) ?? 0, window: windows[index] as object }
    const fall = counts.take({ path, kind, sample, overlaps: false })
    if (fall !== undefined) falls.push(fall)
  }
  return falls
}

describe('paths that share one count', () => {
  it.each([true, false])('are found, whether refusals count or not: %s', (countsRefusals) => {
    const [fall, ...more] = fallsOf({ shares: true, countsRefusals })
    expect(fall?.by).toBe((fall?.own ?? 0) + (fall?.others ?? 0))
    expect(more).toEqual([])
    expect(fallsOf({ shares: true, countsRefusals, isSoleClient: true })).toHaveLength(1)
  })

  it('are never suspected where each path has its own, whoever else spends', () => {
    for (let seed = 1; seed <= 30; seed++) {
      for (const countsRefusals of [true, false]) {
        const service = { shares: false, countsRefusals, others: seed % 6, seed }
        expect(fallsOf(service), `seed ${seed}`).toEqual([])
      }
    }
  })
})
