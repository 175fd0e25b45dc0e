import { formatCount, formatJson, parseJson } from './formatting.ts'
import type { Schemas } from './responses.ts'
import { Copyable } from './ui/button.tsx'
import { Pairs, Part } from './ui/marks.tsx'

/** How many characters of a body are shown. Browsers lay out longer texts slowly; what is copied is whole. */
const LONGEST_BODY = 20_000

type JsonPosition = NonNullable<Schemas['Explanation']['position']>

interface MessageProps {
  title: string
  message: Schemas['Message']
  /** Where the body is no JSON. */
  position?: JsonPosition | null
}

/** The body and the header fields. A JSON body is indented. */
export function MessageView({ title, message, position = null }: MessageProps) {
  const fields = Object.entries(message.headers)
  return (
    <Part title={title}>
      <Body title={title} message={message} position={position} />
      {position !== null && (
        <p>
          <bdi>{position.says}</bdi>
        </p>
      )}
      {fields.length > 0 && (
        <details>
          <summary>{formatCount(fields.length, 'header')}</summary>
          <Pairs entries={fields.map(([name, value]) => [name, <code key={name}>{value}</code>])} />
        </details>
      )}
    </Part>
  )
}

function Body({ title, message: { body, body_size, truncated }, position }: Required<MessageProps>) {
  if (!body)
    return (
      <p class="soft">{body_size > 0 ? `A body of ${formatCount(body_size, 'byte')} was not read.` : 'No body.'}</p>
    )
  const value = position === null ? parseJson(body) : undefined
  const text = value === undefined ? body : formatJson(value)
  const notes = [
    formatCount(body_size, 'byte'),
    truncated && 'the journal keeps only the beginning',
    body.includes('\u{FFFD}') && 'bytes that are not UTF-8 are shown as \u{FFFD}',
  ]
  const shown = text.length > LONGEST_BODY ? `${text.slice(0, LONGEST_BODY)}…` : text
  return (
    <>
      <Copyable text={text} label={`Copy the body of ${title.toLowerCase()}`}>
        {position === null ? shown : <MarkedText text={shown} position={position} />}
      </Copyable>
      <p class="soft">{notes.filter(Boolean).join('; ')}</p>
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
