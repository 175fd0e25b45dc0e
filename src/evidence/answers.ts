import type { Contract } from '../contract/contract.ts'
import type { Exchange } from '../exchanges/exchange.ts'
import { REDACTED } from '../exchanges/keys.ts'
import { createRouter, type Route } from '../http/router.ts'
import { splitTarget } from '../http/target.ts'
import { type Looked, lookedAt } from './baseline.ts'
import type { Untold } from './untold.ts'

/** How many different reasons are counted. Some contain a status, and there are hundreds of statuses. */
const MOST_REASONS = 50

/** Counts the answers of a service, and why some of them show nothing of its behaviour. */
export class AnswerCounts {
  readonly #contract: Contract
  readonly #route: (method: string, path: string) => Route
  /** By operation and status, as `listDomains/200`. */
  readonly #counts = new Map<string, number>()
  readonly #reasons = new Map<string, Untold>()

  constructor(contract: Contract) {
    this.#contract = contract
    this.#route = createRouter(contract, contract.settings)
  }

  note({ request, response }: Exchange): void {
    const route = this.#route(request.method, splitTarget(request.target).path)
    const subject = route.ok ? route.operation.id : `${request.method} outside`
    if (response !== undefined) {
      const answer = `${subject}/${response.status}`
      this.#counts.set(answer, (this.#counts.get(answer) ?? 0) + 1)
    }
    const found = reasonAgainst({ request, response }, route.ok && route.operation.readsBody)
    if (found === undefined) return
    const [reason, remedy] = found
    const known = this.#reasons.get(reason)
    if (known !== undefined) known.times++
    else if (this.#reasons.size < MOST_REASONS) this.#reasons.set(reason, { reason, times: 1, remedy })
  }

  /** Whether a finding of this id would have been seen. */
  get looked(): Looked {
    return lookedAt(new Set(this.#counts.keys()))
  }

  /** How often each operation answered with each status, as `listDomains/200`. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts
  }

  /** Why the behaviour in some exchanges cannot be judged; the most frequent reason first. */
  get reasons(): readonly Untold[] {
    return [...this.#reasons.values()].toSorted((one, other) => other.times - one.times)
  }

  /** The operations that were not asked, or never answered. */
  get unasked(): readonly string[] {
    const asked = new Set([...this.#counts.keys()].map((answer) => answer.split('/')[0]))
    return this.#contract.operations.map(({ id }) => id).filter((id) => !asked.has(id))
  }
}

/** Why an exchange shows nothing of the behaviour, if the exchange alone tells it, and what would help. */
function reasonAgainst(
  { request, response }: Pick<Exchange, 'request' | 'response'>,
  readsBody: boolean,
): readonly [reason: string, remedy: string] | undefined {
  if (response === undefined) return ['No response was recorded.', 'Record until the response is there.']
  if (request.method === 'HEAD') return ['A response to HEAD has no body.', 'Send GET.']
  for (const body of readsBody ? [response.body, request.body] : [response.body]) {
    if (!body.isKnown) return [body.reason, body.reason === REDACTED ? USE_NO_KEY : RECORD_BODIES]
  }
  const { status } = response
  if (status >= 500) return [`The service failed with ${status}.`, 'Record again when the service works.']
  if (status === 429) return ['The quota was used up.', 'Record longer, beyond the reset of the quota.']
  if (status !== 401 && status !== 403) return undefined
  return [`The key was refused with ${status}.`, 'Send a valid key.']
}

const USE_NO_KEY = 'Use names for domains and groups that have no key in them.'
const RECORD_BODIES = 'Record whole bodies, as dmarc-understudy proxy --record does.'
