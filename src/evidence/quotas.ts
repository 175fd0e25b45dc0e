import type { Operation } from '../contract/api.ts'
import { isRefusedBy } from '../contract/rules.ts'
import { pointTo } from '../ground/json.ts'
import { findingOf } from './contract-problems.ts'
import type { Finding } from './finding.ts'
import type { Assignment, Observation } from './observation.ts'
import { type Deciding, type Permitted, same } from './permitted.ts'
import { dateOf } from './presentation.ts'
import type { Reading } from './reading.ts'
import type { Remarks } from './remarks.ts'
import { SharedCounts } from './shared-counts.ts'

/** What one response says about the quota of its request. */
interface Sample {
  limit: number
  remaining: number
  /** The end of the window in Unix seconds. */
  end: number
  /** Of the response, in Unix seconds on the clock of the service. */
  date: number | undefined
  /** Whether the service did what was asked, refused it for the quota, or refused it later. */
  kind: 'success' | 'limited' | 'refused'
  /** When it was sent and answered, in milliseconds on the clock of the recorder. */
  at: number
  until: number
}

/** One window of one path. */
interface Window {
  end: number
  limit: number
  /** The smallest `remaining` of the responses that were complete before the next request was sent. */
  least: number | undefined
  /** Responses that were not. */
  pending: Sample[]
  successes: number
  /** Those of them that were complete before the next request was sent. */
  settled: number
  /** Successes that were sent after a response had said that nothing is left. */
  beyond: number
  /** Whether any of its requests was sent before the one before it was answered. */
  overlapped: boolean
  /** Responses that left exactly one less than the one before. */
  steps: number
  /** Whether less was left than own requests explain, or a request was refused already. */
  isSpoilt: boolean
  /** What the latest response says of charges, until the next request shows that it did not overlap. */
  tentative: { kind: 'refused' | 'success'; lowered: number; until: number } | undefined
}

export interface QuotaTrackOptions {
  /** Whether nobody else spends the quota of the key. */
  isSoleClient?: boolean
}

/** How many windows of a path are remembered. */
const WINDOWS = 4
/** How many responses of one window may be open at the same time; of more, the oldest are forgotten. */
const PENDING = 1_000
/** By how many seconds the times of one service may differ. */
const TOLERANCE = 2
/** How many requests of other clients may be refused, and their charge taken back, at the same time. */
const IN_FLIGHT = 3
/**
 * So many refusals must each have lowered what is left by exactly one, and so many successes too, before it is taken for
 * certain that refusals count. Another client that spends just then would have to meet each of them exactly.
 */
const ENOUGH = { refused: 8, success: 2 }
const ENOUGH_ALONE = { refused: 3, success: 1 }
/**
 * So many windows must each have ended with a refusal while a request was left, none in another way, and so many responses
 * of them must have left exactly one less, before it is taken for certain that the service gives too few: another client
 * would have to spend just the last request each time, and none before.
 */
const TOO_FEW = { windows: 3, steps: 30 }

/**
 * What the fields about the quota say in the course of time. It is fed in order with the exchanges of one key and knows
 * nothing but these fields. Another client may spend the same quota at any time, and requests may overlap.
 *
 * It says nothing about the assumption whether the keys of an account share their limits: which keys belong to one
 * account cannot be seen from outside, and what another key spends looks like any other client.
 */
