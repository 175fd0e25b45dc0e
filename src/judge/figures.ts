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
  /** By domain. */
  records: ReadonlyMap<unknown, Json>
}

/**
 * Follows the figures of the records of one account, which are refreshed once a day. All times are those of the Date
 * field. Only changes from non-zero figures to others count: a domain that another client removes and adds again has no
 * mail until the next refresh, and the policy of a domain can follow that of a parent domain.
 */
export class FigureTrack {
  #last: Read | undefined
  /** For each domain and each of its latest changes: when it was last seen unchanged. */
  #unchanged = new Map<unknown, number[]>()
  /** If the latest read has other figures than the one before it, their times. */
  change: { since: number; until: number } | undefined

  /** Reports what the next list of records shows, together with those before it. */
  take({ operation, outcome, sentAt }: ReadExchange, report: Report): void {
    const last = this.#last
    this.change = undefined
    if (operation?.id !== 'listDmarc' || outcome.kind !== 'success') return
    if (outcome.text === last?.text) {
      last.at = Math.max(last.at, sentAt ?? last.at)
      return
    }
    if (sentAt === undefined || !Array.isArray(outcome.data) || !outcome.data.every(isObject)) return
    const records = new Map(outcome.data.map((record): [unknown, Json] => [record['domain'], record]))
    this.#last = { at: sentAt, text: outcome.text, records }
    const isComparable = last !== undefined && records.size === last.records.size && sentAt >= last.at
    if (!isComparable || ![...records.keys()].every((domain) => last.records.has(domain))) {
      this.#unchanged = new Map()
      return
    }
    const changed = [...records].filter(([domain, record]) => isChanged(last.records.get(domain) ?? record, record))
    if (changed.length > 0) this.change = { since: last.at, until: sentAt }
    const often = changed.map(([domain]) => domain).filter((domain) => this.#note(domain, last.at, sentAt))
    if (often.length === 0) return
    const others = often.length === 1 ? '' : `, and those of ${often.length - 1} more,`
    const message = `The figures of ${often[0]}${others} changed ${CHANGES} times within a day.`
    report({ rule: 'daily-refresh', what: 'data', message })
  }

  /** Records a change between two moments. Returns whether the record has changed too often. */
  #note(domain: unknown, since: number, until: number): boolean {
    const known = this.#unchanged.get(domain) ?? []
    if (this.#unchanged.size >= FOLLOWED && known.length === 0) return false
    const latest = [...known, since].slice(-CHANGES)
    this.#unchanged.set(domain, latest)
    return latest.length === CHANGES && until - (latest[0] ?? since) < DAY
  }
}

function isChanged(former: Json, record: Json): boolean {
  if (!(Number(former['count']) > 0 && Number(record['count']) > 0)) return false
  return FIGURES.some((name) => former[name] !== record[name] && String(former[name]) !== String(record[name]))
}

const FIGURES = ['dmarc', 'dkim', 'spf', 'count']
