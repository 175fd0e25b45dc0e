import type { Contract } from '../contract/contract.ts'
import type { Exchange } from '../exchanges/exchange.ts'
import { REDACTED } from '../exchanges/keys.ts'
import { readOutcome, whoFailed } from '../exchanges/reading.ts'
import { createRouter, type Route } from '../http/router.ts'
import { splitTarget } from '../http/target.ts'
import { type Looked, lookedAt } from './baseline.ts'
import { GATEWAY, type Untold, type UntoldReason } from './untold.ts'

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
    const found = reasonAgainst({ request, response }, route.ok && route.operation.readsBody, this.#contract)
    if (found === undefined) return
    const { reason } = found
    const known = this.#reasons.get(reason)
    if (known !== undefined) known.times++
    else if (this.#reasons.size < MOST_REASONS) this.#reasons.set(reason, { ...found, times: 1 })
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
  { request: { method, body: sent }, response }: Pick<Exchange, 'request' | 'response'>,
  readsBody: boolean,
  contract: Contract,
): UntoldReason | undefined {
  if (response === undefined) {
    return { reason: 'No response was recorded.', remedy: 'Record until the response is there.' }
  }
  const { status } = response
  // A success is not read a second time.
  const outcome = status < 400 ? undefined : readOutcome(method, response)
  const failed = outcome && whoFailed(outcome, method, response, contract)
  if (failed === 'gateway') return GATEWAY
  if (method === 'HEAD') return { reason: 'A response to HEAD has no body.', remedy: 'Send GET.' }
  for (const body of readsBody ? [response.body, sent] : [response.body]) {
    if (!body.isKnown) return { reason: body.reason, remedy: body.reason === REDACTED ? USE_NO_KEY : RECORD_BODIES }
  }
  if (failed !== undefined) {
    return { reason: `The service failed with ${status}.`, remedy: 'Record again when the service works.' }
  }
  if (outcome?.kind === 'unreadable') {
    const reason = `A response with ${status} has not the envelope of the service.`
    return { reason, remedy: 'Check the base URL and the key.' }
  }
  const code = outcome?.kind === 'refusal' ? outcome.code : undefined
  if (code === 'rate_limited') {
    return { reason: 'The quota was used up.', remedy: 'Record longer, beyond the reset of the quota.' }
  }
  if (code !== 'unauthorized') return undefined
  return { reason: `The key was refused with ${status}.`, remedy: 'Send a valid key.' }
}

const USE_NO_KEY = 'Use names for domains and groups that have no key in them.'
const RECORD_BODIES = 'Record whole bodies, as dmarc-understudy proxy --record does.'
