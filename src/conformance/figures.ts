import type { Permitted } from '../choices/permitted.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject, type Json, pointTo } from '../ground/json.ts'
import { type ExchangeFindings, FindingCollector, NO_FINDINGS } from './exchange-findings.ts'
import { dateOf } from './presentation.ts'

/** The id of the rule that is judged here. */
const RULE = 'daily-refresh'
const DAY = 24 * 60 * 60
/** This many changes of one record within a day are neither one refresh nor the effect of an addition. */
const CHANGES = 3
/** How many domains are followed. */
const DOMAINS = 10_000
/** In seconds. Two reads that are further apart do not show when the figures changed between them. */
const APART = 3 * 60 * 60
/** How far the clocks of one service may differ, in seconds. */
const SKEW = 60

/** One read of the records. */
interface Read {
  date: number
  domains: string
  text: string
  figures: ReadonlyMap<string, string>
}

/** What is known of one domain. */
interface Followed {
  /** For each of the latest changes: the Date of the last response before it. */
  since: number[]
}

/**
 * Follows the figures of the records over time. The exchanges of one account must come in order. All times are those of
 * the Date field. Only changes from non-zero figures to others count. A domain that another client removes and adds
 * again has no mail until the next refresh. The policy of a domain can follow that of a parent domain.
 */
export class FigureTrack {
  readonly #permitted: Permitted
  #last: Read | undefined
  #followed = new Map<string, Followed>()

  constructor(permitted: Permitted) {
    this.#permitted = permitted
  }

  /** What the next exchange shows, together with those before it. */
  take(reading: ReadExchange): ExchangeFindings {
    const read = readRecords(reading)
    if (read === undefined) return NO_FINDINGS
    const last = this.#last
    this.#last = read
    if (last === undefined || last.domains !== read.domains || read.date < last.date) {
      this.#followed = new Map()
      return NO_FINDINGS
    }
    if (last.text === read.text) return NO_FINDINGS
    const changed = [...read.figures].filter(([domain, figures]) => {
      const former = last.figures.get(domain)
      return former !== undefined && former !== figures
    })
    if (changed.length === 0) return NO_FINDINGS
    const accused = changed.map(([domain]) => domain).filter((domain) => this.#note(domain, last.date, read.date))
    const collector = new FindingCollector(reading, this.#permitted)
    if (accused.length > 0) accuse(collector, accused)
    observeTime(collector, last.date, read.date)
    return collector.all
  }

  /** Records a change of a record. Returns whether the record has changed too often. */
  #note(domain: string, since: number, until: number): boolean {
    const followed = this.#followed.get(domain) ?? { since: [] }
    if (this.#followed.size < DOMAINS) this.#followed.set(domain, followed)
    followed.since.push(since)
    if (followed.since.length > CHANGES) followed.since.shift()
    const [first = since] = followed.since
    return followed.since.length === CHANGES && until - first < DAY
  }
}

function accuse(collector: FindingCollector, domains: readonly string[]): void {
  const rule = collector.reading.operation?.rules.find(({ id }) => id === RULE)
  const others = domains.length === 1 ? '' : `, and those of ${domains.length - 1} more,`
  collector.find({
    label: 'broken rule',
    rule: RULE,
    what: RULE,
    message: `The figures of ${domains[0]}${others} changed ${CHANGES} times within a day, although they are refreshed once a day.`,
    place: rule === undefined ? '/paths' : pointTo(`${rule.place}/x-rule`, rule.id),
  })
}

/** The times of day that the refresh can have between two reads. It may also have a time of no alternative. */
function observeTime(collector: FindingCollector, after: number, until: number): void {
  const deciding = collector.permitted.deciding('time of the refresh', ({ settings }) => settings.refresh)
  if (deciding.length > 1 || until - after > APART) return
  collector.observe(deciding, (time: string) => isBetween(time, after, until))
}

/** Whether a time of day, such as `04:00`, comes between two moments. */
function isBetween(time: string, after: number, until: number): boolean {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const offset = hours * 3600 + minutes * 60
  const next = Math.ceil((after - SKEW - offset) / DAY) * DAY + offset
  return next <= until + SKEW
}

/** The records of a response; `undefined` if it has none or the contract forbids their form. */
function readRecords(reading: ReadExchange): Read | undefined {
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
