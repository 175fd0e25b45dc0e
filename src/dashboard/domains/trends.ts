import { signal } from '@preact/signals'
import { chosenAccount } from '../address.ts'
import { call } from '../client.ts'
import type { DmarcRecord, MonitoredDomain } from '../responses.ts'
import { dayBefore } from './monitored.ts'

export const TREND_DAYS = 30
/** The limits of one request: the number of names and their length. A request target has about 8,000 characters. */
const NAMES = 100
const CHARACTERS = 6_000
const KEPT = 20_000
/** How long rows must stay visible before their trends load, in milliseconds. A scroll passes thousands of rows. */
const REST = 120
/** The pause, in milliseconds, after a failure. */
const PAUSE = 3_000

/** The shares of DMARC with the oldest first; null without mail or without a record. */
interface Trend {
  /** Identifies the day and the record of the trend. */
  version: string
  values: readonly (number | null)[]
}

const trends = signal<ReadonlyMap<string, Trend>>(new Map())
let account: string | undefined
let visible: readonly MonitoredDomain[] = []
let today = ''
let timer: ReturnType<typeof setTimeout> | undefined
let loading = false

/** The trend of a domain if it is loaded. An old trend is shown until the new one arrives. */
export function trendOf({ domain }: MonitoredDomain): readonly (number | null)[] | undefined {
  return trends.value.get(domain)?.values
}

/** Sets the visible domains and their day. Their trends are loaded if they stay visible. */
export function showTrends(domains: readonly MonitoredDomain[], day: string): void {
  const chosen = chosenAccount.peek()
  if (account !== chosen) {
    account = chosen
    trends.value = new Map()
  }
  visible = domains
  today = day
  plan(REST)
}

function plan(milliseconds: number): void {
  if (loading) return
  clearTimeout(timer)
  timer = setTimeout(() => void load(), milliseconds)
}

async function load(): Promise<void> {
  const missing = selectMissing()
  const wanted = account
  if (missing.length === 0 || wanted === undefined || wanted !== chosenAccount.peek()) return
  const day = today
  loading = true
  let pause = 0
  try {
    const query = { from: dayBefore(day, TREND_DAYS - 1), to: day, domain: missing.map(({ domain }) => domain).join() }
    const { days } = await call('listDailyRecords', { parameters: { account: wanted }, query })
    if (wanted === chosenAccount.peek()) keep(missing, day, days)
  } catch {
    // The page shows elsewhere that the server does not answer. The figures of the row do not need the trend.
    pause = PAUSE
  } finally {
    loading = false
    plan(pause)
  }
}

/** The visible domains without a trend of today, as many as one request can contain. */
function selectMissing(): readonly MonitoredDomain[] {
  const missing: MonitoredDomain[] = []
  let characters = 0
  for (const domain of visible) {
    if (trends.peek().get(domain.domain)?.version === versionOf(domain, today)) continue
    characters += domain.domain.length + 3
    if (missing.length === NAMES || characters > CHARACTERS) break
    missing.push(domain)
  }
  return missing
}

function keep(
  domains: readonly MonitoredDomain[],
  day: string,
  days: readonly { records: readonly DmarcRecord[] }[],
): void {
  const shares = days.map(({ records }) => new Map(records.map((record) => [record.domain, shareOf(record)])))
  const known = trends.peek()
  const kept = new Map(known.size + domains.length > KEPT ? [] : known)
  for (const domain of domains) {
    const values = shares.map((each) => each.get(domain.domain) ?? null)
    kept.set(domain.domain, { version: versionOf(domain, day), values })
  }
  trends.value = kept
}

/** The share of a record; null without mail. */
export function shareOf({ dmarc, count }: DmarcRecord): number | null {
  return count === 0 ? null : dmarc
}

function versionOf({ record, added_at: addedAt, profile }: MonitoredDomain, day: string): string {
  return `${day} ${addedAt} ${profile} ${JSON.stringify(record)}`
}
