/**
 * Whether a history of concurrent calls is linearizable: whether each call can have taken effect at one moment between its
 * beginning and its end, so that all outcomes are those of the calls one after the other. The search is that of Wing and
 * Gong, and remembers, as Lowe proposes, which configurations it has left without success.
 */

/** One call as the client saw it. */
export interface Operation<Call, Outcome> {
  call: Call
  /** When it was sent and when its outcome was there, by one clock. */
  invoked: number
  returned: number
  /** `undefined`: nobody knows. It may have taken effect at any time since it was sent, may still do so, or never will. */
  outcome: Outcome | undefined
}

/** What an object does when it is called by one client at a time. */
export interface Specification<State, Call, Outcome> {
  readonly initial: State
  /**
   * The states in which the object may be after a call with this outcome; none where it cannot have this outcome. Returns
   * the state itself where the call changes nothing. `token` stands for what the object chooses by itself, and nobody was
   * told. An unknown outcome fits always.
   */
  step(state: State, call: Call, outcome: Outcome | undefined, token: string): readonly State[]
  /** Whether a call with this outcome changes nothing, whatever the state is: a look, or a refusal. */
  changesNothing(call: Call, outcome: Outcome): boolean
  /** The same text for equal states. */
  keyOf(state: State): string
  /** The same text for calls that do the same. */
  keyOfCall(call: Call): string
}

/** Whether there is an order; where there is none, `blocked` are calls of which none can be next at the furthest. */
export type Verdict<State, Call, Outcome> =
  | { linearizable: true }
  | { linearizable: false; state: State; blocked: readonly Operation<Call, Outcome>[] }
  /** The search was given up. */
  | { linearizable: undefined }

/** After so many configurations, the search is given up. */
const PATIENCE = 200_000

export function checkHistory<State, Call, Outcome>(
  history: readonly Operation<Call, Outcome>[],
  specification: Specification<State, Call, Outcome>,
): Verdict<State, Call, Outcome> {
  return new Search(history, specification).run()
}

/** A configuration of the search. Positions are those in the two lists of the search. */
interface Configuration<State> {
  state: State
  /** All known calls before this position have taken effect. */
  first: number
  /** Known calls from `first` on that have taken effect as well, in ascending order. */
  ahead: readonly number[]
  /** Unknown calls that have taken effect, in ascending order. */
  taken: readonly number[]
  /** How many known calls have taken effect. */
  depth: number
}

class Search<State, Call, Outcome> {
  readonly #known: readonly Operation<Call, Outcome>[]
  readonly #unknown: readonly Operation<Call, Outcome>[]
  readonly #unknownKeys: readonly string[]
  readonly #specification: Specification<State, Call, Outcome>

  constructor(history: readonly Operation<Call, Outcome>[], specification: Specification<State, Call, Outcome>) {
    const inOrder = history.toSorted((one, other) => one.invoked - other.invoked)
    this.#known = inOrder.filter(({ outcome }) => outcome !== undefined)
    this.#unknown = inOrder.filter(({ outcome }) => outcome === undefined)
    this.#unknownKeys = this.#unknown.map(({ call }) => specification.keyOfCall(call))
    this.#specification = specification
  }

  run(): Verdict<State, Call, Outcome> {
    const { initial } = this.#specification
    const start = { state: initial, first: 0, ahead: [], taken: [], depth: 0 }
    const stack: Configuration<State>[] = [start]
    const left = new Set<string>()
    let furthest: Configuration<State> = start
    while (stack.length > 0) {
      const configuration = this.#absorb(stack.pop() as Configuration<State>)
      if (configuration.first === this.#known.length) return { linearizable: true }
      const key = this.#keyOf(configuration)
      if (left.has(key)) continue
      left.add(key)
      if (left.size > PATIENCE) return { linearizable: undefined }
      if (configuration.depth > furthest.depth) furthest = configuration
      // What is pushed last is tried first: known calls before unknown ones, and those first that ended first.
      stack.push(...this.#byUnknown(configuration), ...this.#byKnown(configuration))
    }
    const blocked = this.#candidates(furthest).map((position) => this.#known[position] as Operation<Call, Outcome>)
    return { linearizable: false, state: furthest.state, blocked }
  }

  /**
   * Lets all looks and refusals take effect that fit. No order is lost by that: each that has them later can have them
   * here as well. That is not so for a change that would change nothing here, because it may undo a later one.
   */
  #absorb(configuration: Configuration<State>): Configuration<State> {
    let at = configuration
    for (;;) {
      const position = this.#candidates(at).find((candidate) => {
        const { call, outcome } = this.#known[candidate] as Operation<Call, Outcome>
        if (outcome === undefined || !this.#specification.changesNothing(call, outcome)) return false
        // A look can also tell what is open in the state, and then the state is another one.
        const [state, ...others] = this.#after(at.state, candidate)
        return others.length === 0 && state === at.state
      })
      if (position === undefined) return at
      at = this.#take(at, position, at.state)
    }
  }

  /** Known calls that can be next: those that began before each that is open has ended. The first to end comes first. */
  #candidates({ first, ahead }: Configuration<State>): number[] {
    const open: number[] = []
    let end = Number.POSITIVE_INFINITY
    for (let position = first; position < this.#known.length; position++) {
      const { invoked, returned } = this.#known[position] as Operation<Call, Outcome>
      if (invoked > end) break
      if (ahead.includes(position)) continue
      open.push(position)
      end = Math.min(end, returned)
    }
    const returnOf = (position: number) => this.#known[position]?.returned ?? 0
    return open
      .filter((position) => (this.#known[position]?.invoked ?? 0) <= end)
      .sort((one, other) => returnOf(one) - returnOf(other))
  }

  #after(state: State, position: number): readonly State[] {
    const { call, outcome } = this.#known[position] as Operation<Call, Outcome>
    return this.#specification.step(state, call, outcome, `known ${position}`)
  }

  #byKnown(configuration: Configuration<State>): Configuration<State>[] {
    const next = this.#candidates(configuration).flatMap((position) =>
      this.#after(configuration.state, position).map((state) => this.#take(configuration, position, state)),
    )
    return next.reverse()
  }

  #take(configuration: Configuration<State>, position: number, state: State): Configuration<State> {
    const { first, ahead, depth } = configuration
    const rest = [...ahead, position].sort((one, other) => one - other)
    let next = first
    while (rest[0] === next) {
      rest.shift()
      next++
    }
    return { ...configuration, state, first: next, ahead: rest, depth: depth + 1 }
  }

  /**
   * Unknown calls that can be next and change something. Of several that do the same, the one that began first stands for
   * the others: none of them has an end.
   */
  #byUnknown(configuration: Configuration<State>): Configuration<State>[] {
    const { state, taken } = configuration
    const ends = this.#candidates(configuration).map((position) => this.#known[position]?.returned ?? 0)
    const end = Math.min(...ends)
    const tried = new Set<string>()
    const next: Configuration<State>[] = []
    for (const [position, { call, invoked }] of this.#unknown.entries()) {
      if (invoked > end) break
      const key = this.#unknownKeys[position] as string
      if (taken.includes(position) || tried.has(key)) continue
      tried.add(key)
      for (const after of this.#specification.step(state, call, undefined, `unknown ${position}`)) {
        if (after === state) continue
        const nextTaken = [...taken, position].sort((one, other) => one - other)
        next.push({ ...configuration, state: after, taken: nextTaken })
      }
    }
    return next
  }

  #keyOf({ state, first, ahead, taken }: Configuration<State>): string {
    return `${first}|${ahead}|${taken}|${this.#specification.keyOf(state)}`
  }
}
