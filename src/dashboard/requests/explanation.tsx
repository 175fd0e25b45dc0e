import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { call } from '../client.ts'
import { Button, Copyable, CopyButton } from '../controls/button.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { Pairs, Part } from '../controls/marks.tsx'
import { showNote } from '../controls/notices.tsx'
import { isOffered, PLAYS_SERVICE } from '../facts.ts'
import { formatCount, formatDuration, formatInstant, formatJson, formatNumber, parseJson } from '../formatting.ts'
import { refreshShown } from '../resource.ts'
import type { Explanation, JournalEntry, Message, RequestProblem } from '../responses.ts'
import { Changes } from './changes.tsx'
import { targetOf } from './listed-request.ts'
import { NextFault } from './next-fault.tsx'

const WAYS = ['curl', 'vitest', 'pytest'] as const

/** How many characters of a body are shown at first. Browsers lay out longer texts slowly. */
const LONGEST_BODY = 20_000

export function ExplanationView({ explanation, gone }: { explanation: Explanation; gone: boolean }) {
  const { summary, rules, assumptions, problems, fault, failure, correction, exchange } = explanation
  return (
    <>
      <p class="summary">{summary}</p>
      <RewindButton exchange={exchange} gone={gone} />
      {correction !== null && (
        <Part title="A request that the service accepts now">
          <Bullets items={correction.changes} />
          {[...correction.before, correction.curl].map((command) => (
            <Copyable key={command} text={command} label="Copy the command" />
          ))}
        </Part>
      )}
      {/* A proxy cannot know the changes in the other service. */}
      {PLAYS_SERVICE && <Changes explanation={explanation} />}
      <ListPart title="Problems; the response reports the first one" items={problems.map(describeProblem)} />
      <TextPart title="The fault" text={fault && formatJson(fault)} />
      <TextPart title="Internal error" text={failure} />
      <TextPart
        title={PLAYS_SERVICE ? 'Where the response violates the contract' : 'What is wrong in this exchange'}
        text={exchange.violations.length > 0 ? formatJson(exchange.violations) : null}
      />
      <Reproduction explanation={explanation} />
      <NextFault exchange={exchange} />
      <Part title="Circumstances">
        <Pairs entries={circumstancesOf(explanation)} />
      </Part>
      <MessageView title="The request" message={exchange.request} />
      <MessageView title="The response" message={exchange.response} />
      <ListPart title="Rules of the specification" items={rules.map(({ id, says }) => nameAndText(id, says))} />
      <ListPart title="Assumptions" items={assumptions.map(({ id, spec }) => nameAndText(id, spec))} />
    </>
  )
}

function TextPart({ title, text }: { title: string; text: string | null }) {
  if (text === null) return null
  return (
    <Part title={title}>
      <pre>{text}</pre>
    </Part>
  )
}

function ListPart({ title, items }: { title: string; items: readonly ComponentChildren[] }) {
  if (items.length === 0) return null
  return (
    <Part title={title}>
      <Bullets items={items} />
    </Part>
  )
}

function Bullets({ items }: { items: readonly ComponentChildren[] }) {
  if (items.length === 0) return null
  return (
    <ul class="stack list">
      {items.map((item) => (
        <li>{item}</li>
      ))}
    </ul>
  )
}

function nameAndText(name: string, text: string) {
  return (
    <>
      <code>{name}</code> {text}
    </>
  )
}

function circumstancesOf(explanation: Explanation): [name: string, value: ComponentChildren][] {
  const { request_id, operation, account, clock, quota, documented, exchange } = explanation
  const basis = documented ? 'documented' : 'assumed; the specification does not say it'
  const path = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A long text scrolls, which the keyboard must be able to do.
    <bdi class="mono long-text" tabIndex={0}>
      {targetOf(exchange)}
    </bdi>
  )
  return [
    ['Path', path],
    ['Request id', <span class="mono">{request_id}</span>],
    ['Operation', operation],
    ['Account', account ?? 'none: no valid key'],
    ['Key', exchange.key],
    ['Clock', formatInstant(clock)],
    ['Quota', quota && `${quota.remaining} of ${quota.limit} left, until ${formatInstant(quota.resets_at)}`],
    ['Duration', formatDuration(exchange.duration_ms)],
    ['Basis', exchange.injected ? 'injected; it does not show how the service behaves' : basis],
  ]
}

function describeProblem({ code, field, message, received }: RequestProblem): ComponentChildren {
  return (
    <>
      <strong>{code}</strong>
      {field !== null && <code> {field}</code>} <bdi>{message}</bdi>
      {received !== null && (
        <div class="soft">
          Received <code>{typeof received === 'string' ? received : JSON.stringify(received)}</code>
        </div>
      )}
    </>
  )
}

function Reproduction({ explanation }: { explanation: Explanation }) {
  const [way, setWay] = useState<(typeof WAYS)[number]>('curl')
  const { reproduction, reproduction_note: note } = explanation
  return (
    <Part title="Send it again">
      {reproduction === null ? null : (
        <>
          <div class="row no-print">
            {WAYS.map((name) => (
              <Button key={name} words={name} aria-pressed={name === way} work={() => setWay(name)} />
            ))}
          </div>
          <Copyable key={way} id="reproduction" text={reproduction[way]} label={`Copy as ${way}`} />
        </>
      )}
      {note !== null && <p class="soft">{note}</p>}
    </Part>
  )
}

/** The header fields and the body. A JSON body is indented, and a button shows the original text. */
function MessageView({ title, message }: { title: string; message: Message }) {
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
  const value = parseJson(body)
  const pretty = value === undefined ? body : formatJson(value)
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
          <Button words={`Show all ${formatNumber(text.length)} characters`} work={() => setWhole(true)} />
        </div>
      )}
    </>
  )
}

/** How many characters of the path and query are in the confirmation. */
const LONGEST_TARGET = 200

function RewindButton({ exchange, gone }: { exchange: JournalEntry; gone: boolean }) {
  const { account } = exchange
  if (account === null || gone || !isOffered('rewindAccount')) return null
  return (
    <div class="row no-print">
      <Button
        words="Rewind to here…"
        work={() => rewind(account, exchange)}
        title="Return the account to how it was just before this request"
      />
    </div>
  )
}

/** Asks for confirmation, and restores the account to its state just before a request. */
export async function rewind(account: string, exchange: JournalEntry): Promise<void> {
  const { method, at, request_id } = exchange
  const line = `${method} ${targetOf(exchange).slice(0, LONGEST_TARGET)}`
  const isSure = await confirmed(
    'Rewind to this request?',
    `The account ${account} returns to how it was just before ${line} at ${formatInstant(at)}: domains, groups, keys, clock, quotas and fault rules. Everything that was changed since then is lost: by this request and by later ones, also an import or a restored snapshot. The journal, the coverage and the snapshots stay, so you can rewind again, to an earlier or a later request.`,
    'Rewind',
  )
  if (!isSure) return
  await call('rewindAccount', { parameters: { account }, body: { request_id } })
  await refreshShown()
  showNote(`The account ${account} is as it was just before ${line}.`)
}
