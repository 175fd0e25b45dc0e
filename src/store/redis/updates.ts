import { setTimeout as pause } from 'node:timers/promises'
import type { AccountState } from '../../domain/account.ts'
import type { Decision } from '../../domain/errors.ts'
import type { Settings } from '../../domain/settings.ts'
import { type Comparison, changesPlans, compareStates } from '../parts.ts'
import { StoreError } from '../store-error.ts'
import { type AccountSteps, GONE, type Gone, newOperation, type Step } from './account-steps.ts'
import { type Copies, type Copy, momentVersion } from './copies.ts'
import type { Registry } from './registry.ts'

/** How many changes of an account are under way at most: each is built on those before it, which may fail. */
const MAX_FLYING = 16
/** How often a change is decided again because other replicas were faster. */
export const MAX_ATTEMPTS = 200
/** After how many lost attempts the others wait for a change, and in milliseconds, how long they wait at a time. */
const LOST_OFTEN = 3
const TURN_PAUSE = 10

/** In milliseconds, how long after a change whose end is unknown its keys are looked at, first; each time twice as long. */
const LATER = 2_000
/** How often that is tried again: for an hour. */
const MAX_LATER = 10

// biome-ignore lint/suspicious/noExplicitAny: each update has a value and codes of its own, which only its caller knows
type AnyDecision = Decision<AccountState, any, any>
type Decide = (state: AccountState, version: string) => AnyDecision

interface Job {
  ordinal: number
  decide: Decide
  counters: Step['counters']
  attempts: number
  resolve(decision: AnyDecision | Gone): void
  reject(error: unknown): void
}

export interface UpdatesDeps {
  steps: AccountSteps
  registry: Registry
  copies: Copies
  settings: Pick<Settings, 'nameComparison'>
  /** Deletes the data of an account that somebody has begun to delete. */
  finish(doomed: string): Promise<unknown>
}

/**
 * The changes that this process makes. Those of one account do not race with each other: each is decided on what the ones
 * before it make of the account, and sent without waiting for their replies. If another replica was faster, all of them
 * are decided again.
 */
export class Updates {
  readonly #deps: UpdatesDeps
  readonly #lines = new Map<string, Line>()

  constructor(deps: UpdatesDeps) {
    this.#deps = deps
  }

  /** Changes the account as `decide` says, and replaces its counters where some are given. */
  run(incarnation: string, decide: Decide, counters?: Step['counters']): Promise<AnyDecision | Gone> {
    let line = this.#lines.get(incarnation)
    if (line === undefined) {
      line = new Line(incarnation, this.#deps, (ended) => {
        if (this.#lines.get(incarnation) === ended) this.#lines.delete(incarnation)
      })
      this.#lines.set(incarnation, line)
    }
    return line.add(decide, counters)
  }

  /** The version that the account has when all changes that are under way have succeeded; `undefined` without any. */
  expectedOf(incarnation: string): string | undefined {
    return this.#lines.get(incarnation)?.expected
  }
}

/** The changes of one account. */
class Line {
  readonly #incarnation: string
  readonly #deps: UpdatesDeps
  readonly #end: () => void
  /** Those that are not sent, in their order. */
  #waiting: Job[] = []
  #flying = 0
  /** What the account is when all that fly have succeeded; absent while none flies. */
  #head: Copy | undefined
  /** Whether none is sent before all that fly have ended: one of them has failed, or one has to fly alone. */
  #isHeld = false
  #depth = MAX_FLYING
  #ordinals = 0

  constructor(incarnation: string, deps: UpdatesDeps, onEnd: (line: Line) => void) {
    this.#incarnation = incarnation
    this.#deps = deps
    this.#end = () => onEnd(this)
  }

  get expected(): string | undefined {
    return this.#head?.token
  }

