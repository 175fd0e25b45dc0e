import { useRef, useState } from 'preact/hooks'
import { formatCount, formatJson, formatNumber, parseJson } from '../formatting.ts'
import type { Explanation, Message } from '../responses.ts'
import { Button, CopyButton } from '../ui/button.tsx'
import { Pairs, Part } from '../ui/marks.tsx'

/** How many characters of a body are shown at first. Browsers lay out longer texts slowly. */
const LONGEST_BODY = 20_000

type JsonPosition = NonNullable<Explanation['position']>

interface MessageProps {
  title: string
  message: Message
  /** Where the body is no JSON. */
  position?: JsonPosition | null
  /** Whether what is wrong there is said elsewhere. */
  isTold?: boolean
}

/** The body and the header fields. A JSON body is indented, and a button shows the original text. */
export function MessageView({ title, message, position = null, isTold = false }: MessageProps) {
  const fields = Object.entries(message.headers).map(
    ([name, value]) => [name, <bdi class="mono">{value}</bdi>] as const,
  )
  return (
    <Part title={title}>
      <Body title={title} message={message} position={position} />
      {position !== null && !isTold && (
        <p>
          <bdi>{position.says}</bdi>
        </p>
      )}
      {fields.length === 0 ? (
        <p class="soft">No headers.</p>
      ) : (
        <details>
          <summary>{formatCount(fields.length, 'header')}</summary>
          <Pairs entries={fields} />
        </details>
      )}
    </Part>
  )
}

function Body({
  title,
  message: { body, body_size, truncated },
  position,
}: MessageProps & { position: JsonPosition | null }) {
  const [asSent, setAsSent] = useState(false)
  const [whole, setWhole] = useState(false)
  const place = useRef<HTMLPreElement>(null)
  if (body === null) {
    const why = body_size > 0 ? `The body of ${formatCount(body_size, 'byte')} was not read.` : 'No body.'
    return <p class="soft">{why}</p>
  }
  if (body === '' && body_size === 0) return <p class="soft">An empty body.</p>
  const value = position === null ? parseJson(body) : undefined
  const pretty = value === undefined ? body : formatJson(value)
  const text = asSent ? body : pretty
  const isLong = text.length > LONGEST_BODY
  const notes = [
    formatCount(body_size, 'byte'),
    truncated && 'the journal keeps only the beginning',
    body.includes('\u{FFFD}') && 'bytes that are not UTF-8 are shown as \u{FFFD}',
  ]
  const drawn = isLong && !whole ? `${text.slice(0, LONGEST_BODY)}…` : text
  return (
    <>
      <div class="row">
        <p class="soft grow">{notes.filter(Boolean).join('; ')}</p>
        {pretty !== body && (
          <button type="button" class="small" aria-pressed={asSent} onClick={() => setAsSent(!asSent)}>
            As sent
          </button>
        )}
        <span>
          <CopyButton text={text} shown={() => place.current} label={`Copy the body of ${title.toLowerCase()}`} />
        </span>
      </div>
      <pre ref={place}>{position === null ? drawn : <MarkedText text={drawn} position={position} />}</pre>
      {isLong && !whole && (
        <div class="row">
          <Button words={`Show all ${formatNumber(text.length)} characters`} work={() => setWhole(true)} />
        </div>
      )}
    </>
  )
}

/** The text with its broken place marked. Where a secret is hidden, the place may be another one, and is not marked. */
function MarkedText({ text, position: { offset, before, at } }: { text: string; position: JsonPosition }) {
  const isThere = text.slice(0, offset).endsWith(before) && text.startsWith(at, offset) && before + at !== ''
  if (!isThere) return <>{text}</>
  return (
    <>
      {text.slice(0, offset)}
      <mark>
        <span class="unseen"> The JSON breaks here: </span>
        {at === '' ? ' ⟵ it ends here' : at.trim() === '' ? `⟨${JSON.stringify(at).slice(1, -1)}⟩${at}` : at}
      </mark>
      {text.slice(offset + at.length)}
    </>
  )
}
