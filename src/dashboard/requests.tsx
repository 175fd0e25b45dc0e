import { useRef } from 'preact/hooks'
import { call } from './control.ts'
import { change, createSource, summary } from './data.ts'
import { curlOf, FACTS, PLAYS_SERVICE } from './facts.ts'
import { formatCount, formatDay, formatDuration, formatInstant, formatNumber } from './formatting.ts'
import { chosenAccount, Link, parameter, setFilters, subject } from './place.tsx'
import { RequestDetail, RequestMarks, StatusBadge, targetOf } from './request-detail.tsx'
import type { DataOf, Schemas } from './responses.ts'
import { Badge, Button, Card, Copyable, showNote } from './ui/elements.tsx'
import { confirmed, SearchField, Select } from './ui/forms.tsx'
import { type Column, ListAndDetail, Table } from './ui/lists.tsx'
import { Loaded } from './ui/loaded.tsx'

/** How many requests a page of the list has. The journal has the others. */
const PAGE = 100
/** How many characters of the path and query are in a row. The details show all of it. */
const LONGEST_TARGET = 300

type Listed = DataOf<'listRequests'>

const whose = parameter('whose')
/** The ordinal before which a page of older requests begins; empty for the newest requests. */
const before = parameter('before')
const fault = parameter('fault')
const operation = parameter('operation')
const search = parameter('search')
const TOGGLES = [
  ['violation', 'Violations', parameter('violation')],
  ['refused', 'Refused', parameter('refused')],
  ['injected', 'Injected', parameter('injected')],
] as const

/** The requests of the account that meet the conditions, which the server decides. */
const ofAccount = createSource(
  (account, query: string): Promise<Listed> =>
    call('listRequests', { parameters: { account }, query: { limit: PAGE, ...JSON.parse(query) } }),
)
const ofAll = createSource(
  (_, query: string): Promise<Listed> => call('listAllRequests', { query: { limit: PAGE, ...JSON.parse(query) } }),
  { isShared: true },
)
const keyless = createSource(
  async () => (await call('listAllRequests', { query: { account: 'none', limit: 1 } })).count,
  {
    isShared: true,
  },
)

export function RequestsView() {
  const conditions = {
    ...{ search: search.value.trim(), operation: operation.value, fault: fault.value },
    ...Object.fromEntries(TOGGLES.map(([name, , isOn]) => [name, isOn.value])),
  }
  const isFiltered = Object.values(conditions).some((value) => value !== '')
  const query = { ...conditions, account: whose.value === 'none' ? 'none' : '', before: before.value }
  const source = whose.value === '' ? ofAccount : ofAll
  const loaded = source.use(JSON.stringify(Object.fromEntries(Object.entries(query).filter(([, value]) => value))))
  // The rows before stay until those that were asked for arrive.
  const last = useRef<Listed | undefined>(undefined)
  last.current = loaded.data ?? last.current
  const list = last.current?.requests.toReversed() ?? []
  const id = subject.value
  return (
    <ListAndDetail title="Requests" detail={id !== undefined && <RequestDetail requestId={id} list={list} />}>
      <Toolbar count={loaded.data === undefined ? 'Loading…' : sayHowMany(loaded.data, isFiltered)} />
      <Hints />
      <Loaded of={{ ...loaded, data: last.current }} what="the requests">
        {({ next }) => (list.length > 0 ? <Rows list={list} next={next} /> : <Nothing isFiltered={isFiltered} />)}
      </Loaded>
    </ListAndDetail>
  )
}

function sayHowMany({ count, requests }: Listed, isFiltered: boolean): string {
  const matches = `${formatNumber(count)} ${count === 1 ? 'match' : 'matches'}`
  const all = isFiltered ? matches : formatCount(count, 'request')
  return requests.length === count
    ? all
    : `${before.value === '' ? 'latest' : 'older'} ${formatNumber(requests.length)} of ${all}`
}

function Toolbar({ count }: { count: string }) {
  // Other conditions begin with the newest requests again.
  const want = (query: Record<string, string>, how: 'push' | 'replace' = 'push') =>
    setFilters({ before: '', ...query }, how)
  return (
    <>
      <div class="row tools">
        <SearchField
          {...{ label: 'Words to look for in the requests', placeholder: 'Search, such as POST 4xx' }}
          {...{ text: search.value, maxLength: FACTS.search.characters }}
          onText={(text) => want({ search: text }, 'replace')}
        />
        <Select
          {...{ 'aria-label': 'Operation', none: 'All operations', values: FACTS.operations.map(({ id }) => id) }}
          value={operation.value}
          onChoose={(chosen) => want({ operation: chosen })}
        />
        <Select
          {...{ 'aria-label': 'Whose requests', none: 'This account' }}
          values={[
            ['none', 'No account'],
            ['all', 'All accounts'],
          ]}
          value={whose.value}
          onChoose={(chosen) => want({ whose: chosen })}
        />
      </div>
      <div class="row">
        {TOGGLES.map(([name, title, { value }]) => (
          <Button
            key={name}
            words={title}
            aria-pressed={value === 'true'}
            work={() => want({ [name]: value === 'true' ? '' : 'true' })}
          />
        ))}
        <p class="soft grow number" role="status">
          {count}
        </p>
        {whose.value === '' && <Button words="Clear the journal…" kind="danger" work={clearJournal} />}
      </div>
    </>
  )
}

