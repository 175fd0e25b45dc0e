import type { AdminRefusal } from '../contract/control-api.ts'
import type { ClockReport } from '../contract/control-plane.ts'
import type { AccountState } from '../domain/account.ts'
import { type ClockChange, changeClock, timeOn } from '../domain/clock.ts'
import { type Ending, nextEnding } from '../domain/endings.ts'
import { accept } from '../domain/errors.ts'
import { parseDuration, writeInstant } from '../domain/iso-8601.ts'
import { LIMITS } from '../domain/limits.ts'
import { RealDate } from '../ground/timers.ts'
import { type AccountContext, changeAccount, done, type Handlers } from './handler.ts'
import { openWindowEnds } from './quotas.ts'
import { invalid } from './refusals.ts'

export const clockHandlers = {
  getClock: (call) => done(reportClock(call, call.account)),

  async updateClock(call) {
    const { now, advance, to, frozen } = call.body
    const change: ClockChange = {
      ...(now !== undefined && { now: RealDate.parse(now) }),
      ...(advance !== undefined && { advance: parseDuration(advance) ?? 0 }),
      ...(frozen !== undefined && { frozen }),
    }
    const refusal = refuseLateInstant(now)
    if (refusal) return refusal
    const windowEnds = to === 'window-end' ? await openWindowEnds(call) : []
    const decide = (state: AccountState) => {
      const real = call.clock()
      if (to !== undefined) {
        const pending = { now: timeOn(state.clock, real), windowEnds, keys: state.keys }
        const instant = nextEnding(to, pending, call.contract.settings)
        if (instant === undefined) return invalid('/to', to, NOTHING[to], { now: writeInstant(pending.now) })
        change.now = instant
      }
      const clock = changeClock(state.clock, change, real)
      if (clock === undefined)
        return invalid('/now', now, 'backwards', { now: writeInstant(timeOn(state.clock, real)) })
      // A clock that has run past the limit can still be stopped.
      if (timeOn(clock, real) > Math.max(LIMITS.lastSetting, timeOn(state.clock, real)))
        return to === undefined ? invalid('/advance', advance, 'range') : invalid('/to', to, 'range')
      return accept({ ...state, clock }, undefined)
    }
    return changeAccount(call, decide, (account) => reportClock(call, account))
  },
} satisfies Handlers

/** The reason of the catalogue for an ending that has no future instant. */
const NOTHING: Readonly<Record<Ending, string>> = {
  'window-end': 'no-window',
  // There is always another refresh.
  refresh: 'range',
  'grace-end': 'no-grace',
}

function reportClock({ worlds }: AccountContext, account: AccountState): ClockReport {
  return { now: writeInstant(worlds.now(account)), frozen: 'frozenAt' in account.clock }
}

/** Refuses an instant that a clock cannot show: RFC 3339 has years of four digits. */
export function refuseLateInstant(now: string | undefined): AdminRefusal | undefined {
  return now !== undefined && RealDate.parse(now) > LIMITS.lastSetting ? invalid('/now', now, 'range') : undefined
}
