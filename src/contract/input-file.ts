import { createReadStream } from 'node:fs'

/** The most bytes of a file that a user names, such as an overlay or a fixture. */
const LARGEST_INPUT = 256 << 20

/**
 * The text of a file, which may be a pipe, or a device without an end. At most one byte more than `largest` is read.
 * @throws an error of the system; its code is EFBIG if there are more bytes
 */
export async function readInput(file: string, largest = LARGEST_INPUT): Promise<string> {
  const chunks: Buffer[] = []
  // The size of a pipe is not known in advance.
  for await (const chunk of createReadStream(file, { end: largest })) chunks.push(chunk as Buffer)
  const content = Buffer.concat(chunks)
  if (content.length <= largest) return content.toString()
  throw Object.assign(new Error(`the file has more than ${largest} bytes`), { code: 'EFBIG' })
}
