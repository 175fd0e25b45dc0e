import type { Response } from './delivery.ts'

/** The quota in the header of a response. */
export interface ToldQuota {
  limit: number
  remaining: number
  /** In the form that the contract prescribes. */
  reset: number
}

/** The fields of a response with a body of `size` bytes. */
export type UsualFields = (
  size: number,
  date: string,
  id: string,
  limits: ToldQuota | undefined,
) => Pick<Response, 'headers' | 'written'>

/**
 * Creates the function that makes the common fields of all responses: as a list for the journal, and as text for the
 * connection, see `addFields`. A test compares both. `type` is the Content-Type.
 */
export function createUsualFields(type: string): UsualFields {
  let known = { date: '', start: '' }

  /** The text before the id. It is the same for all responses within a second. */
  function startOf(date: string): string {
    if (known.date !== date) known = { date, start: `Content-Type: ${type}\r\nDate: ${date}\r\nX-Request-Id: ` }
    return known.start
  }

  return function usualFields(size, date, id, limits) {
    const start = startOf(date)
    // Written as one literal: the journal keeps the array, and an array that has grown keeps spare room.
    if (limits === undefined) {
      const headers = ['Content-Length', size, 'Content-Type', type, 'Date', date, 'X-Request-Id', id]
      return { headers, written: { entries: 8, text: `${start}${id}\r\n` } }
    }
    const { limit, remaining, reset } = limits
    // biome-ignore format: names and values side by side
    const headers = [
      'Content-Length', size, 'Content-Type', type, 'Date', date, 'X-Request-Id', id,
      'X-RateLimit-Limit', limit, 'X-RateLimit-Remaining', remaining, 'X-RateLimit-Reset', reset,
    ]
    const text = `${start}${id}\r\nX-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${reset}\r\n`
    return { headers, written: { entries: 14, text } }
  }
}
