import type { ComponentChildren } from 'preact'
import { call } from './control.ts'
import { change, connection, createSource, type LoadedData } from './data.ts'
import { isOffered, PLAYS_SERVICE } from './facts.ts'
import { formatCount, formatNumber } from './formatting.ts'
import { Link, openView } from './place.tsx'
import type { Schemas } from './responses.ts'
import { Badge, Button, Card, Pairs, Part, Prose, showNote, type Tone } from './ui/elements.tsx'
import { confirmed } from './ui/forms.tsx'
import { Loaded } from './ui/loaded.tsx'

type Verdict = Schemas['Verdict']

/** The subject of the verdict. A proxy does not know accounts. */
const SCOPE = PLAYS_SERVICE ? 'all accounts' : 'all clients'

const verdict = createSource(() => call('getVerdict'), { isShared: true })

/** The verdict for display. It is green only while the server confirms it. */
function show({ data, failure }: LoadedData<Verdict>): { tone: Tone; words: string } {
  if (data === undefined || connection.value === 'lost' || failure !== undefined)
    return { tone: '', words: 'verdict unknown' }
  const { passed, requests, judged, service, violations } = data
  const findings = service?.findings ?? 0
  const wrong = [
    violations.count > 0 && formatCount(violations.count, 'violation'),
    findings > 0 && `${formatCount(findings, 'finding')} against the service`,
  ].filter(Boolean)
  // The options of a proxy say which mistakes count, so the server decides, and the page only words it.
  if (passed && wrong.length > 0) return { tone: 'warn', words: `${wrong.join(', ')}; not counted` }
  if (passed) return { tone: 'good', words: 'kept the contract' }
  if (wrong.length > 0) return { tone: 'bad', words: wrong.join(', ') }
  // Nothing was found wrong, but something was not checked.
  if (requests === 0) return { tone: '', words: 'no request yet' }
  return { tone: '', words: judged === 0 ? 'nothing checked yet' : 'not everything is checked' }
}

export function VerdictPill() {
  const { tone, words } = show(verdict.use())
  return (
    <>
      <Link view="verdict" class={`pill ${tone}`} current={openView.value === 'verdict' && 'page'}>
        {`A${SCOPE.slice(1)}: ${words}`}
      </Link>
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
    <Card title={`Verdict of ${SCOPE}`}>
      <Loaded of={loaded} what="the verdict">
        {(report) => (
          <>
            <p class={`refusal ${tone}`}>
              <strong>{words[0]?.toUpperCase() + words.slice(1)}.</strong> <Prose text={report.message} />
            </p>
            <Counts report={report} />
            <Mistakes report={report} />
            <Politeness report={report} />
          </>
        )}
      </Loaded>
      <p class="soft">
        The verdict counts the requests of {SCOPE} since the program was started or the verdict was started again.
        {PLAYS_SERVICE && ' The reset or the deletion of an account does not change it.'}
      </p>
      {isOffered('clearVerdict') && (
        <div class="row">
          <Button words="Start the verdict again…" kind="danger" work={startAgain} />
        </div>
      )}
    </Card>
  )
}

async function startAgain(): Promise<void> {
  const text =
    `The counts and the list of violations of ${SCOPE} are lost, also for other people who use this server. ` +
    'The requests stay in the journal.'
  if (!(await confirmed('Start the verdict again?', text, 'Start again'))) return
  await change('clearVerdict')
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

function Mistakes({ report: { violations, service } }: { report: Verdict }) {
  const { first, count } = violations
  const which = count > first.length ? `The first ${first.length} of ${formatCount(count, 'violation')}` : 'Violations'
  return (
    <>
      <WrongPart title={which}>
        {first.map((each) => (
          <Wrong key={each.id} {...each} request={each.id}>
            {each.code !== null && <Badge tone="bad">{`${each.status ?? ''} ${each.code}`}</Badge>}{' '}
            {each.account !== null && <Badge>{each.account}</Badge>}
          </Wrong>
        ))}
      </WrongPart>
      <WrongPart title="What the service did wrong">
        {(service?.first ?? []).map((each) => (
          <Wrong key={each.id} {...each} request={each.request_id}>
            <Badge tone="bad">{each.label}</Badge> {each.status !== null && <Badge>{each.status}</Badge>}
          </Wrong>
        ))}
      </WrongPart>
    </>
  )
}

function WrongPart({ title, children }: { title: string; children: readonly ComponentChildren[] }) {
  if (children.length === 0) return null
  return (
    <Part title={title}>
      <ul class="ruled">{children}</ul>
    </Part>
  )
}

interface WrongProps {
  method: string
  path: string
  message: string
  request: string | null
  children: ComponentChildren
}

function Wrong({ method, path, message, request, children }: WrongProps) {
  const about = `${method} ${path}`
  return (
    <li class="row">
      <div class="grow">
        <span class="mono">{about}</span> {children}
        <p class="soft">
          <Prose text={message} />
        </p>
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
  return (
    <WrongPart title="Politeness: what the service asks its clients to avoid. It does not change the verdict.">
      {politeness.map(({ kind, message, request_ids }) => (
        <li key={kind} class="row">
          <Badge tone="warn">{kind}</Badge> <Prose text={message} />
          {request_ids.map((id, index) => (
            <Link key={id} class="button small" view="requests" subject={id}>
              Request {index + 1}
            </Link>
          ))}
        </li>
      ))}
    </WrongPart>
  )
}
