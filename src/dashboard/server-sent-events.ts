import type { JournalEntry } from './responses.ts'

const DATA = 'data: '

/** Reads the entries of a stream of server-sent events. The browser's `EventSource` cannot send a token. */
export async function* readEvents({ body }: Response): AsyncGenerator<JournalEntry, void> {
  if (body === null) return
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n').filter((line) => line.startsWith(DATA))
      if (lines.length > 0) yield JSON.parse(lines.map((line) => line.slice(DATA.length)).join('\n'))
    }
  }
}
