import type { AccountState } from '../domain/account.ts'
import type { Decision } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { pause } from '../ground/timers.ts'
import { type Comparison, changesPlans, compareStates } from '../store/parts.ts'
import { StoreError } from '../store/store-error.ts'
import { type AccountStep, type AccountSteps, GONE, type Gone } from './account-steps.ts'
import { type AccountCopy, type Copies, momentVersion } from './copies.ts'

/** How many changes of an account are under way at most. Each depends on those before it, which may fail. */
const MAX_FLYING = 16
/** How often a change, a request or a count is decided again because other replicas were faster. */
export const MAX_ATTEMPTS = 200
/** After how many lost attempts other replicas wait for a change, and in milliseconds, how long each wait is. */
const LOST_OFTEN = 3
const TURN_PAUSE = 10

// biome-ignore lint/suspicious/noExplicitAny: each update has a value and codes of its own, which only its caller knows
type AnyDecision = Decision<AccountState, any, any>
type Decide = (state: AccountState, version: string) => AnyDecision

interface Job {
  ordinal: number
  decide: Decide
  counters: AccountStep['counters']
  attempts: number
  resolve(decision: AnyDecision | Gone): void
  reject(error: unknown): void
}

export interface UpdatesDeps {
  steps: AccountSteps
  copies: Copies
  settings: Pick<Settings, 'nameComparison'>
  /** Gives an id to a change. */
  newOperation(): string
}

/**
 * The changes of this process. Changes of one account do not race with each other: each is decided on the result of the
 * changes before it, and sent without waiting for their replies. If another replica was faster, all of them are decided
 * again.
 */
export class Updates {
  readonly #deps: UpdatesDeps
  readonly #lines = new Map<string, Line>()

  constructor(deps: UpdatesDeps) {
    this.#deps = deps
  }

  /** Changes the account as `decide` returns, and replaces its counters if `counters` is given. */
  run(incarnation: string, decide: Decide, counters?: AccountStep['counters']): Promise<AnyDecision | Gone> {
    let line = this.#lines.get(incarnation)
    if (line === undefined) {
      line = new Line(incarnation, this.#deps, (ended) => {
        if (this.#lines.get(incarnation) === ended) this.#lines.delete(incarnation)
      })
      this.#lines.set(incarnation, line)
    }
    return line.add(decide, counters)
  }

  /** The account after all changes that are under way, if they succeed; `undefined` if there are none. */
  expectedOf(incarnation: string): AccountCopy | undefined {
    return this.#lines.get(incarnation)?.expected
  }
}

/** The changes of one account. */
class Line {
  readonly #incarnation: string
  readonly #deps: UpdatesDeps
  readonly #end: () => void
  /** Changes that are not sent yet, in their order. */
  #waiting: Job[] = []
  #flying = 0
  /** The account after all sent changes, if they succeed; absent if none is under way. */
  #head: AccountCopy | undefined
  /** Whether sending is paused until all sent changes have ended, because one has failed. */
  #isHeld = false
  #depth = MAX_FLYING
  #ordinals = 0

  constructor(incarnation: string, deps: UpdatesDeps, onEnd: (line: Line) => void) {
    this.#incarnation = incarnation
    this.#deps = deps
    this.#end = () => onEnd(this)
  }

  get expected(): AccountCopy | undefined {
    return this.#head
  }

  add(decide: Decide, counters: AccountStep['counters']): Promise<AnyDecision | Gone> {
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

  /** Loads the account, because a change can be decided only on a copy. */
  async #load(): Promise<void> {
    try {
      if ((await this.#deps.steps.load(this.#incarnation)) !== GONE) return
      for (const job of this.#waiting.splice(0)) job.resolve(GONE)
    } catch (error) {
      for (const job of this.#waiting.splice(0)) job.reject(error)
    }
  }

  #decide(job: Job, base: AccountCopy): void {
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
    const step: AccountStep = {
      operation: this.#deps.newOperation(),
      ...{ base, changes, changesPlans: changesPlans(changes), counters: job.counters },
      wantsTurn: job.attempts >= LOST_OFTEN,
      removedKeys: hashesOf(base.state).filter((hash) => !kept.has(hash)),
      addedKeys: hashesOf(state).filter((hash) => !present.has(hash)),
      removedRules: base.state.faults.flatMap(({ id }) => (state.faults.some((one) => one.id === id) ? [] : [id])),
    }
    const gate = step.changesPlans ? step.operation : base.gate
    this.#head = { ...base, state, version: base.version + 1, token: step.operation, gate, isChanged: true }
    this.#fly(() => this.#change(job, base, decision, state, step))
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

  /** Confirms that the copy is up to date. A refusal is valid only for the present account. */
  async #confirm(job: Job, base: AccountCopy, decision: AnyDecision): Promise<void> {
    try {
      const present = await this.#deps.steps.look(base)
      if (present === GONE) job.resolve(GONE)
      else if (present.token === base.token) job.resolve(decision)
      else this.#repeat(job)
    } catch (error) {
      job.reject(error)
    }
  }

  async #change(
    job: Job,
    base: AccountCopy,
    decision: AnyDecision,
    state: AccountState,
    step: AccountStep,
  ): Promise<void> {
    try {
      const outcome = await this.#deps.steps.change(base, state, step)
      if (outcome === GONE) {
        job.resolve(GONE)
        return
      }
      if ('conflict' in outcome) {
        if (outcome.isHeld) await pause(TURN_PAUSE)
        this.#repeat(job)
        return
      }
      this.#depth = Math.min(MAX_FLYING, 2 * this.#depth)
      job.resolve(decision)
    } catch (error) {
      // If this change was not done, the changes that depend on it cannot succeed.
      this.#isHeld = true
      job.reject(error)
    }
  }

  /** Decides the change again, because another replica was faster. */
  #repeat(job: Job): void {
    this.#isHeld = true
    // Until it has succeeded, changes that depend on it would fail too.
    this.#depth = 1
    job.attempts++
    if (job.attempts < MAX_ATTEMPTS) this.#waiting.push(job)
    else job.reject(tooManyOthers())
  }
}

export function tooManyOthers(): StoreError {
  return new StoreError('unavailable', 'Too many others change the account at the same time')
}

function hashesOf({ keys }: AccountState): string[] {
  return keys.map(({ hash }) => hash)
}
