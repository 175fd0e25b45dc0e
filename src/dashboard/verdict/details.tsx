import type { ComponentChildren } from 'preact'
import { Button } from '../controls/button.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { Badge, Pairs } from '../controls/marks.tsx'
import { ErrorText, showNote } from '../controls/notices.tsx'
import { isOffered, PLAYS_SERVICE } from '../facts.ts'
import { formatCount, formatNumber } from '../formatting.ts'
import type { Verdict } from '../responses.ts'
import { show } from '../view.ts'
import { clearVerdict, SCOPE, shownVerdict, verdict } from './verdict.ts'

/** The details of the verdict: its sentence, its counts, and the requests that decided it. */
export function VerdictDetails({ close }: { close(): void }) {
  const report = verdict.data.value
  const failure = verdict.failure.value
  const { tone, words } = shownVerdict.value
  const openRequest = (request: string) => {
    close()
    show({ tab: 'requests', request })
  }
  return (
    <>
      {failure !== undefined && (
        <p class="refusal bad" role="alert">
          <ErrorText error={failure} /> The data below is old.
        </p>
      )}
      {report !== undefined && (
        <>
          <p class={`refusal ${tone}`}>
            <strong>{words[0]?.toUpperCase() + words.slice(1)}.</strong> {report.message}
          </p>
          <Counts report={report} />
          <Violations report={report} openRequest={openRequest} />
          <Findings report={report} openRequest={openRequest} />
          <Politeness report={report} openRequest={openRequest} />
        </>
      )}
      <section class="stack">
        <h3>Start the verdict again</h3>
        <p class="soft">
          The verdict counts the requests of {SCOPE} since the program was started or the verdict was started again.
          {PLAYS_SERVICE && ' The reset or the deletion of an account does not change it.'}
        </p>
        {isOffered('clearVerdict') && (
          <div class="row">
            <Button id="verdict-clear" kind="danger" work={startAgain}>
              Start the verdict again…
            </Button>
          </div>
        )}
      </section>
    </>
  )
}

async function startAgain(): Promise<void> {
  const text =
    `The counts and the list of violations of ${SCOPE} are lost, also for other people who use this server. ` +
    'The requests stay in the journal.'
  if (!(await confirmed('Start the verdict again?', text, 'Start again'))) return
  await clearVerdict()
  showNote('The verdict starts again.')
}

interface PartProps {
  report: Verdict
  openRequest(id: string): void
}

function Counts({ report: { requests, judged, injected, violations, service } }: Pick<PartProps, 'report'>) {
  const codes = Object.entries(violations.by_code).map(([code, count]) => `${code} ${formatNumber(count)}`)
  return (
    <Pairs
      entries={[
        ['Requests', formatNumber(requests)],
        ['Checked against the contract', formatNumber(judged)],
        ['Answered by a fault', injected > 0 && formatNumber(injected)],
        ['Violations', formatNumber(violations.count)],
        ['Violations by code', codes.length > 0 && codes.join(', ')],
        ['Passed on to the service', service && formatNumber(service.exchanges)],
        ['Not judged', service && formatNumber(service.not_judged)],
        ['Findings against the service', service && formatNumber(service.findings)],
      ]}
    />
  )
}

function Violations({ report: { violations }, openRequest }: PartProps) {
  if (violations.count === 0) return null
  const { first, count } = violations
  return (
    <section class="stack">
      <h3>{count > first.length ? `The first ${first.length} of ${formatCount(count, 'violation')}` : 'Violations'}</h3>
      <ul id="violations" class="ruled">
        {first.map(({ request_id, account, method, path, status, code, message }) => (
          <Wrong key={request_id} about={`${method} ${path}`} request={request_id} openRequest={openRequest}>
            {code !== null && <Badge tone="bad">{`${status ?? ''} ${code}`}</Badge>}{' '}
            {account !== null && <Badge>{account}</Badge>}
            <p class="soft">{message}</p>
          </Wrong>
        ))}
      </ul>
    </section>
  )
}

function Findings({ report: { service }, openRequest }: PartProps) {
  if (service === undefined || service.findings === 0) return null
  return (
    <section class="stack">
      <h3>What the service did wrong</h3>
      <ul id="findings" class="ruled">
        {service.first.map(({ id, label, request_id, method, path, status, message }) => (
          <Wrong key={id} about={`${method} ${path}`} request={request_id} openRequest={openRequest}>
            <Badge tone="bad">{label}</Badge> {status !== null && <Badge>{status}</Badge>}
            <p class="soft">{message}</p>
          </Wrong>
        ))}
      </ul>
    </section>
  )
}

interface WrongProps {
  about: string
  request: string | null
  openRequest(id: string): void
  children: ComponentChildren
}

function Wrong({ about, request, openRequest, children }: WrongProps) {
  return (
    <li class="row">
      <div class="grow">
        <span class="mono">{about}</span> {children}
      </div>
      {request !== null && (
        <Button small aria-label={`Open the request ${about}`} work={() => openRequest(request)}>
          Open
        </Button>
      )}
    </li>
  )
}

function Politeness({ report: { politeness }, openRequest }: PartProps) {
  if (politeness.length === 0) return null
  return (
    <section class="stack">
      <h3>Politeness</h3>
      <p class="soft">The service asks its clients to avoid this. It does not change the verdict.</p>
      <ul id="politeness" class="ruled">
        {politeness.map(({ kind, message, request_ids }) => (
          <li key={kind} class="stack">
            <p>
              <Badge tone="warn">{kind}</Badge> {message}
            </p>
            <div class="row">
              {request_ids.map((id, index) => (
                <Button key={id} small aria-label={`Request ${index + 1}, ${id}`} work={() => openRequest(id)}>
                  {`Request ${index + 1}`}
                </Button>
              ))}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
