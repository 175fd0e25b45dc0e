import { assignmentsOf } from '../choices/observation.ts'
import { type Deciding, type Permitted, same } from '../choices/permitted.ts'
import type { Operation } from '../contract/api.ts'
import { isRefusedBy } from '../contract/rules.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { RealDate } from '../ground/timers.ts'
import { type ExchangeFindings, FindingCollector, type FindingDraft, NO_FINDINGS } from './exchange-findings.ts'
import { dateOf } from './presentation.ts'
import { SharedCounts } from './shared-counts.ts'

/** What one response says about the quota of its request. */
interface QuotaSample {
  limit: number
  remaining: number
  /** The end of the window in Unix seconds. */
  end: number
  /** The time of the response in Unix seconds, on the clock of the service. */
  date: number | undefined
  /** Whether the service did what was asked, refused it for the quota, or refused it for a later check. */
  kind: 'success' | 'limited' | 'refused'
  /** When the request was sent and answered, in milliseconds on the clock of the recorder. */
  at: number
  until: number
}

/** One window of one path. */
interface QuotaWindow {
  end: number
  limit: number
  /** The smallest `remaining` of the responses that were complete before the next request was sent. */
  least: number | undefined
  /** The responses that were not complete by then. */
  pending: QuotaSample[]
  successes: number
  /** The successes that were complete before the next request was sent. */
  settled: number
  /** Successes that were sent after a response with `remaining` 0. */
  beyond: number
  /** Whether a request was sent before the previous one was answered. */
  overlapped: boolean
  /** How many responses left exactly one less than the one before. */
  steps: number
  /** Whether less was left than own requests explain, or a request was already refused. */
  isSpoilt: boolean
  /** What the latest response says about charges. It counts once the next request shows that it did not overlap. */
  tentative: { kind: 'refused' | 'success'; lowered: number; until: number } | undefined
}

export interface QuotaTrackOptions {
  /** Whether no other client spends the quota of the key. */
  isSoleClient?: boolean
}

/** How many windows of a path are remembered. */
const WINDOWS = 4
/** How many responses of one window may be unsettled at the same time. Beyond that, the oldest is dropped. */
const PENDING = 1_000
/** How far the times of one service may differ, in seconds. */
const TOLERANCE = 2
/** How many requests of other clients may be refused and get their charge back at the same time. */
const IN_FLIGHT = 3
/**
 * This many refusals and this many successes must each lower the rest by exactly one. Only then is it certain that
 * refusals are charged. Another client would have to spend at exactly these moments to give the same picture.
 */
const ENOUGH = { refused: 8, success: 2 }
const ENOUGH_ALONE = { refused: 3, success: 1 }
/**
 * The service gives too few requests if this many windows end with a refusal while a request is left. No window may end
 * in another way, and this many of their responses must leave exactly one less. Another client would have to spend just
 * the last request of each window, and none before, to give the same picture.
 */
const TOO_FEW = { windows: 3, steps: 30 }

/**
 * Follows the quota fields over time. The exchanges of one key must come in order; nothing else than these fields is
 * used. Another client may spend the same quota at any time, and requests may overlap.
 *
 * It says nothing about the assumption whether the keys of an account share their limits. Nothing shows from outside
 * which keys belong to one account, and another key looks like any other client.
 */
export class QuotaTrack {
  readonly #permitted: Permitted
  readonly #enough: typeof ENOUGH
  readonly #isSoleClient: boolean
  readonly #shared: SharedCounts
  /** Refusals that ended a window before nothing was left; absent once a window has ended correctly. */
  #early:
    | { refusals: { operation: Operation; message: string; notes: FindingCollector }[]; steps: number }
    | undefined = {
    refusals: [],
    steps: 0,
  }
  /** When the latest request was over. */
  #latest = Number.NEGATIVE_INFINITY
  /** By path. */
  readonly #windows = new Map<string, QuotaWindow[]>()
  /**
   * When the first request to each path was answered, in Unix seconds on the clock of the service, and whether it found
   * the whole limit.
   */
  readonly #begun = new Map<string, { at: number; isWhole: boolean }>()
  /** The latest Date of each path. */
  readonly #dates = new Map<string, number>()
  /** How many requests lowered what is left by exactly one since another client was last seen to spend. */
  #exact = { refused: 0, success: 0 }
  #chargesRefused: boolean | undefined

  constructor(permitted: Permitted, { isSoleClient = false }: QuotaTrackOptions = {}) {
    this.#permitted = permitted
    this.#isSoleClient = isSoleClient
    this.#enough = isSoleClient ? ENOUGH_ALONE : ENOUGH
    this.#shared = new SharedCounts(isSoleClient)
  }

