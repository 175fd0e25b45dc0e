import type { VerificationReport } from '../contract/control-plane.ts'
import { show } from '../ground/show.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import type { RequestReport } from '../journal/description.ts'
import type { RequestMatch } from '../journal/match.ts'
import { type CallArguments, copyArgument, readFields } from './arguments.ts'
import { type AccountScope, type ControlClient, PAGE } from './control-client.ts'
import { ControlError, refuseArgument } from './control-error.ts'

/** The requests in a list. */
export interface RequestFilter extends Omit<RequestMatch, 'key' | 'query' | 'headers' | 'body'> {
  /**
   * Words with spaces between them, of which each must occur, in any case: in method, path, query, status (also `4xx`),
   * code, operation, id, in the words `injected`, `fault` and `violation`, or in the bodies.
   */
  search?: string
  /** An ordinal. The list has only requests before it. */
  before?: number
  /** The number of newest requests in the list; by default all. */
  limit?: number
}

/** The requests in a list of all accounts. */
export interface AllRequestsFilter extends RequestFilter {
  /** `none` for requests without an account: they present no key of an account. */
  account?: 'none'
}

/** Whether requests of an account are shown. */
export type Shows = (accountId: string) => boolean

/**
 * The newest requests that match a filter, from the oldest to the newest. Of the requests of an account, only those that
 * `shows` permits. @throws ControlError
 */
export async function readRequests(
  client: ControlClient,
  operation: 'listRequests' | 'listAllRequests',
  filter: RequestFilter | null,
  parameters: CallArguments['parameters'] = {},
  shows: Shows = () => true,
): Promise<RequestReport[]> {
  const { limit = Number.POSITIVE_INFINITY, ...query }: RequestFilter = readFields(filter ?? undefined)
  if (typeof limit !== 'number') throw refuseArgument('limit', '`limit` must be a number.')
  const pages: RequestReport[][] = []
  for (let [left, before] = [limit, query.before]; ; ) {
    // An invalid limit is passed unchanged, and the control plane refuses it.
    const size = left > PAGE ? PAGE : left === 0 ? 1 : left
    const page = await client.call(operation, { parameters, query: { ...query, before, limit: size } })
    const shown = page.requests.filter(({ account }) => account === null || shows(account))
    pages.push(limit === 0 ? [] : shown)
    left -= shown.length
    if (page.next === null || left <= 0) return pages.reverse().flat()
    before = Number(page.next)
  }
}

/** The requests of an account or of all accounts, as they are answered. */
export interface RequestEvents extends AsyncIterableIterator<RequestReport>, AsyncDisposable {
  /** Ends the events. Leaving a `for await` loop calls it. */
  return(): Promise<IteratorResult<RequestReport>>
}

/**
 * The requests from now on, until the events are ended, `signal` is aborted or the server stops. Invalid options are
 * reported by the first read, as a rejection like that of the other methods of the library.
 */
