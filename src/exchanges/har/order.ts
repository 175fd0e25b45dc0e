import { isObject, type Json } from '../../ground/json.ts'
import { isReplaced } from './blacked-out.ts'
import { fieldsOf, type TimeSpan } from './entry.ts'
import type { HarFile } from './file.ts'

export interface Recording extends Pick<HarFile, 'path' | 'isOwn'> {
  /** Whether it shows the key of some request. Otherwise, whoever made it has taken out all of them. */
  hasKeys: boolean
  /** Whether it shows which responses a browser had already: `looksCached` is not true of all entries. */
  showsCache: boolean
  /** Whether its times tell entries apart: somebody may have set all of them to one. */
  hasTimes: boolean
  /** Whether some response has a header field that a browser keeps from the script of a page. */
  hasFields: boolean
}

/** An entry that is an exchange with the service. */
export interface FoundExchange extends TimeSpan {
  recording: Recording
  entry: Json
  number: number
  method: string
  /** Path and query, with the base path of the contract. */
  target: string
  status: number | undefined
  mayChange: boolean
  isAfterGap: boolean
}

/** Whether each exchange overlaps with another one that may change the account. The exchanges are in order of time. */
export function findOverlaps(found: readonly FoundExchange[]): readonly boolean[] {
  const overlaps = new Array<boolean>(found.length).fill(false)
  // The order within a millisecond is known only within a file.
  const isBefore = (end: number, start: number, isSameFile: boolean) => (isSameFile ? end <= start : end < start)
  const ends = new Map<Recording, number>()
  found.forEach(({ at, over, mayChange, recording }, index) => {
    ends.forEach((end, other) => {
      if (!isBefore(end, at, other === recording)) overlaps[index] = true
    })
    if (mayChange) ends.set(recording, Math.max(over, ends.get(recording) ?? over))
  })
  const starts = new Map<Recording, number>()
  found.toReversed().forEach(({ at, over, mayChange, recording }, index) => {
    starts.forEach((start, other) => {
      if (!isBefore(over, start, other === recording)) overlaps[found.length - 1 - index] = true
    })
    if (mayChange) starts.set(recording, at)
  })
  return overlaps
}

/** In milliseconds: how much later the second observer of an exchange may have seen it. */
const DELAY = 10_000
/** The same between two observers in one file, such as a page and a proxy on its machine. */
const DELAY_IN_FILE = 5

/**
 * Leaves out exchanges that are recorded a second time: by the page and by its service worker, by two recorders, or by
 * two exports of one recording. Only different observers repeat an exchange: if one observer has seen an answer twice,
 * the service has given it twice. Of two observers in one file, both have seen it at the same time. The exchanges are in
 * order of time; of two entries, the one with a body stays.
 */
export function withoutRepeated(found: readonly FoundExchange[]): readonly FoundExchange[] {
  const dropped = new Set<FoundExchange>()
  const latest = new Map<string, FoundExchange>()
  for (const exchange of found) {
    const { method, target, status, at, until } = exchange
    const [[, id = ''] = []] = fieldsOf(exchange.entry['response'], 'x-request-id')
    const isNamed = id !== '' && !isReplaced(id)
    const name = [method, target, status, isNamed ? id : `${at} ${until}`].join(' ')
    const other = latest.get(name)
    const isRepeated = other !== undefined && isSame(other, exchange, isNamed)
    const isBetter = !isRepeated || (hasBody(exchange) && !hasBody(other))
    if (isBetter) latest.set(name, exchange)
    if (!isRepeated) continue
    dropped.add(isBetter ? other : exchange)
    if (isBetter) exchange.isAfterGap ||= other.isAfterGap
  }
  return dropped.size === 0 ? found : found.filter((exchange) => !dropped.has(exchange))
}

/**
 * Whether two exchanges are one. Without a request id, equal times say so, unless the times of a file say nothing; but a
 * file that has both says that there were two.
 */
function isSame(one: FoundExchange, other: FoundExchange, isNamed: boolean): boolean {
  const isSameFile = one.recording === other.recording
  if (!isNamed) return !isSameFile && one.recording.hasTimes && other.recording.hasTimes
  // This program records each exchange once.
  if (isSameFile && one.recording.isOwn) return false
  if (one.at === other.at && one.until === other.until) return true
  const isSameKind = isSameFile && observerOf(one.entry) === observerOf(other.entry)
  if (!isSameKind) return other.at <= one.until + DELAY
  const isAtOnce = other.at < one.until || other.at <= one.at + DELAY_IN_FILE
  return isAtOnce && DIFFERENT_IN_EACH.every((name) => shownIn(one, name) === shownIn(other, name))
}

/** What another answer with the same id would say in another way. */
const DIFFERENT_IN_EACH = ['date', 'x-ratelimit-remaining']

function shownIn({ entry }: FoundExchange, name: string): string | undefined {
  return fieldsOf(entry['response'], name)[0]?.[1]
}

/** If a service worker fetches for a page, the request of the page and that of the worker may both be recorded. */
function observerOf({ _serviceWorkerRef: worker, response }: Json): 'page' | 'worker' | 'page with worker' {
  if (typeof worker === 'string') return 'worker'
  return isObject(response) && response['_fetchedViaServiceWorker'] === true ? 'page with worker' : 'page'
}

function hasBody({ entry: { response } }: FoundExchange): boolean {
  const content = isObject(response) ? response['content'] : undefined
  return isObject(content) && typeof content['text'] === 'string' && content['text'] !== ''
}
