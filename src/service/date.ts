import { RealDate } from '../ground/timers.ts'

let second = Number.NaN
let text = ''

/** The value of a Date field (RFC 9110 §5.6.7); remembered for one second. */
export function writeDate(milliseconds: number): string {
  const current = Math.floor(milliseconds / 1000)
  if (current !== second) {
    second = current
    text = new RealDate(milliseconds).toUTCString()
  }
  return text
}