  add(decide: Decide, counters: Step['counters']): Promise<AnyDecision | Gone> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ordinal: this.#ordinals++, decide, counters, attempts: 0, resolve, reject })
      this.#send()
    })
  }

  #send(): void {
    while (!this.#isHeld && this.#flying < this.#depth) {
      const job = this.#waiting.shift()
      if (job === undefined) break
      const base = this.#head ?? this.#deps.copies.get(this.#incarnation)
      if (base === undefined) {
        this.#isHeld = true
        this.#waiting.unshift(job)
        this.#fly(() => this.#load())
      } else this.#decide(job, base)
    }
    if (this.#flying === 0 && this.#waiting.length === 0) this.#end()
  }

  /** Without a copy of the account, nothing can be decided. */
  async #load(): Promise<void> {
    try {
      if ((await this.#deps.steps.load(this.#incarnation)) !== GONE) return
      for (const job of this.#waiting.splice(0)) job.resolve(GONE)
    } catch (error) {
      for (const job of this.#waiting.splice(0)) job.reject(error)
    }
  }

  #decide(job: Job, base: Copy): void {
    let decision: AnyDecision
    let comparison: Comparison
    try {
      decision = job.decide(base.state, momentVersion(base.version, base.token))
      if (decision.ok && decision.state.id !== base.state.id) {
        throw new Error(`The account "${base.state.id}" cannot become another one`)
      }
      comparison = decision.ok
        ? compareStates(base.state, decision.state, this.#deps.settings)
        : { changes: [], state: base.state }
    } catch (error) {
      job.reject(error)
      return
    }
    const { changes, state } = comparison
    if (changes.length === 0 && job.counters === undefined) {
      this.#fly(() => this.#confirm(job, base, decision))
      return
    }
    const [kept, present] = [new Set(hashesOf(state)), new Set(hashesOf(base.state))]
    const step: Step = {
      ...{ operation: newOperation(), base, changes, changesPlans: changesPlans(changes), counters: job.counters },
      wantsTurn: job.attempts >= LOST_OFTEN,
      removedKeys: hashesOf(base.state).filter((hash) => !kept.has(hash)),
      removedRules: base.state.faults.flatMap(({ id }) => (state.faults.some((one) => one.id === id) ? [] : [id])),
    }
    const addedKeys = hashesOf(state).filter((hash) => !present.has(hash))
    const isFirst = base.isEvictable && !base.isChanged
    const isAlone = isFirst || job.counters !== undefined || addedKeys.length + step.removedKeys.length > 0
    if (isAlone) this.#isHeld = true
    if (isAlone && this.#flying > 0) {
      this.#waiting.unshift(job)
      return
    }
    const gate = step.changesPlans ? step.operation : base.gate
    this.#head = { ...base, state, version: base.version + 1, token: step.operation, gate, isChanged: true }
    this.#fly(() => this.#change(job, base, decision, state, step, { isFirst, addedKeys }))
  }

  #fly(act: () => Promise<void>): void {
    this.#flying++
    void act().finally(() => {
      this.#flying--
      if (this.#flying === 0) {
        this.#head = undefined
        this.#isHeld = false
        this.#waiting.sort((one, other) => one.ordinal - other.ordinal)
      }
      this.#send()
    })
  }

  /** A refusal holds only for the account as it is. */
  async #confirm(job: Job, base: Copy, decision: AnyDecision): Promise<void> {
    try {
      const isPresent = await this.#deps.steps.confirm(base)
      if (isPresent === GONE) job.resolve(GONE)
      else if (isPresent) job.resolve(decision)
      else this.#repeat(job)
    } catch (error) {
      job.reject(error)
    }
  }

  async #change(
    job: Job,
    base: Copy,
    decision: AnyDecision,
    state: AccountState,
    step: Step,
    { isFirst, addedKeys }: { isFirst: boolean; addedKeys: readonly string[] },
  ): Promise<void> {
    const { steps, registry, finish } = this.#deps
    const incarnation = this.#incarnation
    const { operation, removedKeys } = step
    const touched = new Set([...addedKeys, ...removedKeys])
    try {
      if (isFirst && !(await registry.mark(incarnation))) {
        job.resolve(GONE)
        return
      }
      if (touched.size > 0) {
        const keys = [...state.keys, ...base.state.keys.filter(({ hash }) => removedKeys.includes(hash))]
        const claimed = keys.filter(({ hash }) => touched.has(hash))
        if (!(await registry.claim(incarnation, operation, claimed, finish))) {
          job.resolve(GONE)
          return
        }
      }
      const outcome = await steps.change(base, state, step)
      if (outcome === GONE) {
        job.resolve(GONE)
        return
      }
      const isDone = 'done' in outcome
      if (touched.size > 0) await this.#unclaim(operation, touched, isDone ? outcome.done : outcome.conflict)
      if (!isDone) {
        if (outcome.isHeld) await pause(TURN_PAUSE)
        this.#repeat(job)
        return
      }
      this.#depth = Math.min(MAX_FLYING, 2 * this.#depth)
      if (base.isEvictable) registry.noteUse(incarnation, outcome.real)
      job.resolve(decision)
    } catch (error) {
      if (touched.size > 0 && !isTaken(error)) void this.#unclaimLater(operation, touched, 0)
      // What was decided on this change cannot succeed if it was not done.
      this.#isHeld = true
      job.reject(error)
    }
  }

  /** Tells which of the keys the account has. The change is done, or was not possible, whether that succeeds or not. */
  async #unclaim(operation: string, touched: ReadonlySet<string>, { state, version }: Copy): Promise<void> {
    const held = new Set(hashesOf(state))
    const keys = [...touched].map((hash) => [hash, held.has(hash)] as const)
    try {
      await this.#deps.registry.unclaim(this.#incarnation, operation, version, keys)
    } catch {
      void this.#unclaimLater(operation, touched, 0)
    }
  }

  /** The same when it is not known what has become of the change, or the store was away, after a while. */
  async #unclaimLater(operation: string, touched: ReadonlySet<string>, attempt: number): Promise<void> {
    const { steps, registry } = this.#deps
    // By then, no command is on its way any more.
    await pause(LATER * 2 ** attempt, undefined, { ref: false })
    try {
      const copy = await steps.load(this.#incarnation)
      if (copy === GONE) return
      const held = new Set(hashesOf(copy.state))
      const keys = [...touched].map((hash) => [hash, held.has(hash)] as const)
      await registry.unclaim(this.#incarnation, operation, copy.version, keys)
    } catch {
      if (attempt < MAX_LATER) void this.#unclaimLater(operation, touched, attempt + 1)
    }
  }

  /** Others were faster. */
  #repeat(job: Job): void {
    this.#isHeld = true
    // Until it has succeeded, what is built on a change would fail with it.
    this.#depth = 1
    job.attempts++
    if (job.attempts < MAX_ATTEMPTS) this.#waiting.push(job)
    else job.reject(new StoreError('unavailable', 'Too many others change the account at the same time'))
  }
}

/** Whether the change was refused because of a key, so that it has claimed none. */
function isTaken(error: unknown): boolean {
  return error instanceof StoreError && error.problem === 'taken'
}

function hashesOf({ keys }: AccountState): string[] {
  return keys.map(({ hash }) => hash)
}
