import { Component } from 'preact'
import { summary } from '../account-data.ts'
import { chosenAccount, subject } from '../address.ts'
import { call } from '../client.ts'
import { Button, Copyable } from '../controls/button.tsx'
import { ListAndDetail } from '../controls/detail.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { SearchField, Select } from '../controls/form.tsx'
import { Link } from '../controls/link.tsx'
import { Badge } from '../controls/marks.tsx'
import { showNote } from '../controls/notices.tsx'
import { curlOf } from '../curl.ts'
import { FACTS, PLAYS_SERVICE } from '../facts.ts'
import { formatCount, formatDay, formatDuration, formatInstant } from '../formatting.ts'
import { createResource, refreshShown } from '../resource.ts'
import { targetOf } from './exchange.ts'
import {
  arrivals,
  isPaused,
  type ListedRequest,
  olderBefore,
  pause,
  reload,
  sayHowMany,
  sayNothingFound,
  shown,
  total,
} from './list.ts'
import { RequestMarks, StatusBadge } from './marks.tsx'
import { isOpen, noteOrdinal, openRequest, RequestDetail } from './request-sheet.tsx'
import {
  before,
  type Conditions,
  conditions,
  placeBefore,
  type Scope,
  scope,
  searched,
  want,
  wantAll,
  words,
} from './selection.ts'

/** How many characters of the path and query are in a row. The details show all of it. */
const LONGEST_TARGET = 300

/** The number of requests without a valid key. The stream of an account does not have them and cannot announce them. */
const keyless = createResource({
  async load() {
    const { count } = await call('listAllRequests', { query: { account: 'none', limit: 1 } })
    return count
  },
  tabs: ['requests'],
  polled: true,
  shared: true,
})

export function RequestsPanel() {
  const id = subject.value
  return (
    <ListAndDetail detail={id !== undefined && <RequestDetail requestId={id} />}>
      <h2 class="unseen">Requests</h2>
      <RequestToolbar />
      <Keyless />
      <PageOfOlder />
      {shown.value.length > 0 ? <RequestTable /> : <Nothing />}
    </ListAndDetail>
  )
}

const TOGGLES = [
  ['violation', 'Violations'],
  ['refused', 'Refused'],
  ['injected', 'Injected'],
] as const satisfies readonly (readonly [keyof Conditions, string])[]

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['account', 'This account'],
  ['none', 'No account'],
  ['all', 'All accounts'],
]

function RequestToolbar() {
  return (
    <div class="stack request-tools">
      <div class="row">
        <SearchField
          id="request-filter"
          label="Words to look for in the requests"
          placeholder="Search, such as POST 4xx"
          text={words}
          onInput={({ currentTarget }) => want({ words: currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === 'Escape') want({ words: '' })
          }}
        />
        <Select
          id="request-operation"
          aria-label="Operation"
          none="All operations"
          values={FACTS.operations.map(({ id }) => id)}
          value={conditions.value.operation}
          onChoose={(operation) => want({ operation })}
        />
        <Select
          id="request-scope"
          aria-label="Whose requests"
          values={SCOPES}
          value={scope.value}
          onChoose={(chosen) => want({ scope: chosen as Scope })}
        />
      </div>
      <div class="row">
        {TOGGLES.map(([name, title]) => (
          <Button
            key={name}
            words={title}
            aria-pressed={conditions.value[name]}
            work={() => want({ [name]: !conditions.peek()[name] })}
          />
        ))}
        <p id="request-count" class="soft grow" role="status">
          {sayHowMany()}
        </p>
        {before.value === '' && (
          <Button
            id="request-pause"
            words={isPaused.value ? 'Go on' : 'Pause'}
            aria-pressed={isPaused}
            work={() => pause(!isPaused.peek())}
          />
        )}
        {scope.value === 'account' && (
          <Button words="Clear the journal…" id="requests-clear" kind="danger" work={clearJournal} />
        )}
      </div>
    </div>
  )
}

