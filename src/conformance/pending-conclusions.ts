/**
 * A conclusion that holds only if no other client has changed the facts that it relies on. These are the facts of
 * `Hypotheses`, and `key`: the key is valid.
 */
interface PendingConclusion {
  facts: Set<string>
  release(): void
  drop(): void
}

/** How many conclusions wait at a time. Beyond that, the oldest is dropped. */
const LIMIT = 20_000

/**
 * Conclusions that rely on earlier knowledge of an account. Another client could have changed the account unseen, so
 * each conclusion waits until a later response shows the same facts again.
 */
export class PendingConclusions {
  readonly #pending = new Set<PendingConclusion>()
  readonly #byFact = new Map<string, Set<PendingConclusion>>()

  get size(): number {
    return this.#pending.size
  }

  /**
   * Calls `release` as soon as responses have confirmed all facts. Calls `drop` if a response shows a change of one of
   * them, or if it does not wait any longer.
   */
  add(facts: ReadonlySet<string>, release: () => void, drop: () => void = () => {}): void {
    if (facts.size === 0) {
      release()
      return
    }
    const pending = { facts: new Set(facts), release, drop }
    this.#pending.add(pending)
    for (const fact of facts) this.#byFact.set(fact, (this.#byFact.get(fact) ?? new Set()).add(pending))
    if (this.#pending.size > LIMIT) this.#end(this.#pending.values().next().value as PendingConclusion, false)
  }

  /** The facts that the waiting conclusions rely on. */
  get facts(): readonly string[] {
    return [...this.#byFact.keys()]
  }

  /** Says that a response has shown the fact again. */
  confirm(fact: string): void {
    for (const pending of this.#byFact.get(fact) ?? []) {
      pending.facts.delete(fact)
      if (pending.facts.size === 0) this.#end(pending, true)
    }
    this.#byFact.delete(fact)
  }

  /** Says that another client has changed the fact, or may have. */
  contradict(fact: string): void {
    for (const pending of this.#byFact.get(fact) ?? []) this.#end(pending, false)
    this.#byFact.delete(fact)
  }

  /** Drops all conclusions that still wait. */
  end(): void {
    for (const pending of this.#pending) this.#end(pending, false)
    this.#byFact.clear()
  }

  #end(pending: PendingConclusion, isShown: boolean): void {
    this.#pending.delete(pending)
    for (const fact of pending.facts) this.#byFact.get(fact)?.delete(pending)
    if (isShown) pending.release()
    else pending.drop()
  }
}
