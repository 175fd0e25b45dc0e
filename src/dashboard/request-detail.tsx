import type { ComponentChildren } from 'preact'
import { call } from './control.ts'
import { change, createSource } from './data.ts'
import { Changes, CorrectionView, MessageView } from './explanation.tsx'
import { PLAYS_SERVICE } from './facts.ts'
import { formatDuration, formatInstant, formatJson, formatNumber } from './formatting.ts'
import { hrefOf, Link, subject } from './place.tsx'
import type { Schemas } from './responses.ts'
import { Badge, Button, Copyable, Pairs, Part, Prose, showNote } from './ui/elements.tsx'
import { confirmed } from './ui/forms.tsx'
import { Detail } from './ui/lists.tsx'
import { Loaded } from './ui/loaded.tsx'

type Explanation = Schemas['Explanation']
type JournalEntry = Schemas['JournalEntry']

/** How many characters of the path and query are in the title. The details show all of it. */
const LONGEST_TITLE = 160

const explanations = createSource((_, id: string) => call('explainRequest', { parameters: { 'request-id': id } }), {
  ...{ isShared: true, isStill: true },
})

export function RequestDetail({ requestId, list }: { requestId: string; list: readonly JournalEntry[] }) {
  const loaded = explanations.use(requestId)
  const index = list.findIndex(({ id, request_id }) => id === requestId || request_id === requestId)
  const newer = index < 0 ? undefined : list[index - 1]?.id
  const older = index < 0 ? undefined : list[index + 1]?.id
  return (
    <Detail
      title={loaded.data === undefined ? 'Request' : titleOf(loaded.data.exchange)}
      beside={
        <>
          <Step words="↑ Newer" to={newer} />
          <Step words="↓ Older" to={older} />
        </>
      }
    >
      <Loaded of={loaded} what="the explanation">
        {(explanation) => <Content key={requestId} explanation={explanation} />}
      </Loaded>
    </Detail>
  )
}

