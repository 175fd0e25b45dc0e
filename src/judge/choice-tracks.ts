import { formOf } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isOfGate, isRefusedUnread } from './gate.ts'
import { IN_FLIGHT, type QuotaFields, TOLERANCE } from './quota-fields.ts'

/** Follows whether a service knows a key behind another spelling of the scheme. */
export class SchemeTrack {
  /** Whether the latest exchange shows that a key that is valid before and after was refused for the spelling. */
  isShown = false
  #wasAdmitted = false
  #isPending = false

  take({ exchange, operation, outcome }: ReadExchange): void {
    this.isShown = false
    const form = operation && formOf(exchange.request.credentials)
    const isRefused = outcome.kind === 'refusal' && outcome.code === 'unauthorized'
    if (form === 'any-case' && isRefused && this.#wasAdmitted) this.#isPending = true
    if (form !== 'exact') return
    this.isShown = this.#isPending && !isRefused
    this.#wasAdmitted = !isRefused
    this.#isPending = false
  }
}

/**
 * So many refusals and so many successes must each lower what is left by exactly one, and nothing else may lower it.
 * Then it is certain that refusals are charged: another client would have to spend at exactly these moments.
 */
const ENOUGH = { refused: 8, success: 2 }
const ENOUGH_ALONE = { refused: 3, success: 1 }

/** Follows whether refusals lower what is left of the quotas of one key. */
export class ChargeTrack {
  /** Which requests are charged, if the latest exchange shows it. */
  shown: 'authenticated' | 'successful' | undefined
  readonly #enough: typeof ENOUGH
  /** By path, what the latest response said, and when it was complete. */
  readonly #latest = new Map<string, { fields: QuotaFields; until: number }>()
  #steps = { refused: 0, success: 0 }

  constructor(isSoleWriter: boolean) {
    this.#enough = isSoleWriter ? ENOUGH_ALONE : ENOUGH
  }

  take(reading: ReadExchange, fields: QuotaFields | undefined): void {
    this.shown = undefined
    const { operation, exchange, outcome } = reading
    if (operation?.quota === undefined) return
    const last = this.#latest.get(operation.path)
    if (fields === undefined || !fields.isDated || fields.isStrange || isRefusedUnread(reading)) {
      this.#latest.delete(operation.path)
      return
    }
    this.#latest.set(operation.path, { fields, until: exchange.until })
    if (outcome.kind === 'refusal' && isOfGate(outcome.code)) return
    if (last === undefined || exchange.overlaps || exchange.at < last.until) return
    const { limit, remaining, end } = last.fields
    if (remaining === 0 || limit !== fields.limit || Math.abs(end - fields.end) > TOLERANCE) return
    const lowered = remaining - fields.remaining
    const kind = outcome.kind === 'success' ? 'success' : 'refused'
    if (lowered === 1) this.#steps[kind]++
    else if (lowered > 1) this.#steps = { refused: 0, success: 0 }
    else if (kind === 'refused' && -lowered <= IN_FLIGHT) this.shown = 'successful'
    const { refused, success } = this.#steps
    const isEnough = refused >= this.#enough.refused && success >= this.#enough.success
    if (kind === 'refused' && isEnough) this.shown ??= 'authenticated'
  }
}
