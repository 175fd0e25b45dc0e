import type { Entry } from '../../journal/entry.ts'
import type { CommandEnd } from '../command.ts'
import type { TrialResult } from '../trial.ts'
import { type Effects, effectsOf } from './effects.ts'

/** What was seen of one run of the command. */
export interface Observation {
  end: CommandEnd
  /** In the order in which the requests came. */
  requests: readonly ObservedRequest[]
  effects: Effects
  /** How many requests were made beyond those that are kept. */
  lost: number
}

export interface ObservedRequest {
  entry: Entry
  /** When it came and when it was answered, in milliseconds of real time. */
  started: number
  ended: number
}

type Observed = Pick<TrialResult, 'end' | 'exchanges' | 'ended' | 'lost' | 'accounts'>

export function observe({ end, exchanges, ended, lost, accounts }: Observed): Observation {
  const requests = exchanges.map((entry, index): ObservedRequest => {
    const end = ended[index] ?? 0
    return { entry, started: end - entry.duration, ended: end }
  })
  return {
    end,
    requests: requests.toSorted((one, other) => one.started - other.started),
    effects: effectsOf(accounts.values(), exchanges),
    lost,
  }
}
