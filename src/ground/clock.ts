/** Milliseconds since the Unix epoch. */
export type Clock = () => number

let latest = 0

/** The machine's clock, the only place where the program reads the time. It waits when the machine's is set back. */
export const systemClock: Clock = () => {
  latest = Math.max(latest, Date.now())
  return latest
}

/** Milliseconds since some moment; for durations only, it never goes back. */
export const elapsed = (): number => performance.now()
