import { show } from '../ground/show.ts'
import { refuseArgument } from './control-error.ts'

/** A length of time: the sum of its parts. */
export interface Span {
  weeks?: number
  days?: number
  hours?: number
  minutes?: number
  seconds?: number
}

const SECONDS = { weeks: 604_800, days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const
const UNITS = Object.keys(SECONDS).join(', ')

/** The ISO 8601 duration of a span, in whole seconds. @throws ControlError for anything else */
export function writeDuration(span: Span): string {
  if (typeof span !== 'object' || span === null || Object.keys(span).length === 0) {
    throw refuseArgument(
      '/advance',
      `A clock advances by an object such as { hours: 1 } with the units ${UNITS}, or by a text such as PT1H.`,
    )
  }
  let total = 0
  for (const [unit, amount] of Object.entries(span)) {
    if (!Object.hasOwn(SECONDS, unit))
      throw refuseArgument(`/advance/${unit}`, `\`${unit}\` is no unit; the units are ${UNITS}.`)
    if (amount === undefined) continue
    if (typeof amount !== 'number' || !(amount >= 0 && amount < Number.POSITIVE_INFINITY)) {
      throw refuseArgument(
        `/advance/${unit}`,
        `\`${unit}\` must be a number of at least 0, which ${show(amount)} is not.`,
      )
    }
    total += amount * SECONDS[unit as keyof Span]
  }
  // 0.5 minutes are 30 seconds, but a clock shows no fraction of a second.
  if (Math.abs(total - Math.round(total)) > 1e-6) {
    throw refuseArgument('/advance', `A clock advances by whole seconds, which ${total} is not.`)
  }
  const seconds = Math.round(total)
  if (!Number.isSafeInteger(seconds)) throw refuseArgument('/advance', 'A clock shows no year beyond 9999.')
  return `PT${seconds}S`
}
