/** How the clock of an account differs from that of the machine: it is some milliseconds ahead, or it is frozen. */
export type ClockSetting = { offset: number } | { frozenAt: number }

/** A change of a clock; `now` and `advance` are in milliseconds. */
export interface ClockChange {
  now?: number
  advance?: number
  frozen?: boolean
}

/** The time on an account's clock when that of the machine is `real`. */
export function timeOn(setting: ClockSetting, real: number): number {
  return 'frozenAt' in setting ? setting.frozenAt : real + setting.offset
}

/** The setting of a clock that shows `now` when that of the machine shows `real`. */
export function clockAt(now: number, real: number, frozen = false): ClockSetting {
  return frozen ? { frozenAt: now } : { offset: now - real }
}

/** The setting after a change; `undefined` if the change would set the clock back. */
export function changeClock(setting: ClockSetting, change: ClockChange, real: number): ClockSetting | undefined {
  const current = timeOn(setting, real)
  const next = (change.now ?? current) + (change.advance ?? 0)
  return next < current ? undefined : clockAt(next, real, change.frozen ?? 'frozenAt' in setting)
}
