import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import { type DmarcRecord, refreshDay } from '../domain/dmarc.ts'
import { readDay, writeDay as writeDate } from '../domain/iso-8601.ts'
import { firstListing, recordsFrom } from '../figures/figures.ts'
import { Turns } from '../ground/turns.ts'
import type { AdminRefusal } from './codes.ts'
import { type AccountCall, type AccountHandler, listed } from './handler.ts'
import { invalid } from './refusals.ts'
import type { DailyRecords } from './reports.ts'

/** The longest period, in days: a year. */
export const PERIOD = 366
/** How many records are written at once. */
const PIECE = 500

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
    return { date: writeDate(from + index), records: [] }
  })
  const today = refreshDay(now, contract.settings.refresh)
  const turns = new Turns()
  for (const domain of [...account.domains.values()]) {
    const earliest = Math.max(from, Math.min(today, firstListing(domain, contract.settings)))
    for (const [index, record] of recordsFrom(account, domain, earliest, to, contract).entries()) {
      if (record !== undefined) days[earliest - from + index]?.records.push(record)
    }
    if (turns.isOver()) await turns.next()
  }
  return listed('days', days, {}, (day) => writeDay(day as DailyRecords, contract))
}

/** The period of the query, if it is not too long for the domains that there are. */
function readPeriod({ account, query, limits: { recordsLimit } }: AccountCall): Period | AdminRefusal {
  const [from, to] = [readDay(query['from'] ?? ''), readDay(query['to'] ?? '')]
  if (from === undefined) return invalid('from', query['from'], 'no-day')
  if (to === undefined) return invalid('to', query['to'], 'no-day')
  if (to < from) return invalid('to', query['to'], 'order', { from: writeDate(from) })
  const count = to - from + 1
  if (count > PERIOD)
    return invalid('to', query['to'], 'period', { limit: PERIOD, count, latest: writeDate(from + PERIOD - 1) })
  return checkSize(account, { from, to }, recordsLimit)
}

function checkSize({ domains }: AccountState, period: Period, limit: number): Period | AdminRefusal {
  const count = (period.to - period.from + 1) * domains.size
  if (count <= limit) return period
  const days = Math.floor(limit / domains.size)
  return invalid('to', writeDate(period.to), 'records', { limit, count, domains: domains.size, days })
}

/** A day in parts, with the records as GET /dmarc writes them. */
function* writeDay({ date, records }: DailyRecords, { operations }: Contract): Generator<string> {
  const operation = operations.find(({ id }) => id === 'listDmarc')
  const write = (piece: readonly DmarcRecord[]) => {
    const text = operation?.success.write({ data: piece }) ?? JSON.stringify({ data: piece })
    return text.slice('{"data":['.length, -']}'.length)
  }
  yield `{"date":"${date}","records":[`
  for (let from = 0; from < records.length; from += PIECE) {
    yield (from === 0 ? '' : ',') + write(records.slice(from, from + PIECE))
  }
  yield ']}'
}
