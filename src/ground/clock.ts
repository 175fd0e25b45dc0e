/** Milliseconds since the Unix epoch. */
export type Clock = () => number

let latest = 0

/**
 * The machine's clock. Only here does the program read the time. It stands still while the machine's clock is set back.
 */
export const systemClock: Clock = () => {
  latest = Math.max(latest, Date.now())
  return latest
}

/** Milliseconds since some moment, for durations. It never goes back. */
export const elapsed = (): number => performance.now()
