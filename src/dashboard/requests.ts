import type { RequestsQuery } from './calls.ts'
import { call } from './client.ts'
import { badge, type Child, element, findById, withSpaces } from './elements.ts'
import { formatCount, formatInstant } from './formatting.ts'
import type { JournalEntry } from './responses.ts'
import { selection } from './selection.ts'
import { showTally } from './tabs.ts'

/** How many requests are shown at most; the journal has the others. */
const MOST_REQUESTS = 300
const MILLISECONDS_BETWEEN_DRAWINGS = 50

/** An exchange without its bodies, because they can be large. */
export type ListedRequest = Omit<JournalEntry, 'request' | 'response' | 'problems' | 'violations'> & {
  violates: boolean
}

const rows = findById('request-rows', HTMLTableSectionElement)
const table = findById('request-table', HTMLTableElement)
const empty = findById('requests-empty', HTMLElement)
const filter = findById('request-filter', HTMLInputElement)
const everyone = findById('everyone', HTMLInputElement)

/** The newest first. */
let listed: ListedRequest[] = []
/** The requests that arrived after the list was drawn, the newest last. */
const arrived: ListedRequest[] = []

export function startRequests(): void {
  filter.addEventListener('input', () => filterRows([...rows.rows]))
}

/** The newest first. */
export function listedRequests(): readonly ListedRequest[] {
  return listed
}

/** Whether the list shows the requests of all accounts, and those that belong to no account. */
export function showsEveryone(): boolean {
  return everyone.checked
}

/** Fills the list with the requests in the journal. */
export async function loadRequests(): Promise<void> {
  const [all, { account }] = [showsEveryone(), selection]
  const newest: ListedRequest[] = []
  let query: RequestsQuery = { limit: MOST_REQUESTS }
  // Long bodies make a page end early.
  for (let next: number | null = 0; next !== null && newest.length < MOST_REQUESTS; ) {
    const page = await call(all ? 'listAllRequests' : 'listRequests', { parameters: { account }, query })
    if (all !== showsEveryone() || account !== selection.account) return
    newest.push(...page.requests.map(toListed).reverse())
    next = page.next
    if (next !== null) query = { limit: MOST_REQUESTS - newest.length, before: next }
  }
  listed = newest
  drawAll()
}

export function emptyRequests(): void {
  listed = []
  arrived.length = 0
  drawAll()
}

/** Adds a request to the list. It is drawn a little later, because requests can arrive faster than a page is drawn. */
export function addRequest(entry: JournalEntry): void {
  arrived.push(toListed(entry))
  if (arrived.length > MOST_REQUESTS) arrived.shift()
  if (arrived.length === 1) setTimeout(drawArrived, MILLISECONDS_BETWEEN_DRAWINGS)
}

function toListed({ request, response, problems, violations, ...entry }: JournalEntry): ListedRequest {
  return { ...entry, violates: violations.length > 0 }
}

function drawAll(): void {
  rows.replaceChildren(...listed.map((entry) => requestRow(entry)))
  filterRows([...rows.rows])
}

function drawArrived(): void {
  const known = listed[0]?.ordinal ?? 0
  const fresh = arrived
    .splice(0)
    .filter(({ ordinal }) => ordinal > known)
    .reverse()
  listed.unshift(...fresh)
  const freshRows = fresh.map((entry) => requestRow(entry, 'fresh'))
  rows.prepend(...freshRows)
  for (const _ of listed.splice(MOST_REQUESTS)) rows.lastElementChild?.remove()
  filterRows(freshRows)
}

/** Path and query, as in a request line. */
export function targetOf({ path, query }: { path: string; query: string }): string {
  return query === '' ? path : `${path}?${query}`
}

export function statusBadge(status: number | null): HTMLElement {
  if (status === null) return badge('no response', 'odd')
  return badge(String(status), status < 400 ? 'good' : status < 500 ? 'warn' : 'bad')
}

function requestRow(entry: ListedRequest, kind = ''): HTMLTableRowElement {
  const { ordinal, at, method, status, code, duration_ms } = entry
  const time = element('time', { datetime: at, title: formatInstant(at) }, at.slice(11, 19))
  const link = element('button', { class: 'link', type: 'button', 'aria-haspopup': 'dialog' }, targetOf(entry))
  const duration = duration_ms < 10 ? duration_ms.toFixed(1) : Math.round(duration_ms)
  return element(
    'tr',
    { class: kind, 'data-words': wordsFor(entry), 'data-ordinal': ordinal },
    element('td', { class: 'fit soft' }, time),
    element('td', { class: 'fit mono' }, method),
    element('td', { class: 'mono wide' }, link),
    element('td', { class: 'fit' }, statusBadge(status)),
    element('td', { class: 'fit mono' }, code),
    element('td', { class: 'fit number soft' }, `${duration} ms`),
    element('td', { class: 'fit' }, withSpaces(marksOf(entry))),
  )
}

function marksOf({ injected, fault, violates, account }: ListedRequest): Child[] {
  return [
    injected && element('span', { class: 'badge odd', title: fault?.effect ?? '' }, 'injected'),
    !injected && fault && badge('fault', 'odd'),
    violates && badge('violates the contract', 'bad'),
    showsEveryone() && badge(account ?? 'no account'),
  ]
}

/** The text that the filter searches. */
function wordsFor(entry: ListedRequest): string {
  const { method, status, code, operation, injected, account } = entry
  const statuses = status === null ? ['no response'] : [status, `${String(status)[0]}xx`]
  const words = [method, targetOf(entry), ...statuses, code, operation, injected && 'injected', account]
  return words.filter(Boolean).join(' ').toLowerCase()
}

/** Hides the rows that do not contain every word of the filter. */
function filterRows(candidates: readonly HTMLTableRowElement[]): void {
  const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const row of candidates) row.hidden = !wanted.every((word) => row.dataset['words']?.includes(word))
  const shown = [...rows.rows].some((row) => !row.hidden)
  empty.hidden = shown
  empty.textContent =
    listed.length === 0
      ? 'No requests yet. Send one with the command above; it appears here at once.'
      : `None of ${formatCount(listed.length, 'request')} matches the filter.`
  table.hidden = !shown
  showTally('requests', listed.length)
}
