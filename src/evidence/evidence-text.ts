import { createReadStream } from 'node:fs'
import { EvidenceError } from './evidence-error.ts'

/**
 * The text of a file, which may be a pipe. At most `largest` bytes are read. `what` names the expected kind of file.
 * @throws EvidenceError
 */
export async function readText(file: string, largest: number, what: string): Promise<string> {
  const chunks: Buffer[] = []
  try {
    // The size of a pipe is not known in advance.
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
