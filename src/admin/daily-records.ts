import type { Contract } from '../contract/contract.ts'
import type { AdminRefusal } from '../contract/control-api.ts'
import type { DailyRecords, QueryOf } from '../contract/control-plane.ts'
import type { MonitoredDomain } from '../domain/account.ts'
import { firstRefresh, refreshDay } from '../domain/dmarc.ts'
import { readDay, writeDay as writeDate } from '../domain/iso-8601.ts'
import { LIMITS } from '../domain/limits.ts'
import { recordsFrom } from '../figures/figures.ts'
import type { AccountContext, Handlers } from './handler.ts'
import { invalid } from './refusals.ts'

interface Period {
  from: number
  to: number
}

export const recordHandlers = {
  listDailyRecords(call) {
    const { account, contract, now } = call
    const period = readPeriod(call.query)
    if ('ok' in period) return period
    const wanted = readDomains(call, call.query.domain)
    if ('ok' in wanted) return wanted
    const excess = checkSize(wanted.length, period, call.limits.recordsLimit)
    if (excess !== undefined) return excess
    const { from, to } = period
    const days = Array.from({ length: to - from + 1 }, (_, index): DailyRecords => {
      return { date: writeDate(from + index), records: [] }
    })
    const today = refreshDay(now, contract.settings.refresh)
    for (const domain of wanted) {
      const earliest = Math.max(from, Math.min(today, firstRefresh(domain, contract.settings)))
      for (const [index, record] of recordsFrom(account, domain, earliest, to, contract).entries()) {
        if (record !== undefined) days[earliest - from + index]?.records.push(record)
      }
    }
    return {
      ok: true,
      data: { days },
      write: () => `{"days":[${days.map((day) => writeDay(day, contract)).join(',')}]}`,
    }
  },
} satisfies Handlers

function readPeriod(query: QueryOf<'listDailyRecords'>): Period | AdminRefusal {
  const [from, to] = [readDay(query.from), readDay(query.to)]
  if (from === undefined) return invalid('from', query.from, 'no-day')
  if (to === undefined) return invalid('to', query.to, 'no-day')
  if (to < from) return invalid('to', query.to, 'order', { from: writeDate(from) })
  const count = to - from + 1
  if (count > LIMITS.days)
    return invalid('to', query.to, 'period', {
      limit: LIMITS.days,
      count,
      latest: writeDate(from + LIMITS.days - 1),
    })
  return { from, to }
}

/**
 * The domains in the order of the query, or all domains. A domain that is not monitored has no records, just like a
 * removed one. A client need not know that another client has just removed a domain.
 */
function readDomains(
  { account, contract }: AccountContext,
  names: string | undefined,
): readonly MonitoredDomain[] | AdminRefusal {
  if (names === undefined) return [...account.domains.values()]
  const domains = new Set<MonitoredDomain>()
  for (const text of names.split(',')) {
    const name = contract.canonicalHostname(text)
    if (name === undefined) return invalid('domain', text, 'hostname')
    const domain = account.domains.get(name)
    if (domain !== undefined) domains.add(domain)
  }
  return [...domains]
}

function checkSize(domains: number, { from, to }: Period, limit: number): AdminRefusal | undefined {
  const count = (to - from + 1) * domains
  if (count <= limit) return undefined
  return invalid('to', writeDate(to), 'records', { limit, count, domains, days: Math.floor(limit / domains) })
}

/** The text of a day. The records are written as in GET /dmarc. */
function writeDay({ date, records }: DailyRecords, { operations }: Contract): string {
  const { writeData = JSON.stringify } = operations.find(({ id }) => id === 'listDmarc')?.success ?? {}
  return `{"date":"${date}","records":${writeData(records)}}`
}
