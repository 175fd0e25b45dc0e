import { LIMITS } from './limits.ts'

/** The difference between an account's clock and that of the machine: an offset in milliseconds, or a frozen time. */
export type ClockSetting = { offset: number } | { frozenAt: number }

/** A change of a clock; `now` and `advance` are in milliseconds. */
export interface ClockChange {
  now?: number
  advance?: number
  frozen?: boolean
}

/** The time of an account's clock when the machine's clock shows `real`. At its last instant, a clock stops. */
export function timeOn(setting: ClockSetting, real: number): number {
  return Math.min('frozenAt' in setting ? setting.frozenAt : real + setting.offset, LIMITS.lastInstant)
}

/** The setting of a clock that shows `now` when the machine's clock shows `real`. */
export function clockAt(now: number, real: number, frozen = false): ClockSetting {
  return frozen ? { frozenAt: now } : { offset: now - real }
}

/** The setting after a change; `undefined` if the change would set the clock back. */
export function changeClock(setting: ClockSetting, change: ClockChange, real: number): ClockSetting | undefined {
  const current = timeOn(setting, real)
  const next = (change.now ?? current) + (change.advance ?? 0)
  return next < current ? undefined : clockAt(next, real, change.frozen ?? 'frozenAt' in setting)
}