  /** What the next exchange of the key shows, together with those before it. */
  take(reading: ReadExchange): ExchangeFindings {
    const { operation } = reading
    const sample = operation?.quota && this.#sampleOf(reading, operation.quota.window)
    if (operation === undefined || sample === undefined) {
      this.#judgeSharing(reading, undefined, undefined)
      return NO_FINDINGS
    }
    if (!this.#begun.has(operation.path)) {
      const left = sample.kind === 'success' ? sample.remaining + 1 : sample.remaining
      this.#begun.set(operation.path, { at: timeOf(sample), isWhole: left >= sample.limit })
    }
    const notes = new FindingCollector(reading, this.#permitted)
    this.#judgeLimit(sample, operation, notes)
    this.#judgeStart(sample, operation, notes)
    this.#forgetIfClockJumped(sample, operation.path)
    const window = this.#windowOf(sample, operation, notes)
    this.#settle(window, sample, notes)
    this.#judgeSequence(window, sample, operation, notes)
    this.#judgeSharing(reading, { remaining: sample.remaining, window }, notes)
    window.pending.push(sample)
    if (window.pending.length > PENDING) window.pending.shift()
    return notes.all
  }

  /** Only requests with a valid key count that were charged, or refused because nothing is left. */
  #sampleOf(reading: ReadExchange, window: number): QuotaSample | undefined {
    const { exchange, response, outcome } = reading
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
      const text = response.headers[`x-ratelimit-${name}`] ?? ''
      return /^\d{1,15}$/.test(text) ? Number(text) : undefined
    })
    const kind = this.#kindOf(reading)
    if (kind === undefined || limit === undefined || remaining === undefined || reset === undefined) return undefined
    const date = dateOf(reading)
    const isLeft = reset <= window + 1
    if (outcome.kind === 'unreadable' || remaining > limit || (isLeft && date === undefined)) return undefined
    const end = isLeft ? (date ?? 0) + reset : reset
    return { limit, remaining, end, date, kind, at: exchange.at, until: exchange.until }
  }

  #kindOf({ outcome, failed }: ReadExchange): QuotaSample['kind'] | undefined {
    if (failed !== undefined || outcome.kind === 'unreadable') return undefined
    if (outcome.kind === 'success') return 'success'
    const { code } = outcome
    if (code === 'rate_limited') return 'limited'
    return code === 'unauthorized' ? undefined : 'refused'
  }

  #judgeLimit({ limit }: QuotaSample, operation: Operation, notes: FindingCollector): void {
    const { quota, path } = operation
    if (quota === undefined || limit === quota.limit) return
    const place = pointTo('/paths', path)
    if (limit < quota.limit) {
      notes.find({
        label: 'contract violation',
        what: 'response/headers/x-ratelimit-limit/minimum',
        message: `X-RateLimit-Limit is ${limit}, less than the ${quota.limit} that the document promises.`,
        place: `${place}/x-quota/limit`,
      })
      return
    }
    const grace = this.#permitted.deciding(`grace of ${path}`, (contract) => {
      return same(contract, operation)?.quota?.grace ?? 1
    })
    const fits = (factor: number) => Math.floor(quota.limit * factor) === limit
    if (grace.length === 0 && fits(quota.grace)) return
    // The specification does not say how much higher the limits of a new key are.
    const other: FindingDraft = {
      label: 'another choice',
      what: 'headers/x-ratelimit-limit',
      message: `X-RateLimit-Limit is ${limit}, which is neither the ${quota.limit} of the document nor what an alternative gives to a new key.`,
      place: `${place}/x-quota/grace`,
    }
    if (grace.length === 0) notes.find(other)
    else notes.observe(grace.slice(0, 1), fits, other)
  }

  /** Whether windows start at full hours or with the first request. */
  #judgeStart(sample: QuotaSample, { quota }: Operation, notes: FindingCollector): void {
    const { end, date, limit, remaining, kind } = sample
    const start = this.#permitted.deciding('start of windows', ({ settings }) => settings.quotaWindow)
    const charging = this.#charging
    if (quota === undefined || start.length !== 1 || quota.window <= 4 * TOLERANCE) return
    const [only] = start as [Deciding<string>]
    const offset = end % quota.window
    if (Math.min(offset, quota.window - offset) > TOLERANCE) {
      notes.observe([only], (value: string) => value !== 'aligned')
    }
    // A request that opened the window was not the first one, unless an earlier request got its charge back.
    const isFirst = kind !== 'limited' && remaining === limit - 1
    if (!isFirst || date === undefined || charging === undefined) return
    if (date <= end - quota.window + TOLERANCE || date >= end) return
    const all = assignmentsOf([only, charging].map(({ id }) => [id, this.#permitted.numbersOf(id)]))
    const allowed = all.filter(({ [only.id]: number = 0, [charging.id]: charged = 0 }) => {
      return only.values.get(number) !== 'first-request' || charging.values.get(charged) !== 'authenticated'
    })
    notes.allow(allowed, all.length)
  }

  get #charging(): Deciding<string> | undefined {
    const deciding = this.#permitted.deciding('charged requests', ({ settings }) => settings.chargedRequests)
    return deciding.length === 1 ? deciding[0] : undefined
  }

  /** If the clock was set back, an earlier window can occur again with other charges. */
  #forgetIfClockJumped({ date }: QuotaSample, path: string): void {
    if (date === undefined) return
    const latest = this.#dates.get(path)
    if (latest !== undefined && date < latest - TOLERANCE) this.#windows.delete(path)
    this.#dates.set(path, date)
  }

  #windowOf({ end, limit }: QuotaSample, { path, quota }: Operation, notes: FindingCollector): QuotaWindow {
    const windows = this.#windows.get(path) ?? []
    this.#windows.set(path, windows)
    const tolerance = Math.min(TOLERANCE, (quota?.window ?? 0) / 4)
    const known = windows.find((each) => Math.abs(each.end - end) <= tolerance)
    if (known !== undefined && known.limit === limit) return known
    const fresh: QuotaWindow = {
      end,
      limit,
      least: undefined,
      pending: [],
      successes: 0,
      settled: 0,
      beyond: 0,
      tentative: undefined,
      overlapped: false,
      steps: 0,
      isSpoilt: false,
    }
    if (known !== undefined) {
      // The grace period of a new key can end within a window, but not begin.
      if (limit > known.limit && limit !== quota?.limit) {
        notes.find({
          label: 'unexplained',
          what: 'headers/x-ratelimit-limit/change',
          message: `X-RateLimit-Limit rose from ${known.limit} to ${limit} within one window.`,
          place: `${pointTo('/paths', path)}/x-quota`,
        })
      }
      windows.splice(windows.indexOf(known), 1)
    }
    windows.push(fresh)
    if (windows.length > WINDOWS) windows.shift()
    return fresh
  }

  /** Settles the responses that were complete before this request was sent. */
  #settle(window: QuotaWindow, { at }: QuotaSample, notes: FindingCollector): void {
    window.pending = window.pending.filter((sample) => {
      if (sample.until > at) return true
      window.least = Math.min(window.least ?? Number.POSITIVE_INFINITY, sample.remaining)
      if (sample.kind === 'success') window.settled++
      return false
    })
    const { tentative } = window
    window.tentative = undefined
    if (tentative === undefined || tentative.until > at) return
    const { kind, lowered } = tentative
    if (lowered === 1) this.#exact[kind]++
    else if (lowered > 1) this.#exact = { refused: 0, success: 0 }
    const isCertain = this.#exact.refused >= this.#enough.refused && this.#exact.success >= this.#enough.success
    if (isCertain && this.#chargesRefused === undefined) this.#decideCharges(true, notes)
  }

  #judgeSequence(window: QuotaWindow, sample: QuotaSample, operation: Operation, notes: FindingCollector): void {
    const { kind, remaining, limit, until } = sample
    const { least, pending } = window
    if (pending.length > 0) window.overlapped = true
    // For a moment, another request may have held the last charge and got it back later.
    const isExact = this.#chargesRefused === true || (this.#isSoleClient && !window.overlapped)
    const tolerated = isExact ? 0 : IN_FLIGHT
    if (kind === 'limited' && remaining > 0) {
      notes.find({
        label: 'unexplained',
        what: 'headers/x-ratelimit-remaining/limited',
        message: `The request was refused with rate_limited, and the same response says that ${remaining} of ${limit} requests are left.`,
        place: '/components/headers/X-RateLimit-Remaining',
      })
    }
    if (kind === 'success') window.successes++
    if (kind === 'limited' && this.#isSoleClient && !window.overlapped && least !== undefined && least > 0) {
      this.#accuse(operation, `The request was refused although ${least} of ${limit} requests were left.`, notes)
    }
    this.#judgeEnd(window, sample, operation, notes)
    if (least !== undefined && kind !== 'limited') {
      const lowered = least - remaining
      if (kind === 'refused' && least > 0 && lowered <= 0 && -lowered <= IN_FLIGHT) this.#decideCharges(false, notes)
      if (pending.length === 0) window.tentative = { kind, lowered, until }
      const used = window.settled + (kind === 'success' ? 1 : 0)
      // Every service charges successes. A charge comes back only if a window slides over its request: over these
      // requests after a whole window, and over those before them at any time.
      const begun = this.#begun.get(operation.path)
      const isWithinWindow = begun !== undefined && timeOf(sample) - begun.at < (operation.quota?.window ?? 0)
      const isRaised = begun?.isWhole === true && -lowered > tolerated
      if (isWithinWindow && (isRaised || remaining > Math.max(0, limit - used))) {
        const reason = `X-RateLimit-Remaining is ${remaining} of ${limit} after it was ${least} in the same window, in which ${used} requests have succeeded.`
        notes.find({
          label: 'unexplained',
          what: 'headers/x-ratelimit-remaining/rise',
          message: reason,
          place: '/components/headers/X-RateLimit-Remaining',
        })
      }
    }
    if (kind !== 'success') return
    if (least === 0) window.beyond++
    if (window.successes > limit || window.beyond > tolerated) {
      const until = new RealDate(window.end * 1000).toISOString()
      const reason = `The request succeeded although the limit of ${limit} requests was used up until ${until}.`
      this.#accuse(operation, reason, notes)
    }
  }

  /** Whether windows end too early. A single window does not show it: another client may have had the last request. */
  #judgeEnd(
    window: QuotaWindow,
    { kind, remaining, limit }: QuotaSample,
    operation: Operation,
    notes: FindingCollector,
  ): void {
    const { least, overlapped, isSpoilt } = window
    if (least === undefined) return
    if (kind !== 'limited') {
      if (least - remaining === 1) window.steps++
      else if (least - remaining > 1) window.isSpoilt = true
      return
    }
    window.isSpoilt = true
    if (this.#early === undefined || overlapped || isSpoilt) return
    if (least === 0) {
      this.#early = undefined
      return
    }
    const { refusals } = this.#early
    const message = `The request was refused although ${least} of ${limit} requests were left, as at the end of each other window.`
    refusals.push({ operation, message, notes: new FindingCollector(notes.reading, this.#permitted) })
    this.#early.steps += window.steps
    if (refusals.length < TOO_FEW.windows || this.#early.steps < TOO_FEW.steps) return
    for (const refusal of refusals.splice(0)) {
      this.#accuse(refusal.operation, refusal.message, refusal.notes)
      notes.add(refusal.notes)
    }
  }

  /** Whether the paths share one count. */
  #judgeSharing(
    reading: ReadExchange,
    sample: { remaining: number; window: QuotaWindow } | undefined,
    notes?: FindingCollector,
  ): void {
    const { exchange, operation } = reading
    const fall = this.#shared.take({
      path: operation?.path ?? '',
      kind: operation?.quota === undefined ? undefined : this.#kindOf(reading),
      sample,
      overlaps: exchange.at < this.#latest,
    })
    this.#latest = Math.max(this.#latest, exchange.until)
    if (fall === undefined) return
    const { by, own, others } = fall
    notes?.find({
      label: 'unexplained',
      what: 'headers/x-ratelimit-remaining/shared',
      message: `X-RateLimit-Remaining fell by ${by}: by ${own} for this path and by ${others} for requests to other paths, as each time before. The paths share one count.`,
      place: '/components/headers/X-RateLimit-Remaining',
    })
  }

  #accuse(operation: Operation, message: string, notes: FindingCollector): void {
    const rule = operation.rules.find((each) => isRefusedBy(each, 'rate_limited', undefined))
    notes.find({
      label: 'broken rule',
      ...(rule && { rule: rule.id }),
      what: rule?.id ?? 'limit',
      message,
      place: rule === undefined ? pointTo('/paths', operation.path) : pointTo(`${rule.place}/x-rule`, rule.id),
    })
  }

  #decideCharges(chargesRefused: boolean, notes: FindingCollector): void {
    const charging = this.#charging
    if (charging === undefined) return
    this.#chargesRefused = chargesRefused
    const expected = chargesRefused ? 'authenticated' : 'successful'
    notes.observe([charging], (value: string) => value === expected)
  }
}

/** When a response was sent, in Unix seconds: by the clock of the service if it tells its time. */
function timeOf({ date, until }: QuotaSample): number {
  return date ?? until / 1000
}
