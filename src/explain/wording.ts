import { shorten } from '../ground/show.ts'

/** A value as a sentence names it, however large and deep it is. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value))
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

/** A name or the like that a client sent, which may hold anything, as code within a sentence. */
export function spelt(text: string): string {
  return `\`${JSON.stringify(shorten(text)).slice(1, -1)}\``
}

/** `1 entry`, `2 entries`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
