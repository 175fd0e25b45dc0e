/** A length of time; all parts add up. */
export interface Span {
  weeks?: number
  days?: number
  hours?: number
  minutes?: number
  seconds?: number
}

const SECONDS = { weeks: 604_800, days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const

/** The ISO 8601 duration of a span, to the second. @throws RangeError for what is no length of time. */
export function writeDuration(span: Span): string {
  let total = 0
  for (const [unit, amount] of Object.entries(span)) {
    if (!Object.hasOwn(SECONDS, unit))
      throw new RangeError(`${unit} is no unit; there are ${Object.keys(SECONDS).join(', ')}.`)
    if (amount !== undefined) total += Number(amount) * SECONDS[unit as keyof Span]
  }
  if (!Number.isFinite(total) || total < 0) throw new RangeError('A clock advances by numbers that are not negative.')
  return `PT${Math.round(total)}S`
}
