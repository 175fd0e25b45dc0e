import { inspect } from 'node:util'

const SHOWN = 100

/** As much of a text as a message has room for. */
export function shorten(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

/** A value of any type in a few characters, texts in quotes. */
export function show(value: unknown): string {
  if (typeof value === 'string') return shorten(JSON.stringify(value))
  return shorten(inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: SHOWN }))
}
