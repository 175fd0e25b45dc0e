import type { ClockSetting } from './domain/account.ts'

/** Milliseconds since the Unix epoch. The only place where the program reads the time. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** What an account's clock shows while the machine's shows `real`. */
export function timeOn(setting: ClockSetting, real: number): number {
  return 'frozenAt' in setting ? setting.frozenAt : real + setting.offset
}

/** The setting of a running clock that shows `now` while the machine's shows `real`. */
export function clockAt(now: number, real: number): ClockSetting {
  return { offset: now - real }
}

/** Milliseconds since some moment; for durations only, it never goes back. */
export const elapsed = (): number => performance.now()
