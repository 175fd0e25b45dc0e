import type { AccountState } from '../domain/account.ts'
import { changeClock, timeOn } from '../domain/clock.ts'
import { accept } from '../domain/errors.ts'
import { parseDuration, writeInstant } from '../domain/iso-8601.ts'
import type { AdminRefusal } from './codes.ts'
import { type AccountCall, type AccountHandler, type ControlOutcome, done } from './handler.ts'
import { invalid } from './refusals.ts'
import type { ClockReport } from './reports.ts'

export const getClock: AccountHandler = (call) => reportClock(call, call.account)

export const updateClock: AccountHandler = async (call) => {
  const { now, advance, frozen } = call.body as { now?: string; advance?: string; frozen?: boolean }
  const change = {
    ...(now !== undefined && { now: Date.parse(now) }),
    ...(advance !== undefined && { advance: parseDuration(advance) ?? 0 }),
    ...(frozen !== undefined && { frozen }),
  }
  const refusal = refuseLateInstant(now)
  if (refusal) return refusal
  const decision = await call.store.update(call.account.id, (state) => {
    const real = call.clock()
    const clock = changeClock(state.clock, change, real)
    if (clock === undefined) return invalid('/now', now, 'backwards', { now: writeInstant(timeOn(state.clock, real)) })
    if (timeOn(clock, real) > LAST_INSTANT) return invalid('/advance', advance, 'range')
    return accept({ ...state, clock }, undefined)
  })
  return decision.ok ? reportClock(call, decision.state) : decision
}

function reportClock({ worlds }: AccountCall, account: AccountState): ControlOutcome {
  const report: ClockReport = { now: writeInstant(worlds.now(account)), frozen: 'frozenAt' in account.clock }
  return done(report)
}

/** In milliseconds. It is a day before the last instant that RFC 3339 can write, because a clock runs on. */
export const LAST_INSTANT = Date.parse('9999-12-31T00:00:00Z')

/** Refuses an instant that a clock could not show: RFC 3339 has years of four digits. */
export function refuseLateInstant(now: string | undefined): AdminRefusal | undefined {
  return now !== undefined && Date.parse(now) > LAST_INSTANT ? invalid('/now', now, 'range') : undefined
}
