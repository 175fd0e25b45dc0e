import type { Operation } from '../contract/api.ts'
import { REDACTED } from '../exchanges/keys.ts'
import type { ReadExchange } from '../exchanges/reading.ts'

/** Something that exchanges do not tell: why, how often, and what would let it be told. */
export interface Untold {
  reason: string
  times: number
  remedy: string
}

export type UntoldReason = Omit<Untold, 'times'>

export const GATEWAY: UntoldReason = {
  reason: 'A gateway answered in place of the service.',
  remedy: 'Record again when the service answers.',
}

/** How many different reasons are counted. Some contain a status, and there are hundreds of statuses. */
const MOST_REASONS = 50

/** Counts the answers of a service, and why some of them show nothing of its behaviour. */
export class AnswerCounts {
  /** How often each operation answered with each status, as `listDomains/200`. */
  readonly counts = new Map<string, number>()
  readonly #operations: readonly Operation[]
  readonly #asked = new Set<string>()
  readonly #reasons = new Map<string, Untold>()

  constructor(operations: readonly Operation[]) {
    this.#operations = operations
  }

  note(reading: ReadExchange): void {
    const { exchange, operation, response } = reading
    if (exchange.response !== undefined) {
      const subject = operation?.id ?? `${exchange.request.method} outside`
      const answer = `${subject}/${response.status}`
      this.counts.set(answer, (this.counts.get(answer) ?? 0) + 1)
      this.#asked.add(subject)
    }
    const found = reasonAgainst(reading)
    if (found === undefined) return
    const known = this.#reasons.get(found.reason)
    if (known !== undefined) known.times++
    else if (this.#reasons.size < MOST_REASONS) this.#reasons.set(found.reason, { ...found, times: 1 })
  }

  /** Why the behaviour in some exchanges cannot be judged; the most frequent reason first. */
  get reasons(): readonly Untold[] {
    return [...this.#reasons.values()].toSorted((one, other) => other.times - one.times)
  }

  /** The operations that were not asked, or never answered. */
  get unasked(): readonly string[] {
    return this.#operations.map(({ id }) => id).filter((id) => !this.#asked.has(id))
  }
}

/** Why an exchange shows nothing of the behaviour, if the exchange alone tells it, and what would help. */
function reasonAgainst({ exchange, operation, outcome, failed, response }: ReadExchange): UntoldReason | undefined {
  const { method, body: sent } = exchange.request
  const { status } = response
  if (exchange.response === undefined) {
    return { reason: 'No response was recorded.', remedy: 'Record until the response is there.' }
  }
  if (failed === 'gateway') return GATEWAY
  if (method === 'HEAD') return { reason: 'A response to HEAD has no body.', remedy: 'Send GET.' }
  for (const body of operation?.readsBody ? [response.body, sent] : [response.body]) {
    if (!body.isKnown) return { reason: body.reason, remedy: body.reason === REDACTED ? USE_NO_KEY : RECORD_BODIES }
  }
  if (failed !== undefined) {
    return { reason: `The service failed with ${status}.`, remedy: 'Record again when the service works.' }
  }
  if (outcome.kind === 'unreadable' && status >= 400) {
    const reason = `A response with ${status} has not the envelope of the service.`
    return { reason, remedy: 'Check the base URL and the key.' }
  }
  const code = outcome.kind === 'refusal' && status >= 400 ? outcome.code : undefined
  if (code === 'rate_limited') {
    return { reason: 'The quota was used up.', remedy: 'Record longer, beyond the reset of the quota.' }
  }
  if (code !== 'unauthorized') return undefined
  return { reason: `The key was refused with ${status}.`, remedy: 'Send a valid key.' }
}

const USE_NO_KEY = 'Use names for domains and groups that have no key in them.'
const RECORD_BODIES = 'Record whole bodies, as dmarc-understudy proxy --record does.'
