/**
 * How much the tests do. `quick` is `npm test`: one case of each kind, in a minute. `whole` is `npm run test:whole`, as in CI:
 * every test once. `full` is for a night: long tests do all that they can.
 */
export type Budget = 'quick' | 'whole' | 'full'

/** vitest.config.ts sets the variable from `--mode`. */
export const BUDGET = read(process.env['TEST_BUDGET'])

/**
 * How many runs a long test makes, or how many rows of a table it takes; the environment variable of the test itself decides,
 * where it has one and it is set.
 */
export function budget(
  { quick, whole = quick, full }: { quick: number; whole?: number; full: number },
  variable?: string,
): number {
  const given = variable === undefined ? undefined : process.env[variable]
  if (given === undefined) return { quick, whole, full }[BUDGET]
  const runs = Number(given)
  if (!Number.isInteger(runs) || runs < 1) throw new Error(`${variable} ${given}: must be a whole number from 1`)
  return runs
}

/** All rows; with the quick budget, so many of them, from the first to the last at the same distance. */
export function sample<Row>(rows: readonly Row[], count: number): Row[] {
  if (BUDGET !== 'quick' || rows.length <= count) return [...rows]
  const step = (rows.length - 1) / Math.max(1, count - 1)
  return Array.from({ length: count }, (_, index) => rows[Math.round(index * step)] as Row)
}

/** All rows; with the quick budget, the first of each kind. */
export function oneOfEach<Row>(rows: readonly Row[], kindOf: (row: Row) => unknown): Row[] {
  if (BUDGET !== 'quick') return [...rows]
  return [...new Map(rows.toReversed().map((row) => [kindOf(row), row])).values()].toReversed()
}

function read(value = 'whole'): Budget {
  if (value === 'quick' || value === 'whole' || value === 'full') return value
  throw new Error(`TEST_BUDGET ${value}: must be quick, whole or full`)
}
