const LINE_FEED = 0x0a

/**
 * What takes the chunks of a stream, and calls `take` with each line. A line of more than `longest` bytes is told as
 * `undefined`, as soon as it is too long; the rest of it is dropped as it comes.
 */
export function splitLines(longest: number, take: (line: string | undefined) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = []
  let size = 0
  let isSkipping = false

  function add(part: Buffer): void {
    if (isSkipping) return
    size += part.length
    if (size > longest) {
      isSkipping = true
      parts = []
      take(undefined)
    } else parts.push(part)
  }

  function endLine(): void {
    const line = isSkipping ? undefined : Buffer.concat(parts, size).toString()
    parts = []
    size = 0
    isSkipping = false
    if (line !== undefined) take(line)
  }

  return (chunk) => {
    let begin = 0
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, begin)
      add(chunk.subarray(begin, end < 0 ? undefined : end))
      if (end < 0) return
      endLine()
      begin = end + 1
    }
  }
}