/** Asks for confirmation, and removes the requests of the chosen account from the journal. */
async function clearJournal(): Promise<void> {
  const account = chosenAccount.peek()
  const { count } = await call('listRequests', { parameters: { account }, query: { limit: 1 } })
  const isSure = await confirmed('Clear the journal?', sayWhatIsLost(count, account), 'Clear the journal')
  if (!isSure) return
  await call('clearRequests', { parameters: { account } })
  if (account === chosenAccount.peek()) reload()
  await refreshShown()
  showNote(`${formatCount(count, 'request')} left the journal.`)
}

function sayWhatIsLost(count: number, account: string): string {
  const [leave, them] = count === 1 ? ['leaves', 'it'] : ['leave', 'them']
  const first = `${formatCount(count, 'request')} of the account ${account} ${leave} the journal, for all users.`
  if (!PLAYS_SERVICE) return `${first} The explanations are lost. The verdict and the coverage stay.`
  return `${first} The explanations, the way back to the account before ${them}, and the code that sends ${them} again are lost. The verdict and the coverage stay, and so does the account in its present state.`
}

/** Leads to requests without an account, because a request with a wrong key does not appear in any. */
function Keyless() {
  const count = keyless.data.value ?? 0
  if (scope.value !== 'account') {
    const whose =
      scope.value === 'none'
        ? 'The requests without a valid key. They belong to no account, so their times are of the clock of the server'
        : 'The requests of all accounts and of none, each at the time of its own clock'
    return <Lead text={`${whose}.`} words="Back to this account" to="account" />
  }
  if (count === 0) return null
  const [belong, them] = count === 1 ? ['belongs', 'it'] : ['belong', 'them']
  const text = `${formatCount(count, 'request')} without a valid key ${belong} to no account.`
  return <Lead text={text} words={`Show ${them}`} to="none" />
}

function Lead({ text, words: link, to }: { text: string; words: string; to: Scope }) {
  return (
    <p id="keyless" class="soft">
      {text} <Button kind="link" words={link} work={() => wantAll(to)} />
    </p>
  )
}

/** Says that the list does not have the newest requests, and leads to them. */
function PageOfOlder() {
  if (before.value === '') return null
  return (
    <p class="soft">
      Older requests, as they were loaded. <Link to={placeBefore(undefined)}>Newest requests</Link>
    </p>
  )
}

function Nothing() {
  if (total.value === undefined) {
    return <p class="empty">{searched.value.length > 0 ? 'Searching all requests…' : 'Loading the requests…'}</p>
  }
  const why = whyNothing()
  if (why !== undefined) {
    return (
      <p id="requests-empty" class="empty">
        {why}
      </p>
    )
  }
  return scope.value === 'account' ? <FirstRequest /> : <p class="empty">No requests of this kind yet.</p>
}

/** The reason why no request is shown; `undefined` if there was none yet. */
function whyNothing(): string | undefined {
  const came = arrivals.value
  const unfound = sayNothingFound()
  if (unfound !== undefined) return unfound
  if (Object.values(conditions.value).some(Boolean)) return 'No request in the journal is of this kind.'
  if (came === 0) return undefined
  const them = came === 1 ? 'it' : 'them'
  return `${formatCount(came, 'request')} came, but the journal does not have ${them}. Does the server run with --journal 0?`
}

function FirstRequest() {
  const { api_key: key = null } = summary.data.value ?? {}
  const reading = FACTS.operations.find(({ method }) => method === 'GET')
  return (
    <div id="requests-empty" class="card stack">
      <p>No requests yet. Send one; it appears here at once.</p>
      <Copyable text={curlOf(reading?.path ?? '/', key)} label="Copy the command" />
      {key === null && <p class="soft">The key of this account is secret. The command reads it from API_KEY.</p>}
    </div>
  )
}

