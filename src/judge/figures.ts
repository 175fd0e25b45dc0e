import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject, type Json } from '../ground/json.ts'
import type { Report } from './findings.ts'

const DAY = 24 * 3_600_000
/** This many changes of one record within a day are neither one refresh nor the effect of an addition. */
const CHANGES = 3
/** How many domains are followed. */
const FOLLOWED = 10_000

/** One read of the records. */
interface Read {
  at: number
  text: string
  /** How many records there are, and of which domains. */
  count: number
  domains: ReadonlySet<string>
  /** The records of the domains that have mail. */
  figures: ReadonlyMap<string, Json>
}

/**
 * Follows the figures of the records of one account, which are refreshed once a day. All times are those of the Date
 * field. Only changes from non-zero figures to others count: a domain that another client removes and adds again has no
 * mail until the next refresh, and the policy of a domain can follow that of a parent domain.
 */
export class FigureTrack {
  #last: Read | undefined
  /** For each domain and each of its latest changes: when it was last seen unchanged. */
  #unchanged = new Map<string, number[]>()
  /** If the latest read has other figures than the one before it, their times. */
  change: { since: number; until: number } | undefined

  /** Reports what the next list of records shows, together with those before it. */
  take(reading: ReadExchange, report: Report): void {
    const last = this.#last
    this.change = undefined
    if (reading.operation?.id !== 'listDmarc') return
    if (reading.outcome.kind === 'success' && reading.outcome.text === last?.text) {
      last.at = Math.max(last.at, reading.sentAt ?? last.at)
      return
    }
    const read = readRecords(reading)
    if (read === undefined) return
    this.#last = read
    if (last === undefined || !areSame(last, read) || read.at < last.at) {
      this.#unchanged = new Map()
      return
    }
    const changed = [...read.figures].filter(([domain, record]) =>
      isChanged(last.figures.get(domain) ?? record, record),
    )
    if (changed.length > 0) this.change = { since: last.at, until: read.at }
    const often = changed.map(([domain]) => domain).filter((domain) => this.#note(domain, last.at, read.at))
    const [first] = often
    if (first === undefined) return
    const others = often.length === 1 ? '' : `, and those of ${often.length - 1} more,`
    const message = `The figures of ${first}${others} changed ${CHANGES} times within a day.`
    report({ rule: 'daily-refresh', what: 'data', message })
  }

  /** Records a change between two moments. Returns whether the record has changed too often. */
  #note(domain: string, since: number, until: number): boolean {
    const known = this.#unchanged.get(domain) ?? []
    if (this.#unchanged.size >= FOLLOWED && known.length === 0) return false
    const latest = [...known, since].slice(-CHANGES)
    this.#unchanged.set(domain, latest)
    return latest.length === CHANGES && until - (latest[0] ?? since) < DAY
  }
}

/** The records of a response; `undefined` if it has none, or does not say when it was sent. */
function readRecords({ outcome, sentAt: at }: ReadExchange): Read | undefined {
  if (at === undefined || outcome.kind !== 'success') return undefined
  if (!Array.isArray(outcome.data) || !outcome.data.every(isRecord)) return undefined
  const domains = new Set<string>()
  const figures = new Map<string, Json>()
  for (const record of outcome.data) {
    domains.add(record.domain)
    if (Number(record['count']) > 0) figures.set(record.domain, record)
  }
  return { at, text: outcome.text, count: outcome.data.length, domains, figures }
}

/** Whether both lists have records of the same domains. */
function areSame(one: Read, other: Read): boolean {
  if (one.count !== other.count) return false
  for (const domain of other.domains) if (!one.domains.has(domain)) return false
  return one.domains.size === other.domains.size
}

function isChanged(former: Json, record: Json): boolean {
  return FIGURES.some((name) => former[name] !== record[name] && String(former[name]) !== String(record[name]))
}

const FIGURES = ['dmarc', 'dkim', 'spf', 'count']

function isRecord(value: unknown): value is Json & { domain: string } {
  return isObject(value) && typeof value['domain'] === 'string'
}
