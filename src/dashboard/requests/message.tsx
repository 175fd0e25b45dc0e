import { useRef, useState } from 'preact/hooks'
import { CopyButton } from '../controls/copyable.tsx'
import { Pairs } from '../controls/marks.tsx'
import { formatCount, formatJson, formatNumber } from '../formatting.ts'
import type { Message } from '../responses.ts'
import { Part } from './part.tsx'

/** How many characters of a body are shown at first. Browsers lay out longer texts slowly. */
const LONGEST_BODY = 20_000

/** The header fields and the body. A JSON body is indented, and a button shows the original text. */
export function MessageView({ title, message }: { title: string; message: Message }) {
  const fields = Object.entries(message.headers).map(
    ([name, value]) => [name, <bdi class="mono">{value}</bdi>] as const,
  )
  return (
    <Part title={title}>
      {fields.length === 0 ? <p class="soft">No headers.</p> : <Pairs entries={fields} />}
      <Body title={title} message={message} />
    </Part>
  )
}

function Body({ title, message: { body, body_size, truncated } }: { title: string; message: Message }) {
  const [asSent, setAsSent] = useState(false)
  const [whole, setWhole] = useState(false)
  const place = useRef<HTMLPreElement>(null)
  if (body === null) {
    const why = body_size > 0 ? `The body of ${formatCount(body_size, 'byte')} was not read.` : 'No body.'
    return <p class="soft">{why}</p>
  }
  if (body === '' && body_size === 0) return <p class="soft">An empty body.</p>
  const pretty = prettyJson(body)
  const text = asSent ? body : pretty
  const isLong = text.length > LONGEST_BODY
  const notes = [
    formatCount(body_size, 'byte'),
    truncated && 'the journal keeps only the beginning',
    body.includes('\u{FFFD}') && 'bytes that are not UTF-8 are shown as \u{FFFD}',
  ]
  return (
    <>
      <div class="row">
        <p class="soft grow">{notes.filter(Boolean).join('; ')}</p>
        {pretty !== body && (
          <button type="button" class="small no-print" aria-pressed={asSent} onClick={() => setAsSent(!asSent)}>
            As sent
          </button>
        )}
        <span class="no-print">
          <CopyButton text={text} shown={() => place.current} label={`Copy the body of ${title.toLowerCase()}`} />
        </span>
      </div>
      <pre ref={place}>{isLong && !whole ? `${text.slice(0, LONGEST_BODY)}…` : text}</pre>
      {isLong && !whole && (
        <div class="row no-print">
          <button type="button" onClick={() => setWhole(true)}>
            Show all {formatNumber(text.length)} characters
          </button>
        </div>
      )}
    </>
  )
}

/** Indents JSON, and returns any other text unchanged. */
function prettyJson(text: string): string {
  try {
    return formatJson(JSON.parse(text))
  } catch {
    return text
  }
}
