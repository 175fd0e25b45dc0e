import type { Delivery } from './engine/outbox.ts'

/** The quota of a request, as its response tells it. */
export interface Limits {
  limit: number
  remaining: number
  /** In the form that the contract says. */
  reset: number
}

/** The fields of a response with a body of `size` bytes. */
export type UsualFields = (
  size: number,
  date: string,
  id: string,
  limits: Limits | undefined,
) => Pick<Delivery, 'headers' | 'written'>

/**
 * A function that makes the fields that every response of the service has: one by one for the journal, and as text for
 * the wire, because Node examines each character of single fields. A test compares the two. `type` is the Content-Type.
 */
export function createUsualFields(type: string): UsualFields {
  let known = { date: '', start: '' }

  /** The text before the id, the same for all responses within a second. */
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
