import type { ComponentChildren } from 'preact'
import { call } from '../client.ts'
import { createSource, type Loaded as LoadedData, refreshShown } from '../data.ts'
import { isOffered, PLAYS_SERVICE } from '../facts.ts'
import { formatCount, formatNumber } from '../formatting.ts'
import { connection } from '../live.ts'
import { hrefOf, Link, openView } from '../place.tsx'
import type { Verdict } from '../responses.ts'
import { Button } from '../ui/button.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Badge, Pairs, Part, Prose, type Tone } from '../ui/marks.tsx'
import { showNote } from '../ui/notices.tsx'

/** The subject of the verdict. A proxy does not know accounts. */
const SCOPE = PLAYS_SERVICE ? 'all accounts' : 'all clients'

/** Whether the clients of all accounts complied with the contract. */
const verdict = createSource({ after: 'requests', isShared: true }, () => call('getVerdict'))

/** The verdict for display. It is green only while the server confirms it. */
function show({ data, failure }: LoadedData<Verdict>): { tone: Tone; words: string } {
  const isCurrent = connection.value !== 'lost' && failure === undefined
  return data === undefined || !isCurrent ? { tone: '', words: 'verdict unknown' } : describe(data)
}

function describe(report: Verdict): { tone: Tone; words: string } {
  const { passed, requests, judged, service } = report
  const { count } = report.violations
  const findings = service?.findings ?? 0
  const wrong = [
    ...(count > 0 ? [formatCount(count, 'violation')] : []),
    ...(findings > 0 ? [`${formatCount(findings, 'finding')} against the service`] : []),
  ]
  // The options of a proxy say which mistakes count, so the server decides, and the page only words it.
  if (passed && wrong.length > 0) return { tone: 'warn', words: `${wrong.join(', ')}; not counted` }
  if (passed) return { tone: 'good', words: 'kept the contract' }
  if (wrong.length > 0) return { tone: 'bad', words: wrong.join(', ') }
  // Nothing was found wrong, but something was not checked.
  if (requests === 0) return { tone: '', words: 'no request yet' }
  return { tone: '', words: judged === 0 ? 'nothing checked yet' : 'not everything is checked' }
}

/** The verdict in the header of every view, which leads to what is behind it. */
export function VerdictPill() {
  const { tone, words } = show(verdict.use())
  const text = `A${SCOPE.slice(1)}: ${words}`
  return (
    <>
      <a
        href={hrefOf({ view: 'verdict' })}
        title={text}
        class={`pill dot ${tone} ${tone === '' ? 'hollow' : ''}`}
        aria-current={openView.value === 'verdict' ? 'page' : undefined}
      >
        {text}
      </a>
      <span class="unseen" role="status">
        {tone === 'bad' && 'The contract was violated.'}
      </span>
    </>
  )
}

export function VerdictView() {
  const loaded = verdict.use()
  const { tone, words } = show(loaded)
  return (
    <div class="card stack">
      <h2>Verdict of {SCOPE}</h2>
      <Loaded of={loaded} what="the verdict">
        {(report) => (
          <>
            <p class={`refusal ${tone}`}>
              <strong>{words[0]?.toUpperCase() + words.slice(1)}.</strong> <Prose text={report.message} />
            </p>
            <Counts report={report} />
            <Violations report={report} />
            <Findings report={report} />
            <Politeness report={report} />
          </>
        )}
      </Loaded>
      <Part title="Start the verdict again">
        <p class="soft">
          The verdict counts the requests of {SCOPE} since the program was started or the verdict was started again.
          {PLAYS_SERVICE && ' The reset or the deletion of an account does not change it.'}
        </p>
        {isOffered('clearVerdict') && (
          <div class="row">
            <Button words="Start the verdict again…" kind="danger" work={startAgain} />
          </div>
        )}
      </Part>
    </div>
  )
}

async function startAgain(): Promise<void> {
  const text =
    `The counts and the list of violations of ${SCOPE} are lost, also for other people who use this server. ` +
    'The requests stay in the journal.'
  if (!(await confirmed('Start the verdict again?', text, 'Start again'))) return
  await call('clearVerdict')
  await refreshShown()
  showNote('The verdict starts again.')
}

function Counts({ report: { requests, judged, injected, violations, service } }: { report: Verdict }) {
  const codes = Object.entries(violations.by_code).map(([code, count]) => `${code} ${formatNumber(count)}`)
  return (
    <Pairs
      entries={[
        ['Requests', formatNumber(requests)],
        ['Checked against the contract', formatNumber(judged)],
        ['Answered by a fault rule, not by the service', injected > 0 && formatNumber(injected)],
        ['Violations', formatNumber(violations.count)],
        ['Violations by code', codes.length > 0 && codes.join(', ')],
        ['Passed on to the service', service && formatNumber(service.exchanges)],
        ['Not judged', service && formatNumber(service.not_judged)],
        ['Findings against the service', service && formatNumber(service.findings)],
      ]}
    />
  )
}

function Violations({ report: { violations } }: { report: Verdict }) {
  if (violations.count === 0) return null
  const { first, count } = violations
  return (
    <Part
      title={
        count > first.length
          ? `The first ${formatNumber(first.length)} of ${formatCount(count, 'violation')}`
          : 'Violations'
      }
    >
      <ul class="ruled">
        {first.map(({ id, account, method, path, status, code, message }) => (
          <Wrong key={id} about={`${method} ${path}`} request={id}>
            {code !== null && <Badge tone="bad">{`${status ?? ''} ${code}`}</Badge>}{' '}
            {account !== null && <Badge>{account}</Badge>}
            <p class="soft">
              <Prose text={message} />
            </p>
          </Wrong>
        ))}
      </ul>
    </Part>
  )
}

function Findings({ report: { service } }: { report: Verdict }) {
  if (service === undefined || service.findings === 0) return null
  return (
    <Part title="What the service did wrong">
      <ul class="ruled">
        {service.first.map(({ id, label, request_id, method, path, status, message }) => (
          <Wrong key={id} about={`${method} ${path}`} request={request_id}>
            <Badge tone="bad">{label}</Badge> {status !== null && <Badge>{status}</Badge>}
            <p class="soft">
              <Prose text={message} />
            </p>
          </Wrong>
        ))}
      </ul>
    </Part>
  )
}

function Wrong({ about, request, children }: { about: string; request: string | null; children: ComponentChildren }) {
  return (
    <li class="row">
      <div class="grow">
        <span class="mono">{about}</span> {children}
      </div>
      {request !== null && (
        <Link class="button small" view="requests" subject={request} label={`Open the request ${about}`}>
          Open
        </Link>
      )}
    </li>
  )
}

function Politeness({ report: { politeness } }: { report: Verdict }) {
  if (politeness.length === 0) return null
  return (
    <Part title="Politeness">
      <p class="soft">The service asks its clients to avoid this. It does not change the verdict.</p>
      <ul class="ruled">
        {politeness.map(({ kind, message, request_ids }) => (
          <li key={kind} class="stack">
            <p>
              <Badge tone="warn">{kind}</Badge> <Prose text={message} />
            </p>
            <div class="row">
              {request_ids.map((id, index) => (
                <Link key={id} class="button small" view="requests" subject={id} label={`Request ${index + 1}, ${id}`}>
                  Request {index + 1}
                </Link>
              ))}
            </div>
          </li>
        ))}
      </ul>
    </Part>
  )
}