function titleOf(exchange: JournalEntry): string {
  const title = `${exchange.method} ${targetOf(exchange)}`.trim() || 'A request that was not HTTP'
  return title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE)}…` : title
}

export function targetOf({ path, query }: Pick<JournalEntry, 'path' | 'query'>): string {
  return query === '' ? path : `${path}?${query}`
}

function Step({ words, to }: { words: string; to: string | undefined }) {
  return (
    <a class="button" href={hrefOf({ subject: to ?? subject.value })} aria-disabled={to === undefined}>
      {words}
    </a>
  )
}

export function StatusBadge({ status }: Pick<JournalEntry, 'status'>) {
  if (status === null) return <Badge tone="odd">no response</Badge>
  return <Badge tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{status}</Badge>
}

export function RequestMarks({ request }: { request: JournalEntry }) {
  const { violates_contract, violations, injected, fault } = request
  return (
    <>
      {violates_contract && (
        <Badge tone="bad" title="The contract forbids this request in every state. The verdict counts it.">
          violates the contract
        </Badge>
      )}
      {violations.some(({ by }) => by !== 'client') && <Badge tone="bad">response violates the contract</Badge>}
      {(injected || fault !== null) && (
        <Badge tone="odd" title={fault?.effect ?? 'The response does not show how the service behaves.'}>
          {injected ? 'injected' : 'fault'}
        </Badge>
      )}
    </>
  )
}

function Content({ explanation }: { explanation: Explanation }) {
  const { summary, assumptions, problems, position, fault, failure, exchange, rules, documented } = explanation
  const isOwn = PLAYS_SERVICE && !exchange.injected && exchange.status !== null
  const assumed = assumptions.map(({ id, spec }) => [<code key="id">{id}</code>, ' ', <Prose key="spec" text={spec} />])
  return (
    <>
      <div class="row">
        <StatusBadge status={exchange.status} />
        {exchange.code !== null && <code>{exchange.code}</code>}
        <RequestMarks request={exchange} />
      </div>
      <p>
        <Prose text={summary} />
      </p>
      <Deeds exchange={exchange} />
      <div class="columns">
        <MessageView title="The request" message={exchange.request} position={position} />
        <MessageView title="The response" message={exchange.response} />
      </div>
      <CorrectionView explanation={explanation} />
      <ListPart title="Problems; the response reports the first one" items={problems.map(describeProblem)} />
      {isOwn && (
        <ListPart
          title="Rules of the specification"
          items={[
            ...rules.map(({ id, says }) => [<code key="id">{id}</code>, ' ', <Prose key="says" text={says} />]),
            ...(documented && rules.length === 0 ? ['The specification shows this response.'] : []),
          ]}
        />
      )}
      <TextPart title="The fault" text={fault && formatJson(fault)} />
      <TextPart title="Internal error" text={failure} />
      <TextPart
        title={PLAYS_SERVICE ? 'Where the response violates the contract' : 'What is wrong in this exchange'}
        text={exchange.violations.length > 0 ? formatJson(exchange.violations) : null}
      />
      {/* A proxy cannot know the changes in the other service. */}
      {PLAYS_SERVICE && <Changes explanation={explanation} />}
      <Reproduction explanation={explanation} />
      <Part title="Circumstances">
        <Pairs entries={circumstancesOf(explanation)} />
      </Part>
      <ListPart title="Assumed, because the specification does not say it" items={assumed} />
    </>
  )
}

/** The ways from a request to the account before it, and to one that fails. */
function Deeds({ exchange }: { exchange: JournalEntry }) {
  const { account, operation } = exchange
  if (account === null || !PLAYS_SERVICE) return null
  return (
    <div class="row deeds">
      <Button words="Rewind to here…" work={() => rewind(account, exchange)} />
      {operation !== null && (
        <Link class="button" account={account} view="faults" query={{ operation }}>
          Let the next such request fail…
        </Link>
      )}
    </div>
  )
}

async function rewind(account: string, exchange: JournalEntry): Promise<void> {
  const { id, at } = exchange
  const line = titleOf(exchange)
  const text = `The account ${account} returns to how it was just before ${line} at ${formatInstant(at)}: domains, groups, keys, clock, quotas and fault rules. Everything that was changed since then is lost: by this request and by later ones, also an import or a restored snapshot. The journal, the coverage and the snapshots stay, so you can rewind again, to an earlier or a later request.`
  if (!(await confirmed('Rewind to this request?', text, 'Rewind'))) return
  await change('rewindAccount', { account }, { request_id: id })
  showNote(`The account ${account} is as it was just before ${line}.`)
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
      <ul class="quotes stack">
        {items.map((item) => (
          <li>{item}</li>
        ))}
      </ul>
    </Part>
  )
}

function describeProblem({ code, field, message, received }: Explanation['problems'][number]): ComponentChildren {
  return (
    <>
      <strong>{code}</strong>
      {field && <code> {field}</code>} <Prose text={message} />
      {received !== null && (
        <div class="soft">
          Received <code>{received}</code>
        </div>
      )}
    </>
  )
}

function Reproduction({ explanation: { reproduction, reproduction_note: note } }: { explanation: Explanation }) {
  return (
    <Part title="Send it again">
      {reproduction !== null && (
        <>
          <Copyable text={reproduction.curl} label="Copy as curl" />
          <details>
            <summary>As a test</summary>
            <Copyable text={reproduction.vitest} label="Copy as vitest" />
          </details>
        </>
      )}
      {note !== null && <p class="soft">{note}</p>}
    </Part>
  )
}

function circumstancesOf({ request_id, operation, account, clock, quota, exchange }: Explanation) {
  const left = quota && `${formatNumber(quota.remaining)} of ${formatNumber(quota.limit)} left`
  return [
    ['Path', <code key="path">{targetOf(exchange)}</code>],
    ['Request id', <code key="id">{request_id}</code>],
    ['Operation', operation],
    ['Account', account ?? 'none: no valid key'],
    ['Key', exchange.key],
    ['Clock', formatInstant(clock)],
    ['Quota', quota && `${left}, until ${formatInstant(quota.resets_at)}`],
    ['Duration', formatDuration(exchange.duration_ms)],
    ['Injected', exchange.injected && 'The response does not show how the service behaves.'],
  ] as const
}
