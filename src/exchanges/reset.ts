import { RealDate } from '../ground/timers.ts'
import type { SeenHeaders } from './exchange.ts'

/** When a quota is renewed, as a response tells it. */
export interface ToldReset {
  /** Seconds until then by the clock of the service; absent where it tells a time, and not its own. */
  seconds: number | undefined
  /** In seconds since the Unix epoch, where the service tells a time. */
  instant: number | undefined
}

/** A number from this on is a Unix timestamp: as a number of seconds, it would be more than thirty years. */
const LEAST_TIMESTAMP = 1_000_000_000

/** Reads X-RateLimit-Reset, whose form the specification does not show, or a field of the same meaning. */
export function readReset(headers: SeenHeaders, name = 'x-ratelimit-reset'): ToldReset | undefined {
  const number = readCount(headers[name])
  if (number === undefined) return undefined
  if (number < LEAST_TIMESTAMP) return { seconds: number, instant: undefined }
  const date = RealDate.parse(headers['date'] ?? '')
  return { seconds: Number.isNaN(date) ? undefined : number - Math.floor(date / 1000), instant: number }
}

/** A whole number of at most 15 digits. */
export function readCount(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}
