import type { VerificationReport } from '../contract/control-plane.ts'
import { show } from '../ground/show.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import type { RequestReport } from '../journal/description.ts'
import type { RequestMatch } from '../journal/match.ts'
import type { AccountScope } from './account-scope.ts'
import { copyArgument, readFields, readOptions } from './arguments.ts'
import { ControlError } from './control-error.ts'
import { type RequestFilter, readRequests } from './lists.ts'

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
    clear: async (): Promise<void> => void (await scope.ask('clearRequests')),
  }
}

const OPTIONS = {
  timeout: {
    words: `a number of milliseconds from 0 to ${PATIENCE.longest}`,
    fits: (value: unknown) => typeof value === 'number' && value >= 0 && value <= PATIENCE.longest,
  },
}

async function waitFor(scope: AccountScope, match: RequestMatch, options: object): Promise<RequestReport> {
  const { timeout = PATIENCE.usual } = readOptions('waitFor', options, OPTIONS) as { timeout?: number }
  const wanted = copyArgument(match) as RequestMatch
  const { client, id } = scope
  const leaving = new AbortController()
  let isOver = false
  let wake = (): void => {}
  const over = () => {
    isOver = true
    wake()
  }
  let hasCome = false
  const leave = client.events(id, client.newest, {
    take() {
      hasCome = true
      wake()
    },
    // The next call says why.
    end: over,
  })
  const timer = setTimeout(over, timeout)
  client.stopping.addEventListener('abort', over, { signal: leaving.signal })
  if (client.stopping.aborted) over()
  try {
    const before = await countOf(scope)
    for (;;) {
      const isLast = isOver
      hasCome = false
      // The control plane refuses conditions that no request can meet, and an account that does not exist. If the server
      // has stopped, it refuses for that reason.
      const { first_match, near_misses } = await scope.ask('verifyRequests', { body: { match: wanted } })
      if (first_match !== null) return await findRequest(scope, first_match)
      if (isLast) {
        const came = Math.max(0, (await countOf(scope)) - before)
        throw new ControlError('timeout', sayWhatCame(wanted, timeout, came, near_misses), [])
      }
      if (hasCome || isOver) continue
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    leave()
    clearTimeout(timer)
    leaving.abort()
  }
}

/** The number of requests in the journal of the account. */
async function countOf(scope: AccountScope): Promise<number> {
  return (await scope.ask('verifyRequests', { body: { match: {} } })).matched
}

async function findRequest(scope: AccountScope, id: string): Promise<RequestReport> {
  const requests = await readRequests(scope.client, 'listRequests', { search: id }, { account: scope.id })
  const found = requests.find(({ request_id }) => request_id === id)
  if (found === undefined) throw new ControlError('not_found', `The journal has dropped the request ${id}.`, [])
  return found
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
