import { createHash } from 'node:crypto'

/** SHA-256 of a text in hex, by which two processes see that they have the same text. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