export function openEvents(
  { transport }: ControlClient,
  account: string | undefined,
  options: unknown,
  shows: Shows = () => true,
): RequestEvents {
  const waiting: RequestReport[] = []
  const endings = [transport.stopping]
  let failure: unknown
  let isEnded = false
  let wake = () => {}
  const leave = transport.events(account, {
    take(request) {
      if (isEnded || (account === undefined && request.account !== null && !shows(request.account))) return
      if (waiting.length === UNREAD) return stop(new ControlError('unavailable', LEFT_UNREAD))
      waiting.push(request)
      wake()
    },
    end,
  })
  function end(reason?: unknown): void {
    failure ??= reason
    isEnded = true
    wake()
  }
  function stop(reason?: unknown): void {
    leave()
    for (const ending of endings) ending.removeEventListener('abort', finish)
    end(reason)
  }
  const finish = () => stop()
  try {
    const { signal } = readFields(options)
    if (signal instanceof AbortSignal) endings.push(signal)
    else if (signal !== undefined) throw refuseArgument('signal', '`signal` must be the signal of an AbortController.')
  } catch (error) {
    end(error)
  }
  for (const ending of endings) ending.addEventListener('abort', finish)
  if (endings.some(({ aborted }) => aborted)) stop()

  async function* read(): AsyncGenerator<RequestReport, undefined> {
    try {
      while (waiting.length > 0 || !isEnded) {
        const next = waiting.shift()
        if (next !== undefined) yield next
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
      if (failure !== undefined) throw failure
    } finally {
      stop()
    }
    return undefined
  }

  const requests = read()
  const events: RequestEvents = {
    next: () => requests.next(),
    return() {
      waiting.length = 0
      stop()
      return requests.return(undefined)
    },
    [Symbol.asyncIterator]: () => events,
    [Symbol.asyncDispose]: async () => void (await events.return()),
  }
  return events
}

/** How many requests wait for a reader that does not read. */
const UNREAD = 10_000
const LEFT_UNREAD = `The reader of these events has left ${UNREAD} requests unread, so no more are kept.`

/** The default and the longest timeout of `waitFor`, in milliseconds of real time. */
const PATIENCE = { usual: 1_000, longest: 600_000 }

export type AccountRequests = ReturnType<typeof openRequests>

/** The requests of the account's clients with their responses. */
export function openRequests(scope: AccountScope) {
  return {
    /** From the oldest request in the journal to the newest. */
    list: (filter: RequestFilter = {}): Promise<RequestReport[]> =>
      readRequests(scope.client, 'listRequests', filter, { account: scope.id }),
    /** Whether the expected number of requests match. Without a number, at least one must match. */
    verify: async (
      match: RequestMatch,
      times: { count?: number; at_least?: number; at_most?: number } = {},
    ): Promise<VerificationReport> => scope.ask('verifyRequests', { body: { match, ...readFields(times) } }),
    /**
     * The first matching request, as soon as it is answered. A request that is already in the journal counts. If none
     * comes within `timeout` milliseconds of real time, by default 1,000, it rejects with a `ControlError` with the
     * code `timeout`. The error describes the requests that came instead.
     */
    waitFor: (match: RequestMatch, options: { timeout?: number } = {}): Promise<RequestReport> =>
      waitFor(scope, match, options),
    /** Removes the requests from the journal. */
    clear: (): Promise<void> => scope.tell('clearRequests'),
  }
}

async function waitFor(scope: AccountScope, match: RequestMatch, options: object): Promise<RequestReport> {
  const { timeout = PATIENCE.usual } = readFields(options)
  if (typeof timeout !== 'number' || !(timeout >= 0 && timeout <= PATIENCE.longest)) {
    throw refuseArgument('timeout', `\`timeout\` must be a number of milliseconds from 0 to ${PATIENCE.longest}.`)
  }
  const wanted = copyArgument(match) as RequestMatch
  const verify = (match: RequestMatch) => scope.ask('verifyRequests', { body: { match } })
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), timeout)
  const events = openEvents(scope.client, scope.id, { signal: ending.signal })
  try {
    const before = (await verify({})).matched
    for (let isLast = timeout === 0; ; ) {
      // The control plane refuses conditions that no request can meet, and an account that does not exist. If the server
      // has stopped, it refuses for that reason.
      const { first_match: id, near_misses } = await verify(wanted)
      if (id !== null) {
        const found = await readRequests(scope.client, 'listRequests', { search: id }, { account: scope.id })
        const request = found.find(({ request_id }) => request_id === id)
        if (request !== undefined) return request
        throw new ControlError('not_found', `The journal has dropped the request ${id}.`)
      }
      if (isLast) {
        const came = Math.max(0, (await verify({})).matched - before)
        throw new ControlError('timeout', sayWhatCame(wanted, timeout, came, near_misses))
      }
      isLast = (await events.next()).done === true
    }
  } finally {
    clearTimeout(timer)
    await events.return()
  }
}

function sayWhatCame(
  match: RequestMatch,
  timeout: number,
  came: number,
  nearest: VerificationReport['near_misses'],
): string {
  const requests = came === 0 ? 'No request came' : came === 1 ? 'One request came' : `${came} requests came`
  const lines = nearest.map(({ method, path, request_id, differences }) => {
    const different = differences.map((each) => `${each.field} is ${show(each.received)}, not ${show(each.expected)}`)
    return `  ${method} ${path} (${request_id}): ${different.join('; ')}.`
  })
  return [
    `No request matched ${JSON.stringify(match)} within ${timeout} ms. ${requests} meanwhile.`,
    ...(lines.length === 0 ? [] : ['The nearest in the journal:', ...lines]),
  ].join('\n')
}
