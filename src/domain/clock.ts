/** How an account's clock differs from the machine's: milliseconds ahead of it, or standing still at an instant. */
export type ClockSetting = { offset: number } | { frozenAt: number }

/** What a change of a clock asks for; `now` and `advance` in milliseconds. */
export interface ClockChange {
  now?: number
  advance?: number
  frozen?: boolean
}

/** What an account's clock shows while the machine's shows `real`. */
export function timeOn(setting: ClockSetting, real: number): number {
  return 'frozenAt' in setting ? setting.frozenAt : real + setting.offset
}

/** The setting of a clock that shows `now` while the machine's shows `real`. */
export function clockAt(now: number, real: number, frozen = false): ClockSetting {
  return frozen ? { frozenAt: now } : { offset: now - real }
}

/** The setting after a change; `undefined` when it would set the clock back, which nothing could make lawful again. */
export function changeClock(setting: ClockSetting, change: ClockChange, real: number): ClockSetting | undefined {
  const current = timeOn(setting, real)
  const next = (change.now ?? current) + (change.advance ?? 0)
  return next < current ? undefined : clockAt(next, real, change.frozen ?? 'frozenAt' in setting)
}
