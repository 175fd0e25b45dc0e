import { shorten } from '../ground/show.ts'

/** A value in the form for a sentence, even if it is large and deep. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value))
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

/** A name or similar text of a client, with any content, as code within a sentence. */
export function spelt(text: string): string {
  return `\`${JSON.stringify(shorten(text)).slice(1, -1)}\``
}
