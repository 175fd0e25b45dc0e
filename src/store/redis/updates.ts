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
const MAX_ATTEMPTS = 200

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
    try {
      if (isFirst && !(await registry.mark(incarnation))) {
        job.resolve(GONE)
        return
      }
      const isOfKeys = addedKeys.length + removedKeys.length > 0
      if (isOfKeys) {
        const [added, removed] = [new Set(addedKeys), new Set(removedKeys)]
        const keys = [
          ...state.keys.filter(({ hash }) => added.has(hash)),
          ...base.state.keys.filter(({ hash }) => removed.has(hash)),
        ]
        if (!(await registry.claim(incarnation, operation, keys, finish))) {
          job.resolve(GONE)
          return
        }
      }
      const outcome = await steps.change(base, state, step)
      if (isOfKeys && outcome !== GONE) {
        await registry.disclaim(incarnation, operation, 'done' in outcome ? removedKeys : addedKeys)
      }
      if (outcome === GONE) job.resolve(GONE)
      else if ('conflict' in outcome) this.#repeat(job)
      else {
        this.#depth = Math.min(MAX_FLYING, 2 * this.#depth)
        if (base.isEvictable) registry.noteUse(incarnation, outcome.real)
        job.resolve(decision)
      }
    } catch (error) {
      // What was decided on this change cannot succeed if it was not done.
      this.#isHeld = true
      job.reject(error)
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

function hashesOf({ keys }: AccountState): string[] {
  return keys.map(({ hash }) => hash)
}
