import { shorten } from '../ground/show.ts'

/** A name or similar text of a client, with any content, as code within a sentence. */
export function spelt(text: string): string {
  return `\`${JSON.stringify(shorten(text)).slice(1, -1)}\``
}
