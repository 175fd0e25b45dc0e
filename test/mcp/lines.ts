import type { Readable } from 'node:stream'

/** The lines of a stream, without their ends. */
export async function* readLines(stream: Readable): AsyncGenerator<string> {
  let text = ''
  for await (const chunk of stream) {
    const lines = (text + chunk).split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
  if (text !== '') yield text
}
