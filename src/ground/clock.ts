import { readTime } from './timers.ts'

export { elapsed } from './timers.ts'

/** Milliseconds since the Unix epoch. */
export type Clock = () => number

let latest = 0

/** The machine's clock. The program reads the time only here. It stands still while the machine's clock is set back. */
export const systemClock: Clock = () => {
  latest = Math.max(latest, readTime())
  return latest
}
