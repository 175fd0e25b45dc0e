import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../client.ts'
import { curlOf } from '../curl.ts'
import { createSource, refreshShown } from '../data.ts'
import { FACTS, PLAYS_SERVICE } from '../facts.ts'
import { formatCount, formatNumber } from '../formatting.ts'
import { chosenAccount, Link, parameter, setFilters, subject } from '../place.tsx'
import type { DataOf } from '../responses.ts'
import { summary } from '../sources.ts'
import { Button, Copyable } from '../ui/button.tsx'
import { ListAndDetail } from '../ui/detail.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { SearchField, Select } from '../ui/form.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { showNote } from '../ui/notices.tsx'
import { RequestDetail } from './detail.tsx'
import { RequestTable } from './table.tsx'

/** How many requests a page of the list has. The journal has the others. */
const PAGE = 100
/** The rest in which nothing is typed before the server is asked for the words, in milliseconds. */
const MILLISECONDS_OF_REST = 250

type Listed = DataOf<'listRequests'>

const search = parameter('search')
const whose = parameter('whose')
const operation = parameter('operation')
const fault = parameter('fault')
/** The ordinal before which a page of older requests begins; empty for the newest requests. */
const before = parameter('before')
const kinds = { violation: parameter('violation'), refused: parameter('refused'), injected: parameter('injected') }

/** The requests that meet the conditions, which the server decides. */
const requests = createSource(
  { after: 'requests' },
  (account, query: string): Promise<Listed> =>
    call('listRequests', { parameters: { account }, query: { limit: PAGE, ...JSON.parse(query) } }),
)
/** The same for all accounts or for no account. */
const allRequests = createSource(
  { after: 'requests', isShared: true },
  (_, query: string): Promise<Listed> => call('listAllRequests', { query: { limit: PAGE, ...JSON.parse(query) } }),
)
/** The number of requests without a valid key. */
const keyless = createSource({ after: 'others', isShared: true }, async () => {
  const { count } = await call('listAllRequests', { query: { account: 'none', limit: 1 } })
  return count
})

export function RequestsView() {
  const words = useRested(search.value)
  const query = Object.fromEntries(
    Object.entries({
      ...{ search: words.trim(), operation: operation.value, fault: fault.value, before: before.value },
      ...Object.fromEntries(Object.entries(kinds).map(([name, value]) => [name, value.value])),
      account: whose.value === 'none' ? 'none' : '',
    }).filter(([, value]) => value !== ''),
  )
  const source = whose.value === '' ? requests : allRequests
  return <Requests key={whose.value} source={source} query={query} />
}

interface RequestsProps {
  source: typeof requests
  query: Readonly<Record<string, string>>
}

function Requests({ source, query }: RequestsProps) {
  const loaded = source.use(JSON.stringify(query))
  // The rows before stay until those that were asked for arrive.
  const last = useRef<Listed | undefined>(undefined)
  last.current = loaded.data ?? last.current
  const list = last.current?.requests.toReversed() ?? []
  const id = subject.value
  return (
    <ListAndDetail detail={id !== undefined && <RequestDetail requestId={id} list={list} />}>
      <h2 class="unseen">Requests</h2>
      <Toolbar count={sayHowMany(loaded.data, query)} />
      <Hints />
      <Loaded of={{ ...loaded, data: last.current }} what="the requests">
        {({ next }) =>
          list.length > 0 ? (
            <RequestTable list={list} next={next} isCurrent={loaded.data !== undefined} />
          ) : (
            <Nothing isFiltered={Object.keys(query).some((name) => name !== 'account')} />
          )
        }
      </Loaded>
    </ListAndDetail>
  )
}

/** A text, once it has not changed for a moment. The first one counts at once. */
function useRested(text: string): string {
  const [rested, setRested] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), MILLISECONDS_OF_REST)
    return () => clearTimeout(timer)
  }, [text])
  return rested
}

/** How many requests meet the conditions, and how many of them are shown. */
function sayHowMany(data: Listed | undefined, query: RequestsProps['query']): string {
  if (data === undefined) return query['search'] === undefined ? 'Loading…' : 'Searching…'
  const isFiltered = Object.keys(query).some((name) => name !== 'before' && name !== 'account')
  const all = isFiltered
    ? `${formatNumber(data.count)} ${data.count === 1 ? 'match' : 'matches'}`
    : formatCount(data.count, 'request')
  if (data.requests.length === data.count) return all
  return `${query['before'] === undefined ? 'latest' : 'older'} ${formatNumber(data.requests.length)} of ${all}`
}

