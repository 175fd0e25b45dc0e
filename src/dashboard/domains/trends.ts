import { signal } from '@preact/signals'
import { call } from '../client.ts'
import type { DmarcRecord, MonitoredDomain } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { dayBefore } from './monitored.ts'

/** How many days a trend shows. */
export const TREND_DAYS = 30
/** How many domains one request names, and how long their names are together: a target has about 8,000 characters. */
const NAMES = 100
const CHARACTERS = 6_000
/** How many trends are kept. */
const KEPT = 20_000
/** How long, in milliseconds, the rows must stay before their trends are loaded: a scroll passes thousands. */
const REST = 120
/** The pause, in milliseconds, after a failure. */
const PAUSE = 3_000

/** The shares of DMARC, the oldest first; null where there was no mail or no record. */
interface Trend {
  /** The day and the record for which it was made. */
  version: string
  values: readonly (number | null)[]
}

const trends = signal<ReadonlyMap<string, Trend>>(new Map())
let account: string | undefined
let visible: readonly MonitoredDomain[] = []
let today = ''
let timer: ReturnType<typeof setTimeout> | undefined
let loading = false

/** The trend of a domain, if it is known. An old one is shown until the new one arrives. */
export function trendOf({ domain }: MonitoredDomain): readonly (number | null)[] | undefined {
  return trends.value.get(domain)?.values
}

/** Says which domains are seen on which day, so that their trends are loaded when they stay. */
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
    // The page says elsewhere that the server does not answer, and the row has its figures without the line.
    pause = PAUSE
  } finally {
    loading = false
    plan(pause)
  }
}

/** The domains that are seen and have no trend of today, as many as one request can name. */
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

/** The share of a record; null where there is no mail of which it could be one. */
export function shareOf({ dmarc, count }: DmarcRecord): number | null {
  return count === 0 ? null : dmarc
}

function versionOf({ record, added_at: addedAt, profile }: MonitoredDomain, day: string): string {
  return `${day} ${addedAt} ${profile} ${JSON.stringify(record)}`
}
