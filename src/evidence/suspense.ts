/** A conclusion that holds only if nobody else has changed what it relies on. */
interface Pending {
  facts: Set<string>
  release(): void
  drop(): void
}

/** How many conclusions wait at a time. The oldest is dropped when there are more. */
const LIMIT = 20_000

/**
 * Conclusions that rely on what was known of an account. Another client could have changed it without being seen, so each
 * waits until a later response shows the same again.
 */
export class Suspense {
  readonly #pending = new Set<Pending>()
  readonly #byFact = new Map<string, Set<Pending>>()

  get size(): number {
    return this.#pending.size
  }

  /** `drop` is called when a response shows that somebody has changed one of the facts, or nothing shows that nobody has. */
  add(facts: ReadonlySet<string>, release: () => void, drop: () => void): void {
    if (facts.size === 0) {
      release()
      return
    }
    const pending = { facts: new Set(facts), release, drop }
    this.#pending.add(pending)
    for (const fact of facts) this.#byFact.set(fact, (this.#byFact.get(fact) ?? new Set()).add(pending))
    if (this.#pending.size > LIMIT) this.#end(this.#pending.values().next().value as Pending, false)
  }

  /** What the conclusions that wait rely on. */
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

  /** Says that somebody has changed the fact, or may have. */
  contradict(fact: string): void {
    for (const pending of this.#byFact.get(fact) ?? []) this.#end(pending, false)
    this.#byFact.delete(fact)
  }

  /** Drops all that still wait. */
  end(): void {
    for (const pending of this.#pending) this.#end(pending, false)
    this.#byFact.clear()
  }

  #end(pending: Pending, isShown: boolean): void {
    this.#pending.delete(pending)
    for (const fact of pending.facts) this.#byFact.get(fact)?.delete(pending)
    if (isShown) pending.release()
    else pending.drop()
  }
}