function RequestTable() {
  const isOfAll = scope.value === 'all'
  const list = shown.value
  // The clocks of several accounts differ, so each row has its day there.
  const days = isOfAll ? undefined : dividersIn(list)
  const older = olderBefore.value
  return (
    <div class="table">
      <table id="request-table" class={isOfAll ? 'dated' : ''}>
        <thead>
          <tr>
            <th class="at">Time</th>
            <th class="method">Method</th>
            <th>Request</th>
            <th class="status">Status</th>
            <th class="code">Code</th>
            <th class="number duration">Took</th>
            <th class="marks">Marks</th>
          </tr>
        </thead>
        <tbody id="request-rows">
          {list.map((request) => [
            days?.has(request) && <DayRow key={days.get(request)} day={request.at.slice(0, 10)} />,
            <Row key={request.ordinal} request={request} isOfAll={isOfAll} isCurrent={isOpen(request)} />,
          ])}
        </tbody>
      </table>
      {older !== undefined && (
        <p class="older">
          <Link to={placeBefore(older)} onGo={() => document.querySelector('.list-side .table')?.scrollTo(0, 0)}>
            Older requests
          </Link>
        </p>
      )}
    </div>
  )
}

/**
 * The requests above which a list names their day, because the day of the row above is another one, with a key for the
 * name. The clock of an account may go back, so a day may be there twice.
 */
function dividersIn(list: readonly ListedRequest[]): ReadonlyMap<unknown, string> {
  const dividers = new Map<unknown, string>()
  const times = new Map<string, number>()
  let last = ''
  for (const request of list) {
    const day = request.at.slice(0, 10)
    if (day === last) continue
    last = day
    const time = (times.get(day) ?? 0) + 1
    times.set(day, time)
    dividers.set(request, `${day} ${time}`)
  }
  return dividers
}

function DayRow({ day }: { day: string }) {
  return (
    <tr class="day">
      <th colSpan={7} scope="rowgroup">
        {formatDay(day)}
      </th>
    </tr>
  )
}

interface RowProps {
  request: ListedRequest
  /** Whether the list has the requests of all accounts. */
  isOfAll: boolean
  /** Whether its details are shown. */
  isCurrent: boolean
}

/** A row hardly ever changes, so it is rendered once, although the list is rendered many times per second. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate({ request, isOfAll, isCurrent }: RowProps): boolean {
    const { props } = this
    return request !== props.request || isOfAll !== props.isOfAll || isCurrent !== props.isCurrent
  }

  override render({ request, isOfAll, isCurrent }: RowProps) {
    const { request_id, ordinal, account, at, method, status, code, duration_ms, isFresh } = request
    const target = targetOf(request)
    const open = () => openRequest(request_id, ordinal)
    // The row is a larger target for the pointer. For the keyboard there is a button inside.
    return (
      <tr class={isFresh ? 'fresh' : ''} data-ordinal={ordinal} data-request={request_id} onClick={open}>
        <td class="at soft">
          <time dateTime={at} title={formatInstant(at)}>
            {isOfAll && `${formatDay(at.slice(0, 10), 'short')} `}
            {at.slice(11, 19)}
          </time>
        </td>
        <td class="method mono">
          <bdi dir="ltr">{method}</bdi>
        </td>
        <td class="wide mono">
          <Link
            class="target"
            current={isCurrent}
            to={{ subject: request_id }}
            onGo={() => noteOrdinal(request_id, ordinal)}
          >
            <bdi dir="ltr">{target.length > LONGEST_TARGET ? `${target.slice(0, LONGEST_TARGET)}…` : target}</bdi>
          </Link>
        </td>
        <td class="status">
          <StatusBadge status={status} />
        </td>
        <td class="code mono">{code}</td>
        <td class="number duration soft">{formatDuration(duration_ms)}</td>
        <td class="marks">
          <RequestMarks request={request} />
          {isOfAll && <Badge>{account ?? 'no account'}</Badge>}
        </td>
      </tr>
    )
  }
}