async function clearJournal(): Promise<void> {
  const account = chosenAccount.peek()
  const text =
    `The requests of the account ${account} leave the journal, for all users. Their explanations are lost` +
    (PLAYS_SERVICE ? ', and so is the way back to the account before them. The account itself' : '. It') +
    ' stays as it is, and so do the verdict and the coverage.'
  if (!(await confirmed('Clear the journal?', text, 'Clear the journal'))) return
  await change('clearRequests', { account })
  showNote('The journal was cleared.')
}

const BACK = 'Back to this account'
const NOBODYS = { whose: 'none', search: '', operation: '', fault: '', violation: '', refused: '', injected: '' }

/** What the list leaves out, and the way to it. A request with a wrong key does not appear in any account. */
function Hints() {
  const count = keyless.use().data ?? 0
  const hints: readonly [isShown: boolean, words: string, link: string, query: Record<string, string>][] = [
    [whose.value === '' && count > 0, `${formatCount(count, 'request')} without a valid key.`, 'Show them', NOBODYS],
    [whose.value === 'none', 'The requests without a valid key, by the clock of the server.', BACK, { whose: '' }],
    [whose.value === 'all', 'All requests.', BACK, { whose: '' }],
    [fault.value !== '', `Only the requests on which the rule ${fault.value} acted.`, 'All requests', { fault: '' }],
    [before.value !== '', 'Older requests.', 'Newest requests', {}],
  ]
  return (
    <>
      {hints
        .filter(([isShown]) => isShown)
        .map(([, words, link, query]) => (
          <p key={link} class="soft">
            {words} <Link query={{ before: '', ...query }}>{link}</Link>
          </p>
        ))}
    </>
  )
}

function Rows({ list, next }: { list: readonly Schemas['JournalEntry'][]; next: number | null }) {
  const today = summary.use().data?.account.now.slice(0, 10)
  const columns: readonly Column<Schemas['JournalEntry']>[] = [
    {
      ...{ title: 'Time', class: 'soft fit' },
      // A request of another day than that of the account's clock has its day beside the time.
      cell: ({ at }) => (
        <time dateTime={at} title={formatInstant(at)}>
          {today !== undefined && at.slice(0, 10) !== today && `${formatDay(at.slice(0, 10), 'short')} `}
          {at.slice(11, 19)}
        </time>
      ),
    },
    {
      ...{ title: 'Request', class: 'name mono' },
      cell({ id, ...request }) {
        const target = targetOf(request)
        return (
          <>
            <bdi dir="ltr">{request.method}</bdi>{' '}
            <Link subject={id} current={subject.value === id}>
              <bdi dir="ltr">{target.length > LONGEST_TARGET ? `${target.slice(0, LONGEST_TARGET)}…` : target}</bdi>
            </Link>
          </>
        )
      },
    },
    { title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
    { title: 'Code', class: 'mono fit', cell: ({ code }) => code },
    { title: 'Took', class: 'number soft late', cell: ({ duration_ms }) => formatDuration(duration_ms) },
    {
      title: 'Marks',
      cell: (request) => (
        <>
          <RequestMarks request={request} />
          {whose.value !== '' && <Badge>{request.account ?? 'no account'}</Badge>}
        </>
      ),
    },
  ]
  return (
    <>
      <Table label="Requests" columns={columns} items={list} keyOf={({ ordinal }) => String(ordinal)} />
      {next !== null && (
        <Link class="button" query={{ before: String(next) }}>
          Older requests
        </Link>
      )}
    </>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  const key = summary.use().data?.api_key ?? null
  if (isFiltered || whose.value !== '') return <p class="empty">No request in the journal is of this kind.</p>
  return (
    <Card title="No requests yet.">
      <p>Each request that a client of this account sends appears here at once.</p>
      <Copyable text={curlOf('/dmarc', key)} label="Copy the command" />
      {key === null && <p class="soft">The key of this account is secret. The command reads it from API_KEY.</p>}
    </Card>
  )
}
