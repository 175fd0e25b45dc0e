import { expect, it } from 'vitest'
import { createRandom } from '../support/random.ts'

interface Trend {
  growth: number
  least: number
  most: number
}

const {
  trendOf,
  judgeTrend,
  judgeBeside,
}: {
  trendOf(values: readonly number[]): Trend
  judgeTrend(trend: Trend, tolerance: number): string
  judgeBeside(values: readonly number[], references: readonly number[], tolerance: number): string
} = await import(new URL('../../bench/trend.mjs', import.meta.url).href)

const WINDOWS = 120
const LIMIT = 0.1
const SEEDS = Array.from({ length: 50 }, (_, index) => index + 1)

/** Figures that grow by such a share from the first window to the last, each up to a tenth too high or too low. */
function figures(seed: number, growth: number, count = WINDOWS): number[] {
  const random = createRandom(seed)
  return Array.from({ length: count }, (_, at) => (1 + (growth * at) / count) * (0.9 + 0.2 * random()))
}

/** In every third window, something else keeps the machine busy. */
function interrupted(values: readonly number[]): number[] {
  return values.map((value, index) => (index % 3 === 1 ? 5 * value : value))
}

it.each([
  { of: 'steady figures', growth: 0, word: 'flat' },
  { of: 'figures that fall', growth: -0.3, word: 'flat' },
  { of: 'figures that grow by three times the limit', growth: 0.3, word: 'grows' },
])('judges $of to be $word, whatever the noise', ({ growth, word }) => {
  const words = SEEDS.map((seed) => judgeTrend(trendOf(figures(seed, growth)), LIMIT))
  expect(new Set(words)).toEqual(new Set([word]))
})

it('says nothing certain of growth that is about as large as the limit', () => {
  const words = SEEDS.map((seed) => judgeTrend(trendOf(figures(seed, LIMIT)), LIMIT))
  expect(words.filter((word) => word === 'unknown').length).toBeGreaterThan(SEEDS.length * 0.9)
})

it('never takes noise for growth, however few windows there are', () => {
  for (const count of [2, 4, 8, 24]) {
    const words = SEEDS.map((seed) => judgeTrend(trendOf(figures(seed, 0, count)), LIMIT))
    expect(words).not.toContain('grows')
  }
  expect(judgeTrend(trendOf(figures(1, 0, 2)), LIMIT)).toBe('unknown')
})

it('is not turned by windows in which the machine was busy', () => {
  for (const seed of SEEDS) {
    expect(judgeTrend(trendOf(interrupted(figures(seed, 0))), 0.3)).toBe('flat')
    expect(judgeTrend(trendOf(interrupted(figures(seed, 1))), 0.3)).toBe('grows')
  }
})

it('takes a machine that becomes slower for no growth of the server', () => {
  for (const seed of SEEDS) {
    const [server, reference] = [figures(seed, 0), figures(seed + 1_000, 0)]
    const slowing = (values: readonly number[]) => values.map((value, index) => value * (1 + index / WINDOWS))
    expect(judgeBeside(slowing(server), slowing(reference), 0.2)).toBe('flat')
    expect(judgeBeside(slowing(server), reference, 0.2)).toBe('grows')
  }
})

it('takes nothing that was not measured for flat', () => {
  expect(judgeTrend(trendOf(Array(WINDOWS).fill(Number.NaN)), LIMIT)).toBe('unknown')
})
