import type { Contract } from '../contract/contract.ts'
import type { Exchange } from '../exchanges/exchange.ts'
import { createRouter, type Route } from '../http/router.ts'
import { splitTarget } from '../http/target.ts'
import { type Looked, lookedAt } from './baseline.ts'

/** How many different reasons are counted. Some contain a status, and there are hundreds of statuses. */
const MOST_REASONS = 50

/** Counts the answers of a service, and why some of them show nothing of its behaviour. */
export class AnswerCounts {
  readonly #route: (method: string, path: string) => Route
  /** By operation and status, as `listDomains/200`. */
  readonly #counts = new Map<string, number>()
  readonly #reasons = new Map<string, number>()

  constructor(contract: Contract) {
    this.#route = createRouter(contract, contract.settings)
  }

  note({ request, response }: Exchange): void {
    const route = this.#route(request.method, splitTarget(request.target).path)
    const subject = route.ok ? route.operation.id : `${request.method} outside`
    if (response !== undefined) add(this.#counts, `${subject}/${response.status}`)
    const reason = reasonAgainst({ request, response }, route.ok && route.operation.readsBody)
    if (reason !== undefined && (this.#reasons.has(reason) || this.#reasons.size < MOST_REASONS))
      add(this.#reasons, reason)
  }

  /** Whether a finding of this id would have been seen. */
  get looked(): Looked {
    return lookedAt(new Set(this.#counts.keys()))
  }

  /** How often each operation answered with each status, as `listDomains/200`. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts
  }

  /** Why the behaviour in some exchanges cannot be judged, and how often; the most frequent reason first. */
  get reasons(): readonly (readonly [reason: string, times: number])[] {
    return [...this.#reasons].toSorted(([, one], [, other]) => other - one)
  }
}

/** Why an exchange shows nothing of the behaviour, if the exchange alone tells it. */
function reasonAgainst(
  { request, response }: Pick<Exchange, 'request' | 'response'>,
  readsBody: boolean,
): string | undefined {
  if (response === undefined) return 'No response was recorded.'
  if (request.method === 'HEAD') return 'A response to HEAD has no body.'
  if (!response.body.isKnown) return response.body.reason
  if (readsBody && !request.body.isKnown) return request.body.reason
  if (response.status >= 500) return `The service failed with ${response.status}.`
  if (response.status === 429) return 'The quota was used up.'
  return response.status === 401 || response.status === 403 ? `The key was refused with ${response.status}.` : undefined
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