export class QuotaTrack {
  readonly #permitted: Permitted
  readonly #enough: typeof ENOUGH
  readonly #isSoleClient: boolean
  readonly #shared: SharedCounts
  /** What ended windows before nothing was left; absent once a window has ended as it should. */
  #early: { refusals: { operation: Operation; message: string; notes: Notes }[]; steps: number } | undefined = {
    refusals: [],
    steps: 0,
  }
  /** Until when the latest request was under way. */
  #latest = Number.NEGATIVE_INFINITY
  /** By path. */
  readonly #windows = new Map<string, Window[]>()
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

  /** What the next exchange of the key says, together with those before it. */
  take(reading: Reading): Remarks {
    const { operation } = reading
    const sample = operation?.quota && this.#sampleOf(reading, operation.quota.window)
    if (operation === undefined || sample === undefined) {
      this.#judgeSharing(reading, undefined, undefined)
      return { findings: [], observations: [] }
    }
    const notes = new Notes(reading, this.#permitted)
    this.#judgeLimit(sample, operation, notes)
    this.#judgeStart(sample, operation, notes)
    this.#forgetIfClockJumped(sample, operation.path)
    const window = this.#windowOf(sample, operation, notes)
    this.#settle(window, sample, notes)
    this.#judgeSequence(window, sample, operation, notes)
    this.#judgeSharing(reading, { remaining: sample.remaining, window }, notes)
    window.pending.push(sample)
    if (window.pending.length > PENDING) window.pending.shift()
    return notes.remarks
  }

  /** Only responses to requests with a valid key that were charged, or refused because nothing is left. */
  #sampleOf(reading: Reading, window: number): Sample | undefined {
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

  #kindOf({ outcome }: Reading): Sample['kind'] | undefined {
    if (outcome.kind === 'success') return 'success'
    if (outcome.kind !== 'refusal') return undefined
    const { code } = outcome
    if (code === 'rate_limited') return 'limited'
    if (code === 'unauthorized' || code === 'internal_error') return undefined
    return 'refused'
  }

  #judgeLimit({ limit }: Sample, operation: Operation, notes: Notes): void {
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
    const [only] = grace
    const numbers = only === undefined ? [] : numbersWhere(only, this.#permitted, fits)
    if (only !== undefined && numbers.length > 0) notes.allow(numbers.map((number) => ({ [only.id]: number })))
    else {
      // The specification does not say how much higher the limits of a new key are.
      notes.find({
        label: 'cannot tell',
        what: 'headers/x-ratelimit-limit',
        message: `X-RateLimit-Limit is ${limit}, which is neither the ${quota.limit} of the document nor what an alternative gives to a new key.`,
        place: `${place}/x-quota/grace`,
      })
    }
  }

  /** Whether windows start at full hours or with the first request. */
  #judgeStart(sample: Sample, { quota }: Operation, notes: Notes): void {
    const { end, date, limit, remaining, kind } = sample
    const start = this.#permitted.deciding('start of windows', ({ settings }) => settings.quotaWindow)
    const charging = this.#charging
    if (quota === undefined || start.length !== 1 || quota.window <= 4 * TOLERANCE) return
    const [only] = start as [Deciding<string>]
    const offset = end % quota.window
    if (Math.min(offset, quota.window - offset) > TOLERANCE) {
      const numbers = numbersWhere(only, this.#permitted, (value) => value !== 'aligned')
      if (numbers.length > 0) notes.allow(numbers.map((number) => ({ [only.id]: number })))
    }
    // A request that opened the window did not start it, unless one before it was charged and got that back.
    const isFirst = kind !== 'limited' && remaining === limit - 1
    if (!isFirst || date === undefined || charging === undefined) return
    if (date <= end - quota.window + TOLERANCE || date >= end) return
    const allowed: Assignment[] = []
    let size = 0
    for (const number of this.#permitted.numbersOf(only.id)) {
      for (const charged of this.#permitted.numbersOf(charging.id)) {
        size++
        const isRefuted =
          only.values.get(number) === 'first-request' && charging.values.get(charged) === 'authenticated'
        if (!isRefuted) allowed.push({ [only.id]: number, [charging.id]: charged })
      }
    }
    if (allowed.length > 0 && allowed.length < size) notes.allow(allowed)
  }

  get #charging(): Deciding<string> | undefined {
    const deciding = this.#permitted.deciding('charged requests', ({ settings }) => settings.chargedRequests)
    return deciding.length === 1 ? deciding[0] : undefined
  }

  /** A clock that was set back can bring an earlier window again, with other charges. */
  #forgetIfClockJumped({ date }: Sample, path: string): void {
    if (date === undefined) return
    const latest = this.#dates.get(path)
    if (latest !== undefined && date < latest - TOLERANCE) this.#windows.delete(path)
    this.#dates.set(path, date)
  }

  #windowOf({ end, limit }: Sample, { path, quota }: Operation, notes: Notes): Window {
    const windows = this.#windows.get(path) ?? []
    this.#windows.set(path, windows)
    const tolerance = Math.min(TOLERANCE, (quota?.window ?? 0) / 4)
    const known = windows.find((each) => Math.abs(each.end - end) <= tolerance)
    if (known !== undefined && known.limit === limit) return known
    const fresh: Window = {
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
      // The days of grace can end within a window, but not begin.
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

  /** Takes over what was complete before this request was sent. */
  #settle(window: Window, { at }: Sample, notes: Notes): void {
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

  #judgeSequence(window: Window, sample: Sample, operation: Operation, notes: Notes): void {
    const { kind, remaining, limit, until } = sample
    const { least, pending } = window
    if (pending.length > 0) window.overlapped = true
    // A charge that is taken back later may have been the last one for a moment.
    const isExact = this.#chargesRefused === true || (this.#isSoleClient && !window.overlapped)
    const tolerated = isExact ? 0 : IN_FLIGHT
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
      // Whatever else is charged, successes are, and nobody gets them back.
      if (-lowered > tolerated || remaining > Math.max(0, limit - used)) {
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
      const until = new Date(window.end * 1000).toISOString()
      const reason = `The request succeeded although the limit of ${limit} requests was used up until ${until}.`
      this.#accuse(operation, reason, notes)
    }
  }

  /** Whether windows end too early, which one of them does not tell: another client may have had the last request. */
  #judgeEnd(window: Window, { kind, remaining, limit }: Sample, operation: Operation, notes: Notes): void {
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
    refusals.push({ operation, message, notes: notes.again() })
    this.#early.steps += window.steps
    if (refusals.length < TOO_FEW.windows || this.#early.steps < TOO_FEW.steps) return
    for (const refusal of refusals.splice(0)) {
      this.#accuse(refusal.operation, refusal.message, refusal.notes)
      notes.add(refusal.notes)
    }
  }

  /** Whether the paths share one count. */
  #judgeSharing(reading: Reading, sample: { remaining: number; window: Window } | undefined, notes?: Notes): void {
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

  #accuse(operation: Operation, message: string, notes: Notes): void {
    const rule = operation.rules.find((each) => isRefusedBy(each, 'rate_limited', undefined))
    notes.find({
      label: 'broken rule',
      ...(rule && { rule: rule.id }),
      what: rule?.id ?? 'limit',
      message,
      place: rule === undefined ? pointTo('/paths', operation.path) : pointTo(`${rule.place}/x-rule`, rule.id),
    })
  }

  #decideCharges(chargesRefused: boolean, notes: Notes): void {
    const charging = this.#charging
    if (charging === undefined) return
    this.#chargesRefused = chargesRefused
    const expected = chargesRefused ? 'authenticated' : 'successful'
    const numbers = numbersWhere(charging, this.#permitted, (value) => value === expected)
    if (numbers.length > 0) notes.allow(numbers.map((number) => ({ [charging.id]: number })))
  }
}

