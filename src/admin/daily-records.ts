import { setImmediate } from 'node:timers/promises'
import type { Contract } from '../contract/contract.ts'
import type { AccountState, MonitoredDomain } from '../domain/account.ts'
import { type DmarcRecord, refreshDay, refreshOf } from '../domain/dmarc.ts'
import { readDay, writeDay } from '../domain/iso-8601.ts'
import { recordsFrom } from '../figures/figures.ts'
import type { AdminRefusal } from './codes.ts'
import { type AccountCall, type AccountHandler, done } from './handler.ts'
import { invalid } from './refusals.ts'
import type { DailyRecords } from './reports.ts'

/** The longest period, in days: a year. */
const PERIOD = 366
/** How many records are computed before others have their turn; about 10 ms. */
const TURN = 2000

interface Period {
  from: number
  to: number
}

export const listDailyRecords: AccountHandler = async (call) => {
  const { account, contract, now } = call
  const period = readPeriod(call)
  if ('ok' in period) return period
  const { from, to } = period
  const days = Array.from({ length: to - from + 1 }, (_, index): DailyRecords => {
    return { date: writeDay(from + index), records: [] }
  })
  const today = refreshDay(now, contract.settings.refresh)
  let computed = 0
  for (const domain of [...account.domains.values()]) {
    const earliest = Math.max(from, Math.min(today, firstRefresh(domain, contract)))
    for (const [index, record] of recordsFrom(account, domain, earliest, to, contract).entries()) {
      if (record !== undefined) days[earliest - from + index]?.records.push(record)
    }
    computed += days.length
    if (computed < TURN) continue
    computed = 0
    await setImmediate()
  }
  return done({ days }, () => writeDays(days, contract))
}

/** The first refresh at which a domain was monitored. */
function firstRefresh({ addedAt }: MonitoredDomain, { settings: { refresh } }: Contract): number {
  const day = refreshDay(addedAt, refresh)
  return refreshOf(day, refresh) === addedAt ? day : day + 1
}

/** The period of the query, if it is not too long for the domains that there are. */
function readPeriod({ account, query, limits: { recordsLimit } }: AccountCall): Period | AdminRefusal {
  const [from, to] = [readDay(query['from'] ?? ''), readDay(query['to'] ?? '')]
  if (from === undefined) return invalid('from', query['from'], 'no-day')
  if (to === undefined) return invalid('to', query['to'], 'no-day')
  if (to < from) return invalid('to', query['to'], 'order', { from: writeDay(from) })
  const count = to - from + 1
  if (count > PERIOD)
    return invalid('to', query['to'], 'period', { limit: PERIOD, count, latest: writeDay(from + PERIOD - 1) })
  return checkSize(account, { from, to }, recordsLimit)
}

function checkSize({ domains }: AccountState, period: Period, limit: number): Period | AdminRefusal {
  const count = (period.to - period.from + 1) * domains.size
  if (count <= limit) return period
  const days = Math.floor(limit / domains.size)
  return invalid('to', writeDay(period.to), 'records', { limit, count, domains: domains.size, days })
}

/** With the records as GET /dmarc writes them. */
function writeDays(days: readonly DailyRecords[], { operations }: Contract): string {
  const operation = operations.find(({ id }) => id === 'listDmarc')
  const write = (records: readonly DmarcRecord[]) => {
    const text = operation?.success.write({ data: records }) ?? JSON.stringify({ data: records })
    return text.slice('{"data":'.length, -1)
  }
  return `{"days":[${days.map(({ date, records }) => `{"date":"${date}","records":${write(records)}}`).join(',')}]}`
}
