import type { RequestReport } from '../journal/description.ts'
import type { RequestMatch } from '../journal/match.ts'
import { ControlError } from './control-error.ts'
import { readRequests } from './lists.ts'
import type { RemoteClient } from './remote-client.ts'
import { openEvents, type RequestEvents, type RequestFeed, type RequestWatch, untilOver } from './request-feed.ts'

/**
 * Delivers the requests to a server that is reached over HTTP. The events of an account begin after the last of its
 * requests that this program has read in a list or as an event. "From now on" would have no meaning here: a request may
 * overtake the call that asks for events.
 */
export class RemoteFeed implements RequestFeed {
  readonly #client: RemoteClient
  readonly #shows: (accountId: string) => boolean
  /** By account: the ordinal of the last request that was read. For all accounts together, the key is `undefined`. */
  readonly #read = new Map<string | undefined, number>()

  /** Of the requests of all accounts, it delivers only those that `shows` permits, and those without an account. */
  constructor(client: RemoteClient, shows: (accountId: string) => boolean) {
    this.#client = client
    this.#shows = shows
  }

  /** Notes that the program has read these requests of an account, or of all accounts. */
  note(account: string | undefined, requests: readonly RequestReport[]): void {
    this.#read.set(account, Math.max(this.#read.get(account) ?? 0, ...requests.map(({ ordinal }) => ordinal)))
  }

  open(account: string | undefined, options: unknown): RequestEvents {
    return openEvents<RequestReport>(
      options,
      this.#client.stopping,
      (queue) =>
        this.#follow(account, this.#read.get(account) ?? 0, {
          take: (request) => queue.push(request, JSON.stringify(request).length),
          end: (reason) => queue.end(reason),
        }),
      (request) => {
        this.note(account, [request])
        return request
      },
    )
  }

  watch(account: string): RequestWatch {
    let came = 0
    let look = (): void => {}
    const newest = this.#findNewest(account)
    // The search fails for the same reason.
    newest.catch(() => {})
    const leave = this.#follow(account, newest, {
      take() {
        came++
        look()
      },
      // The next call says why.
      end() {},
    })
    return {
      get came() {
        return came
      },
      find: async (match, timeout) => {
        await newest
        const before = came
        const first = await this.#findFirst(account, match)
        if (first !== undefined) return first
        return untilOver<RequestReport>(timeout, this.#client.stopping, (resolve, reject) => {
          let looking: Promise<unknown> = Promise.resolve()
          look = () => {
            looking = looking
              .then(() => this.#findFirst(account, match))
              .then((found) => found && resolve(found))
              .catch(reject)
          }
          if (came > before) look()
        })
      },
      end: leave,
    }
  }

  /** The ordinal of the newest request in the journal; 0 if there is none. */
  async #findNewest(account: string): Promise<number> {
    const place = { parameters: { account }, query: { limit: '1' } }
    const { requests } = await this.#client.call('listRequests', place)
    return requests[0]?.ordinal ?? 0
  }

  /** The oldest request in the journal that matches. */
  async #findFirst(account: string, match: RequestMatch): Promise<RequestReport | undefined> {
    const parameters = { account }
    const { first_match } = await this.#client.call('verifyRequests', { parameters, body: { match } })
    if (first_match === null) return undefined
    const requests = await readRequests(this.#client, 'listRequests', {}, parameters)
    return requests.find(({ request_id }) => request_id === first_match)
  }

  /** Calls `take` with each request after the one with this ordinal. The returned function ends this. */
  #follow(account: string | undefined, after: number | Promise<number>, { take, end }: FeedReader): () => void {
    const leaving = new AbortController()
    const { signal } = leaving
    const follow = async () => {
      for await (const request of this.#client.stream(account, await after, signal)) {
        if (account !== undefined || request.account === null || this.#shows(request.account)) take(request)
      }
    }
    follow().then(
      () => end(),
      (reason) => end(signal.aborted || isStop(reason) ? undefined : reason),
    )
    return () => leaving.abort()
  }
}

interface FeedReader {
  take(request: RequestReport): void
  /** Called after the last request, with the reason if there should be more. */
  end(reason?: unknown): void
}

/** Whether a stream ended because there is no server any more, which ends the events of any server. */
function isStop(reason: unknown): boolean {
  return reason instanceof ControlError && reason.code === 'stopped'
}
