import type { Delivery } from './engine/outbox.ts'

/** The quota of a request as its answer tells it. */
export interface Limits {
  limit: number
  remaining: number
  /** As the contract wants it. */
  reset: number
}

/**
 * The fields that every answer of the service has, of which Node need not examine each character: for the journal one
 * by one, for the wire as text. A test holds both together.
 */
export function usualFields(
  size: number,
  date: string,
  id: string,
  limits: Limits | undefined,
): Pick<Delivery, 'headers' | 'written'> {
  const start = startOf(date)
  // Whole, not pushed together: it lives as long as the journal keeps it, and one that has grown keeps room for more.
  if (limits === undefined) {
    const headers = ['Content-Length', size, 'Content-Type', TYPE, 'Date', date, 'X-Request-Id', id]
    return { headers, written: { entries: 8, text: `${start}${id}\r\n` } }
  }
  const { limit, remaining, reset } = limits
  // biome-ignore format: names and values side by side
  const headers = [
    'Content-Length', size, 'Content-Type', TYPE, 'Date', date, 'X-Request-Id', id,
    'X-RateLimit-Limit', limit, 'X-RateLimit-Remaining', remaining, 'X-RateLimit-Reset', reset,
  ]
  const text = `${start}${id}\r\nX-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${reset}\r\n`
  return { headers, written: { entries: 14, text } }
}

const TYPE = 'application/json'
let known = { date: '', start: '' }

/** What comes before the id: the same for all answers of a second. */
function startOf(date: string): string {
  if (known.date !== date) known = { date, start: `Content-Type: ${TYPE}\r\nDate: ${date}\r\nX-Request-Id: ` }
  return known.start
}
