import { structuredPatch } from 'diff'
import { formatCount, formatJson, formatNumber, parseJson } from './formatting.ts'
import type { Schemas } from './responses.ts'
import { Badge, Copyable, Pairs, Part, Prose } from './ui/elements.tsx'

export function Changes({ explanation }: { explanation: Schemas['Explanation'] }) {
  const { changes, changes_count: count, changes_note: note, account } = explanation
  if (account === null) return null
  if (changes?.length === 0) return <p class="soft">This request changed nothing in the account.</p>
  const hidden = (count ?? 0) - (changes?.length ?? 0)
  return (
    <Part title="What this request changed in the account">
      {note !== null && <p class="soft">{note}</p>}
      <ul class="quotes stack">
        {changes?.map((change) => (
          <li key={`${change.what} ${change.name}`}>
            <ChangeLine change={change} />
          </li>
        ))}
      </ul>
      {hidden > 0 && <p class="soft">{formatCount(hidden, 'more change')}.</p>}
    </Part>
  )
}

function ChangeLine({ change: { what, name, before, after, members } }: { change: Schemas['Change'] }) {
  const isChanged = before !== null && after !== null
  const tone = isChanged ? 'warn' : before === null ? 'good' : 'bad'
  const fields = Object.keys({ ...before, ...after }).flatMap((field) => {
    const [old, fresh] = [show(before, field), show(after, field)]
    // The name of an added or removed item is shown already.
    return old === fresh || (field === 'name' && !isChanged) ? [] : [[field, old, fresh] as const]
  })
  return (
    <>
      <Badge tone={tone}>{{ warn: '~ changed', good: '+ added', bad: '− removed' }[tone]}</Badge>{' '}
      <span class="soft">{what}</span> <bdi class="mono">{name}</bdi>
      <Pairs
        entries={fields.map(([field, old, fresh]) => [
          field,
          <>
            {before !== null && <del>{old}</del>}
            {isChanged && ' → '}
            {after !== null && <ins>{fresh}</ins>}
          </>,
        ])}
      />
      {members !== null && (
        <>
          <Names sign="+" names={members.added} count={members.added_count} />
          <Names sign="−" names={members.removed} count={members.removed_count} />
        </>
      )}
    </>
  )
}

function Names({ sign, names, count }: { sign: '+' | '−'; names: readonly string[]; count: number }) {
  if (count === 0) return null
  const more = count - names.length
  return (
    <p>
      <span class="soft">
        {sign} {formatCount(count, 'member')}:
      </span>{' '}
      <bdi class="mono">{names.join(', ')}</bdi>
      {more > 0 && ` and ${formatNumber(more)} more`}
    </p>
  )
}

function show(item: object | null, field: string): string {
  const value: unknown = new Map(Object.entries(item ?? {})).get(field)
  if (value === undefined) return 'nothing'
  if (typeof value === 'number') return formatNumber(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** How many equal lines are shown beside a difference. */
const BESIDE = 3
/** After this many changed lines, everything counts as changed. */
const MOST_CHANGES = 2_000

type Explanation = Schemas['Explanation']

/** The accepted request that is nearest to the sent one: what has to change, the difference, and the command. */
export function CorrectionView({ explanation: { correction, exchange } }: { explanation: Explanation }) {
  if (correction === null) return null
  const { changes, before, curl, request } = correction
  const { method, path, query } = exchange
  const { body, body_size, truncated } = exchange.request
  // A text that is no JSON has no lines of its own to compare with.
  const isJson = [body, request.body].every((text) => !text || parseJson(text) !== undefined)
  const write = (line: string, text: string | null) =>
    `${line}\n${text && isJson ? formatJson(parseJson(text)) : (text ?? '')}`.trimEnd()
  const sent = write(`${method} ${query === '' ? path : `${path}?${query}`}`, body)
  return (
    <Part title="A request that the service accepts now">
      <ul class="quotes stack">
        {changes.map((change) => (
          <li key={change}>
            <Prose text={change} />
          </li>
        ))}
      </ul>
      <Difference sent={sent} accepted={write(`${request.method} ${request.path}`, request.body)} />
      {body === null && body_size > 0 && <p class="soft">The service did not read the body that was sent.</p>}
      {truncated && <p class="soft">The journal keeps only the beginning of the body that was sent.</p>}
      {before.length > 0 && <p>First:</p>}
      {before.map((command) => (
        <Copyable key={command} text={command} label="Copy the command that comes first" />
      ))}
      {before.length > 0 && <p>Then:</p>}
      <Copyable text={curl} label="Copy the command" />
    </Part>
  )
}

/** The lines that differ, with those beside them: first what was sent, and then what is accepted. */
function Difference({ sent, accepted }: { sent: string; accepted: string }) {
  const options = { context: BESIDE, maxEditLength: MOST_CHANGES }
  const whole = [...sent.split('\n').map((line) => `-${line}`), ...accepted.split('\n').map((line) => `+${line}`)]
  const hunks = structuredPatch('', '', sent, accepted, '', '', options)?.hunks ?? [{ lines: whole }]
  if (hunks.length === 0) return <p class="soft">The method, the path and the body stay as they were sent.</p>
  return (
    <>
      <p class="soft" aria-hidden="true">
        <del>− Sent</del> <ins>+ Accepted</ins>
      </p>
      <ol class="difference mono" aria-label="What was sent, and what is accepted">
        {hunks.flatMap(({ lines }, index) => [
          ...(index > 0 ? [<li key={index}>…</li>] : []),
          ...lines
            .filter((line) => !line.startsWith('\\'))
            .map((line, place) => <Line key={`${index} ${place}`} line={line} />),
        ])}
      </ol>
    </>
  )
}

function Line({ line }: { line: string }) {
  const text = line.slice(1)
  if (line.startsWith(' ')) return <li>{`  ${text}`}</li>
  const [Mark, sign, word] = line.startsWith('-')
    ? (['del', '−', 'Sent'] as const)
    : (['ins', '+', 'Accepted'] as const)
  return (
    <li>
      <Mark>
        <span aria-hidden="true">{sign} </span>
        <span class="unseen">{word}: </span>
        <bdi>{text}</bdi>
      </Mark>
    </li>
  )
}

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
