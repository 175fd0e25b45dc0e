import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../client.ts'
import { refreshShown } from '../data.ts'
import { isOffered, PLAYS_SERVICE } from '../facts.ts'
import { formatCount, formatDuration, formatInstant, formatJson, formatNumber } from '../formatting.ts'
import { DEFAULT_ACCOUNT, hrefOf } from '../place.tsx'
import type { Explanation, JournalEntry, RequestProblem } from '../responses.ts'
import { Button, Copyable, CopyButton } from '../ui/button.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { Pairs, Part, Prose } from '../ui/marks.tsx'
import { showNote } from '../ui/notices.tsx'
import { Changes } from './changes.tsx'
import { CorrectionView } from './correction.tsx'
import { targetOf } from './marks.tsx'
import { MessageView } from './message.tsx'
import { NextFault } from './next-fault.tsx'

const WAYS = ['curl', 'vitest'] as const

export function ExplanationView({ explanation }: { explanation: Explanation }) {
  const { summary, assumptions, problems, position, fault, failure, exchange } = explanation
  return (
    <>
      <p class="summary">
        <Prose text={summary} />
      </p>
      <div class="row">
        <RewindButton exchange={exchange} />
        <CopyButton
          words="Copy the address"
          text={addressOf(explanation)}
          shown={() => document.getElementById(ADDRESS)}
        />
      </div>
      <div class="columns">
        <MessageView
          title="The request"
          message={exchange.request}
          position={position}
          isTold={position !== null && summary.includes(position.says)}
        />
        <MessageView title="The response" message={exchange.response} />
      </div>
      <CorrectionView explanation={explanation} />
      <ListPart title="Problems; the response reports the first one" items={problems.map(describeProblem)} />
      <Rules explanation={explanation} />
      <TextPart title="The fault" text={fault && formatJson(fault)} />
      <TextPart title="Internal error" text={failure} />
      <TextPart
        title={PLAYS_SERVICE ? 'Where the response violates the contract' : 'What is wrong in this exchange'}
        text={exchange.violations.length > 0 ? formatJson(exchange.violations) : null}
      />
      {/* A proxy cannot know the changes in the other service. */}
      {PLAYS_SERVICE && <Changes explanation={explanation} />}
      <Reproduction explanation={explanation} />
      <NextFault exchange={exchange} />
      <Part title="Circumstances">
        <Pairs entries={circumstancesOf(explanation)} />
      </Part>
      <ListPart
        title="Assumed, because the specification does not say it"
        items={assumptions.map(({ id, spec }) => nameAndText(id, spec))}
      />
    </>
  )
}

/** Where the address stands, for a browser that does not let the page copy it. */
const ADDRESS = 'request-address'

function addressOf({ id, account }: Explanation): string {
  const query: Record<string, string> = account === null ? { whose: 'none' } : {}
  const place = { account: account ?? DEFAULT_ACCOUNT, view: 'requests', subject: id, query } as const
  return new URL(hrefOf(place), location.href).href
}

/** What the specification says about the response, and which of it is assumed. */
function Rules({ explanation: { rules, assumptions, documented, exchange } }: { explanation: Explanation }) {
  if (!PLAYS_SERVICE || exchange.injected || exchange.status === null) return null
  const assumed = `${formatCount(assumptions.length, 'point')} of this response ${assumptions.length === 1 ? 'is' : 'are'} assumed; see the end of the details.`
  return (
    <Part title="Rules of the specification">
      {rules.length > 0 && <Bullets items={rules.map(({ id, says }) => nameAndText(id, says))} />}
      {documented && rules.length === 0 && <p class="soft">The specification shows this response.</p>}
      {assumptions.length > 0 && <p class="soft">{assumed}</p>}
    </Part>
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
      <code>{name}</code> <Prose text={text} />
    </>
  )
}

function circumstancesOf(explanation: Explanation): [name: string, value: ComponentChildren][] {
  const { request_id, operation, account, clock, quota, exchange } = explanation
  const path = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A long text scrolls, which the keyboard must be able to do.
    <bdi class="mono long-text" tabIndex={0}>
      {targetOf(exchange)}
    </bdi>
  )
  return [
    ['Path', path],
    ['Request id', <span class="mono">{request_id}</span>],
    [
      'Address',
      <bdi id={ADDRESS} class="mono">
        {addressOf(explanation)}
      </bdi>,
    ],
    ['Operation', operation],
    ['Account', account ?? 'none: no valid key'],
    ['Key', exchange.key],
    ['Clock', formatInstant(clock)],
    ['Quota', quota && describeQuota(quota)],
    ['Duration', formatDuration(exchange.duration_ms)],
    ['Injected', exchange.injected && 'The response does not show how the service behaves.'],
  ]
}

function describeQuota({ remaining, limit, resets_at }: NonNullable<Explanation['quota']>): string {
  return `${formatNumber(remaining)} of ${formatNumber(limit)} left, until ${formatInstant(resets_at)}`
}

function describeProblem({ code, field, message, received }: RequestProblem): ComponentChildren {
  return (
    <>
      <strong>{code}</strong>
      {field !== null && field !== '' && <code> {field}</code>} <Prose text={message} />
      {received !== null && (
        <div class="soft">
          Received <code>{received}</code>
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
          <div class="row">
            {WAYS.map((name) => (
              <Button key={name} words={name} aria-pressed={name === way} work={() => setWay(name)} />
            ))}
          </div>
          <Copyable key={way} text={reproduction[way]} label={`Copy as ${way}`} />
        </>
      )}
      {note !== null && <p class="soft">{note}</p>}
    </Part>
  )
}

/** How many characters of the path and query are in the confirmation. */
const LONGEST_TARGET = 200

function RewindButton({ exchange }: { exchange: JournalEntry }) {
  const { account } = exchange
  if (account === null || !isOffered('rewindAccount')) return null
  return (
    <Button
      words="Rewind to here…"
      work={() => rewind(account, exchange)}
      title="Return the account to how it was just before this request"
    />
  )
}

/** Asks for confirmation, and restores the account to its state just before a request. */
async function rewind(account: string, exchange: JournalEntry): Promise<void> {
  const { method, at, id } = exchange
  const line = `${method} ${targetOf(exchange).slice(0, LONGEST_TARGET)}`
  const isSure = await confirmed(
    'Rewind to this request?',
    `The account ${account} returns to how it was just before ${line} at ${formatInstant(at)}: domains, groups, keys, clock, quotas and fault rules. Everything that was changed since then is lost: by this request and by later ones, also an import or a restored snapshot. The journal, the coverage and the snapshots stay, so you can rewind again, to an earlier or a later request.`,
    'Rewind',
  )
  if (!isSure) return
  await call('rewindAccount', { parameters: { account }, body: { request_id: id } })
  await refreshShown()
  showNote(`The account ${account} is as it was just before ${line}.`)
}
