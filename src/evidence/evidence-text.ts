import { createReadStream } from 'node:fs'
import { EvidenceError } from './evidence-error.ts'

/**
 * The text of a file, of which no more than `largest` bytes are read; it may be a pipe. `what` says what it should be.
 * @throws EvidenceError
 */
export async function readText(file: string, largest: number, what: string): Promise<string> {
  const chunks: Buffer[] = []
  try {
    // A pipe does not say how much will come.
    for await (const chunk of createReadStream(file, { end: largest })) chunks.push(chunk as Buffer)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new EvidenceError(file, '', `The ${what} cannot be read (${code}).`)
  }
  const content = Buffer.concat(chunks)
  if (content.length > largest) {
    throw new EvidenceError(file, '', `The file is too large; a file of this kind has at most ${largest} bytes.`)
  }
  return content.toString()
}
