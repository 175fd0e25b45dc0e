import type { RequestReport } from '../journal/description.ts'
import type { RequestMatch } from '../journal/match.ts'
import { ControlError } from './control-error.ts'
import { readRequests } from './lists.ts'
import type { RemoteClient } from './remote-client.ts'
import { openEvents, type RequestEvents, type RequestFeed, type RequestWatch, untilOver } from './request-feed.ts'

/** Delivers the requests to a server that is reached over HTTP. */
export class RemoteFeed implements RequestFeed {
  readonly #client: RemoteClient
  readonly #shows: (accountId: string) => boolean

  /** Of the requests of all accounts, it delivers only those that `shows` permits, and those without an account. */
  constructor(client: RemoteClient, shows: (accountId: string) => boolean) {
    this.#client = client
    this.#shows = shows
  }

  open(account: string | undefined, options: unknown): RequestEvents {
    return openEvents<RequestReport>(
      options,
      this.#client.stopping,
      (queue) =>
        this.#follow(account, {
          take: (request) => queue.push(request, JSON.stringify(request).length),
          end: (reason) => queue.end(reason),
        }).leave,
      (request) => request,
    )
  }

  watch(account: string): RequestWatch {
    let came = 0
    let look = (): void => {}
    const { begun, leave } = this.#follow(account, {
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
        await begun
        return untilOver<RequestReport>(timeout, this.#client.stopping, (resolve, reject) => {
          let looking: Promise<unknown> = Promise.resolve()
          look = () => {
            looking = looking
              .then(() => this.#findFirst(account, match))
              .then((found) => found && resolve(found))
              .catch(reject)
          }
          look()
        })
      },
      end: leave,
    }
  }

  /** The oldest request in the journal that matches. */
  async #findFirst(account: string, match: RequestMatch): Promise<RequestReport | undefined> {
    const parameters = { account }
    const { first_match } = await this.#client.call('verifyRequests', { parameters, body: { match } })
    if (first_match === null) return undefined
    const requests = await readRequests(this.#client, 'listRequests', {}, parameters)
    return requests.find(({ request_id }) => request_id === first_match)
  }

  /** Calls `take` with each request that comes after `begun` resolves. */
  #follow(account: string | undefined, { take, end }: FeedReader): { begun: Promise<unknown>; leave(): void } {
    const leaving = new AbortController()
    const { signal } = leaving
    const newest = this.#findNewest(account)
    const follow = async () => {
      // A request that comes before the stream is open is in the journal, so nothing is missed.
      for await (const request of this.#client.stream(account, await newest, signal)) {
        if (account !== undefined || request.account === null || this.#shows(request.account)) take(request)
      }
    }
    follow().then(
      () => end(),
      (reason) => end(signal.aborted || isStop(reason) ? undefined : reason),
    )
    return { begun: newest.catch(() => {}), leave: () => leaving.abort() }
  }

  /** The ordinal of the newest request in the journal; 0 if there is none. */
  async #findNewest(account: string | undefined): Promise<number> {
    const query = { limit: '1' }
    const { requests } =
      account === undefined
        ? await this.#client.call('listAllRequests', { query })
        : await this.#client.call('listRequests', { query, parameters: { account } })
    return requests[0]?.ordinal ?? 0
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
