import type { ForeignClient } from '../../faults/foreign-change.ts'
import { type Effects, effectsOf } from '../effects.ts'
import { canonical, type PlannedFault } from './faults.ts'
import type { RunObservation } from './observation.ts'
import type { Comparison } from './verdict.ts'

/** Runs the command after another client has changed an account; `undefined` if that cannot come before. */
export type RunAfter = (client: ForeignClient, accountId: string) => Promise<RunObservation | undefined>

/**
 * The two orders in which the command and another client can come one after the other. What the command does beside the
 * other client is right if the account is as after one of them: a client that writes what it wants overwrites a change
 * in each order, and a client that has read before loses one that it would keep.
 */
export class SerialOrders {
  readonly #baseline: RunObservation
  readonly #runAfter: RunAfter
  /** The run after another client, by what that client does. */
  readonly #after = new Map<string, Promise<RunObservation | undefined>>()

  constructor(baseline: RunObservation, runAfter: RunAfter) {
    this.#baseline = baseline
    this.#runAfter = runAfter
  }

  /**
   * Compares a run that has succeeded although another client came just before one of its requests. `undefined` if
   * nothing can be told, because the command fails after the other client, or the change cannot come first.
   */
  async compare(fault: PlannedFault, run: RunObservation): Promise<Comparison | undefined> {
    const { foreign, point } = fault
    const { account } = point.entry
    if (foreign === undefined || account === undefined) return undefined
    const before = this.#afterwards(foreign, account)
    if (before !== undefined && isSame(before, run.effects)) return { isSerial: true, expected: before }
    const name = canonical([account, fault.effect, foreign.words])
    const started = this.#after.get(name) ?? this.#runAfter(foreign, account)
    this.#after.set(name, started)
    const after = await started
    if (after === undefined || after.end.exitCode !== 0) return undefined
    return { isSerial: isSame(after.effects, run.effects), expected: after.effects }
  }

  /** What the accounts have if the other client comes after the command. */
  #afterwards(client: ForeignClient, id: string): Effects | undefined {
    const { accounts } = this.#baseline
    const account = accounts.get(id)
    const changed = account && client.change(account)
    return changed && effectsOf(new Map([...accounts, [id, changed]]).values(), [])
  }
}

function isSame({ accounts: one }: Effects, { accounts: other }: Effects): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
