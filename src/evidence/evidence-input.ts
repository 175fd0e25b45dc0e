import { createReadStream } from 'node:fs'
import { findViolation } from '../ground/schema.ts'

/**
 * A file of evidence, of dependencies or of accepted findings cannot be used. The message is the place, as
 * `file#/json/pointer`, and one sentence.
 */
export class EvidenceError extends Error {
  override name = 'EvidenceError'

  constructor(file: string, pointer: string, reason: string) {
    super(`${file}${pointer === '' ? '' : `#${pointer}`}: ${reason}`)
  }
}

/** The text of a file, which may be a pipe. `what` names the expected kind of file. @throws EvidenceError */
export async function readText(file: string, largest: number, what: string): Promise<string> {
  const text = await readUpTo(largest, file).catch(({ code }: NodeJS.ErrnoException) => {
    throw new EvidenceError(file, '', `The ${what} cannot be read (${code}).`)
  })
  if (text !== undefined) return text
  throw new EvidenceError(file, '', `The file is too large; a file of this kind has at most ${largest} bytes.`)
}

/** The text of a file, or `undefined` if it has more bytes than `largest`. At most one more is read. */
async function readUpTo(largest: number, file: string): Promise<string | undefined> {
  const chunks: Buffer[] = []
  // The size of a pipe is not known in advance.
  for await (const chunk of createReadStream(file, { end: largest })) chunks.push(chunk as Buffer)
  const content = Buffer.concat(chunks)
  return content.length > largest ? undefined : content.toString()
}

/** @throws EvidenceError if the content of a file violates the schema */
export async function checkContent(file: string, schema: object, content: unknown): Promise<void> {
  const violation = await findViolation(schema, content)
  if (violation !== undefined) throw new EvidenceError(file, violation.pointer, `The value ${violation.reason}.`)
}
