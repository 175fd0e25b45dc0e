import { type Operation, operationOf } from '../../contract/api.ts'
import type { Entry } from '../../journal/entry.ts'
import type { CommandEnd } from '../command.ts'
import { type Effects, effectsOf } from '../effects.ts'
import type { TrialResult } from '../trial.ts'

/** The observations of one run of the command. */
export interface RunObservation {
  end: CommandEnd
  /** In the order of arrival. */
  requests: readonly ObservedRequest[]
  effects: Effects
  /** The accounts after the command, by id. */
  accounts: TrialResult['accounts']
  /** How many requests were not kept. */
  lost: number
}

export interface ObservedRequest {
  entry: Entry
  operation: Operation | undefined
  /** The arrival of the request and the end of its response, in milliseconds of real time. */
  started: number
  ended: number
}

type ObservedTrial = Pick<TrialResult, 'end' | 'exchanges' | 'ended' | 'lost' | 'accounts' | 'contract'>

/** `refusalDelay` is that of the trial. */
export function observe(
  { end, exchanges, ended, lost, accounts, contract }: ObservedTrial,
  refusalDelay = 0,
): RunObservation {
  const requests = exchanges.map((entry, index): ObservedRequest => {
    const ready = ended[index] ?? 0
    const operation = operationOf(contract, entry.operation)
    const delay = isLimited(entry) ? refusalDelay : 0
    return { entry, operation, started: ready - entry.duration, ended: ready + delay }
  })
  return {
    end,
    requests: requests.toSorted((one, other) => one.started - other.started),
    effects: effectsOf(accounts.values(), exchanges),
    accounts,
    lost,
  }
}

/** Whether the quota was used up. An overlay may give this refusal another status than 429. */
export function isLimited({ code }: Pick<Entry, 'code'>): boolean {
  return code === 'rate_limited'
}