function numbersWhere<Value>(
  { id, values }: Deciding<Value>,
  permitted: Permitted,
  accepts: (value: Value) => boolean,
): number[] {
  return permitted.numbersOf(id).filter((number) => {
    const value = values.get(number)
    return value === undefined || accepts(value)
  })
}

/** Collects what one exchange says. */
class Notes {
  readonly #reading: Reading
  readonly #permitted: Permitted
  readonly #findings: Finding[] = []
  readonly #observations: Observation[] = []

  constructor(reading: Reading, permitted: Permitted) {
    this.#reading = reading
    this.#permitted = permitted
  }

  get remarks(): Remarks {
    return { findings: this.#findings, observations: this.#observations }
  }

  /** Empty notes about the same exchange. */
  again(): Notes {
    return new Notes(this.#reading, this.#permitted)
  }

  add({ remarks }: Notes): void {
    this.#findings.push(...remarks.findings)
  }

  allow(allows: readonly Assignment[]): void {
    this.#observations.push({ allows, evidence: [this.#reading.exchange.id], count: 1 })
  }

  find({ place, ...finding }: Parameters<typeof findingOf>[2] & { place: string }): void {
    const { lineOf, contract } = this.#permitted
    this.#findings.push(findingOf(this.#reading, contract, { ...finding, pointer: place, line: lineOf(place) }))
  }
}