const TOGGLES = [
  ['violation', 'Violations'],
  ['refused', 'Refused'],
  ['injected', 'Injected'],
] as const

function Toolbar({ count }: { count: string }) {
  // Other conditions begin with the newest requests again.
  const want = (query: Record<string, string>) => setFilters({ before: '', ...query }, 'push')
  return (
    <>
      <div class="row tools">
        <SearchField
          label="Words to look for in the requests"
          placeholder="Search, such as POST 4xx"
          text={search.value}
          maxLength={FACTS.search.characters}
          onText={(text) => setFilters({ before: '', search: text })}
        />
        <Select
          aria-label="Operation"
          none="All operations"
          values={FACTS.operations.map(({ id }) => id)}
          value={operation.value}
          onChoose={(chosen) => want({ operation: chosen })}
        />
        <Select
          aria-label="Whose requests"
          none="This account"
          values={[
            ['none', 'No account'],
            ['all', 'All accounts'],
          ]}
          value={whose.value}
          onChoose={(chosen) => want({ whose: chosen })}
        />
      </div>
      <div class="row tools">
        {TOGGLES.map(([name, title]) => {
          const pressed = kinds[name].value === 'true'
          return (
            <Button
              key={name}
              words={title}
              aria-pressed={pressed}
              work={() => want({ [name]: pressed ? '' : 'true' })}
            />
          )
        })}
        <p class="soft grow end" role="status">
          {count}
        </p>
        {whose.value === '' && <Button words="Clear the journal…" kind="danger" work={clearJournal} />}
      </div>
    </>
  )
}

/** Asks for confirmation, and removes the requests of the chosen account from the journal. */
async function clearJournal(): Promise<void> {
  const account = chosenAccount.peek()
  const { count } = await call('listRequests', { parameters: { account }, query: { limit: 1 } })
  if (!(await confirmed('Clear the journal?', sayWhatIsLost(count, account), 'Clear the journal'))) return
  await call('clearRequests', { parameters: { account } })
  await refreshShown()
  showNote(`${formatCount(count, 'request')} left the journal.`)
}

function sayWhatIsLost(count: number, account: string): string {
  const [leave, them] = count === 1 ? ['leaves', 'it'] : ['leave', 'them']
  const first = `${formatCount(count, 'request')} of the account ${account} ${leave} the journal, for all users.`
  if (!PLAYS_SERVICE) return `${first} The explanations are lost. The verdict and the coverage stay.`
  return `${first} The explanations, the way back to the account before ${them}, and the code that sends ${them} again are lost. The verdict and the coverage stay, and so does the account in its present state.`
}

/** What the list leaves out, and the way to it. A request with a wrong key does not appear in any account. */
function Hints() {
  const count = keyless.use().data ?? 0
  const other = {
    none: 'The requests without a valid key. They belong to no account, so their times are of the clock of the server.',
    all: 'The requests of all accounts and of none, each at the time of its own clock.',
  }[whose.value]
  return (
    <>
      {other !== undefined && (
        <p class="soft">
          {other} <Link query={{ whose: '', before: '' }}>Back to this account</Link>
        </p>
      )}
      {other === undefined && count > 0 && (
        <p class="soft">
          {formatCount(count, 'request')} without a valid key {count === 1 ? 'belongs' : 'belong'} to no account.{' '}
          <Link view="requests" query={{ whose: 'none' }}>
            Show {count === 1 ? 'it' : 'them'}
          </Link>
        </p>
      )}
      {fault.value !== '' && (
        <p class="soft">
          Only the requests on which the rule {fault.value} acted. <Link query={{ fault: '' }}>All requests</Link>
        </p>
      )}
      {before.value !== '' && (
        <p class="soft">
          Older requests. <Link query={{ before: '' }}>Newest requests</Link>
        </p>
      )}
    </>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  const key = summary.use().data?.api_key ?? null
  if (isFiltered) return <p class="empty">No request in the journal is of this kind.</p>
  if (whose.value !== '') return <p class="empty">No requests of this kind yet.</p>
  const reading = FACTS.operations.find(({ method }) => method === 'GET')
  return (
    <div class="card stack">
      <h3>No requests yet.</h3>
      <p>Each request that a client of this account sends appears here at once.</p>
      <Copyable text={curlOf(reading?.path ?? '/', key)} label="Copy the command" />
      {key === null && <p class="soft">The key of this account is secret. The command reads it from API_KEY.</p>}
    </div>
  )
}
