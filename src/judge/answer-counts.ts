import { REDACTED } from '../exchanges/keys.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import type { JudgedDifference } from './finding.ts'

/** Something that exchanges do not tell: why, how often, and what would let it be told. */
export interface Untold {
  reason: string
  times: number
  remedy: string
}

type UntoldReason = Omit<Untold, 'times'>

/** By the end of the id of a finding. */
const REASONS: Readonly<Record<string, UntoldReason>> = {
  gateway: {
    reason: 'A gateway answered in place of the service.',
    remedy: 'Record again when the service answers.',
  },
  page: {
    reason: 'A page came in place of an answer of the service, such as that of a firewall or a login.',
    remedy: 'Check the base URL, and record again where nothing else answers.',
  },
  changed: {
    reason: 'Another client may have changed the account.',
    remedy: 'Give --sole-writer if no other client did.',
  },
  overlap: {
    reason: 'The request overlapped with one that may change the account, so their order is not known.',
    remedy: 'Send such requests one after the other.',
  },
}
const ANY_REASON: UntoldReason = {
  reason: 'It depends on what is not known of the account, or of the choices of the service.',
  remedy: 'A longer recording, or dmarc-understudy verify, can show which.',
}

/** Why a finding `cannot tell` does not tell, and what would. */
export function reasonOf({ id }: Pick<JudgedDifference, 'id'>): UntoldReason {
  return REASONS[id.slice(id.lastIndexOf('/') + 1)] ?? ANY_REASON
}

/** How many different reasons are counted. Some contain a status, and there are hundreds of statuses. */
const MOST_REASONS = 50

/** Counts the answers of a service, and why some of them do not tell whether its behaviour is right. */
export class AnswerCounts {
  /** How often each operation answered with each status, as `listDomains/200`. */
  readonly counts = new Map<string, number>()
  readonly #untold = new Map<string, Untold>()

  note(reading: ReadExchange): void {
    const { exchange, operation, response } = reading
    if (exchange.response !== undefined) {
      const answer = `${operation?.id ?? `${exchange.request.method} outside`}/${response.status}`
      this.counts.set(answer, (this.counts.get(answer) ?? 0) + 1)
    }
    const reason = reasonAgainst(reading)
    if (reason !== undefined) this.#count(reason)
  }

  noteFinding(finding: JudgedDifference): void {
    if (finding.label === 'cannot tell') this.#count(reasonOf(finding))
  }

  /** Everything that the exchanges do not tell; the most frequent reason first. */
  get untold(): readonly Untold[] {
    return [...this.#untold.values()].toSorted((one, other) => other.times - one.times)
  }

  #count(found: UntoldReason): void {
    const known = this.#untold.get(found.reason)
    if (known !== undefined) known.times++
    else if (this.#untold.size < MOST_REASONS) this.#untold.set(found.reason, { ...found, times: 1 })
  }
}

/** Why an exchange shows nothing of the behaviour, and what would help. Of a gateway or a page, there is a finding. */
function reasonAgainst({ exchange, operation, outcome, failed, response }: ReadExchange): UntoldReason | undefined {
  const { method, body: sent } = exchange.request
  const { status } = response
  if (exchange.response === undefined)
    return because('No response was recorded, or none with header fields.', 'Record whole responses.')
  if (failed === 'gateway' || failed === 'page') return undefined
  if (method === 'HEAD') return because('A response to HEAD has no body.', 'Send GET.')
  for (const body of operation?.readsBody ? [response.body, sent] : [response.body]) {
    if (!body.isKnown) return because(body.reason, body.reason === REDACTED ? USE_NO_KEY : RECORD_BODIES)
  }
  if (failed !== undefined) return because(`The service failed with ${status}.`, 'Record again when the service works.')
  if (status < 400) return undefined
  if (outcome.kind === 'unreadable') {
    const reason = `A response with ${status} has not the envelope of the service.`
    return because(reason, 'Check the base URL and the key.')
  }
  const code = outcome.kind === 'refusal' ? outcome.code : undefined
  if (code === 'rate_limited') {
    return because('The quota was used up.', 'Record longer, beyond the reset of the quota.')
  }
  return code === 'unauthorized' ? because(`The key was refused with ${status}.`, 'Send a valid key.') : undefined
}

function because(reason: string, remedy: string): UntoldReason {
  return { reason, remedy }
}

const USE_NO_KEY = 'Use names for domains and groups that have no key in them.'
const RECORD_BODIES = 'Record whole bodies, as dmarc-understudy proxy --record does.'
