/**
 * Whether long tests do all that they are meant to do (`TEST_BUDGET=full`, as in CI), or as much as finds a plain mistake
 * in about a second.
 */
export const IS_FULL_BUDGET = isFull(process.env['TEST_BUDGET'])

/** How many runs a long test makes; the environment variable of the test itself decides, where it has one and it is set. */
export function budget({ quick, full }: { quick: number; full: number }, variable?: string): number {
  const given = variable === undefined ? undefined : process.env[variable]
  if (given === undefined) return IS_FULL_BUDGET ? full : quick
  const runs = Number(given)
  if (!Number.isInteger(runs) || runs < 1) throw new Error(`${variable} ${given}: must be a whole number from 1`)
  return runs
}

function isFull(value: string | undefined): boolean {
  if (value === undefined || value === 'full') return value === 'full'
  throw new Error(`TEST_BUDGET ${value}: must be full, or not set`)
}
