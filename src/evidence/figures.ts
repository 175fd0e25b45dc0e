import { isObject, type Json, pointTo } from '../ground/json.ts'
import { findingOf } from './contract-problems.ts'
import type { Finding } from './finding.ts'
import type { Observation } from './observation.ts'
import type { Permitted } from './permitted.ts'
import { dateOf } from './presentation.ts'
import type { Reading } from './reading.ts'
import { NO_REMARKS, type Remarks } from './remarks.ts'

/** The rule that is judged here. */
const RULE = 'daily-refresh'
const DAY = 24 * 60 * 60
/** So many changes of one record within a day are not one refresh, and not what follows an addition. */
const CHANGES = 3
/** The figures of so many domains are followed. */
const DOMAINS = 10_000
/** Two reads that are further apart than this, in seconds, do not tell when the figures changed between them. */
const APART = 3 * 60 * 60
/** By how many seconds the clocks of one service may differ. */
const SKEW = 60

/** One read of the records. */
interface Read {
  date: number
  domains: string
  text: string
  figures: ReadonlyMap<string, string>
}

/** What is followed of one domain. */
interface Followed {
  /** Since when each of the latest changes may have happened: the Date of the last response before it. */
  since: number[]
}

/**
 * What the records say in the course of time. It is fed in order with the exchanges of one account. Only changes from
 * figures about some mail to others are looked at: a domain that another client removes and adds again has no mail until
 * the next refresh, and policies can follow those of a domain above. All times are those of the header Date.
 */
export class FigureTrack {
  readonly #permitted: Permitted
  #last: Read | undefined
  #followed = new Map<string, Followed>()

  constructor(permitted: Permitted) {
    this.#permitted = permitted
  }

  /** What the next exchange says, together with those before it. */
  take(reading: Reading): Remarks {
    const read = readRecords(reading)
    if (read === undefined) return NO_REMARKS
    const last = this.#last
    this.#last = read
    if (last === undefined || last.domains !== read.domains || read.date < last.date) {
      this.#followed = new Map()
      return NO_REMARKS
    }
    if (last.text === read.text) return NO_REMARKS
    const changed = [...read.figures].filter(([domain, figures]) => {
      const former = last.figures.get(domain)
      return former !== undefined && former !== figures
    })
    if (changed.length === 0) return NO_REMARKS
    const accused = changed.map(([domain]) => domain).filter((domain) => this.#note(domain, last.date, read.date))
    const observation = this.#observeTime(reading, last.date, read.date)
    return {
      findings: accused.length === 0 ? [] : [this.#accuse(reading, accused)],
      observations: observation === undefined ? [] : [observation],
    }
  }

  /** Takes down a change of a record. Returns whether it has changed too often. */
  #note(domain: string, since: number, until: number): boolean {
    const followed = this.#followed.get(domain) ?? { since: [] }
    if (this.#followed.size < DOMAINS) this.#followed.set(domain, followed)
    followed.since.push(since)
    if (followed.since.length > CHANGES) followed.since.shift()
    const [first = since] = followed.since
    return followed.since.length === CHANGES && until - first < DAY
  }

  #accuse(reading: Reading, domains: readonly string[]): Finding {
    const rule = reading.operation?.rules.find(({ id }) => id === RULE)
    const pointer = rule === undefined ? '/paths' : pointTo(`${rule.place}/x-rule`, rule.id)
    const others = domains.length === 1 ? '' : `, and those of ${domains.length - 1} more,`
    return findingOf(reading, this.#permitted.contract, {
      label: 'broken rule',
      rule: RULE,
      what: RULE,
      message: `The figures of ${domains[0]}${others} changed ${CHANGES} times within a day, although they are refreshed once a day.`,
      pointer,
      line: this.#permitted.lineOf(pointer),
    })
  }

  /** Which times of day the refresh can have between two reads. The service may also have another one. */
  #observeTime({ exchange }: Reading, after: number, until: number): Observation | undefined {
    const deciding = this.#permitted.deciding('time of the refresh', ({ settings }) => settings.refresh)
    const [only] = deciding
    if (only === undefined || deciding.length > 1 || until - after > APART) return undefined
    const numbers = this.#permitted.numbersOf(only.id)
    const allowed = numbers.filter((number) => {
      const time = only.values.get(number)
      return time === undefined || isBetween(time, after, until)
    })
    if (allowed.length === 0 || allowed.length === numbers.length) return undefined
    return { allows: allowed.map((number) => ({ [only.id]: number })), evidence: [exchange.id], count: 1 }
  }
}

/** Whether a time of day, as `04:00`, comes between two moments. */
function isBetween(time: string, after: number, until: number): boolean {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const offset = hours * 3600 + minutes * 60
  const next = Math.ceil((after - SKEW - offset) / DAY) * DAY + offset
  return next <= until + SKEW
}

/** The records of a response, where it has any and the contract does not forbid their form. */
function readRecords(reading: Reading): Read | undefined {
  const { operation, outcome } = reading
  const date = dateOf(reading)
  if (date === undefined || outcome.kind !== 'success' || !operation?.rules.some(({ id }) => id === RULE))
    return undefined
  if (!Array.isArray(outcome.data) || !outcome.data.every(isRecord)) return undefined
  const figures = new Map<string, string>()
  for (const { domain, dmarc, dkim, spf, count } of outcome.data) {
    if (Number(count) > 0) figures.set(String(domain), JSON.stringify([dmarc, dkim, spf, count]))
  }
  const domains = outcome.data.map(({ domain }) => String(domain)).toSorted()
  return { date, domains: JSON.stringify(domains), text: outcome.text, figures }
}

function isRecord(value: unknown): value is Json {
  return isObject(value) && typeof value['domain'] === 'string'
}
