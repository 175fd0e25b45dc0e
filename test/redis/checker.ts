import { isDeepStrictEqual } from 'node:util'

/** One call as the client saw it. */
export interface Operation<Call, Outcome> {
  call: Call
  /** When it was sent and when its outcome was there, by one clock. */
  invoked: number
  returned: number
  /** `undefined`: nobody knows. It may have taken effect at any time since it was sent, may still do so, or never will. */
  outcome: Outcome | undefined
}

/** What an object does when it is called by one client at a time. States are plain JSON. */
export interface Specification<State, Call, Outcome> {
  readonly initial: State
  /** The state is the same one where the call changes nothing. */
  apply(state: State, call: Call): { state: State; outcome: Outcome }
  /** Whether a call with this outcome changes nothing, whatever the state is: a look, or a refusal. */
  changesNothing(call: Call, outcome: Outcome): boolean
}

/** A configuration of the search: which calls have taken effect, by their positions in the two lists of the search. */
interface Configuration<State> {
  state: State
  /** All known calls before this one, and some after it. */
  first: number
  ahead: readonly number[]
  unknown: readonly number[]
}

/** After so many configurations, the search is given up. */
const PATIENCE = 200_000

/**
 * Whether a history of concurrent calls is linearizable: whether each call can have taken effect at one moment between its
 * beginning and its end, so that all outcomes are those of the calls one after the other. The search is that of Wing and
 * Gong, and remembers, as Lowe proposes, which configurations it has left without success. Returns where no order goes on;
 * nothing if there is one.
 */
export function findFault<State, Call, Outcome>(
  history: readonly Operation<Call, Outcome>[],
  { initial, apply, changesNothing }: Specification<State, Call, Outcome>,
): string | undefined {
  const inOrder = history.toSorted((one, other) => one.invoked - other.invoked)
  const known = inOrder.filter(({ outcome }) => outcome !== undefined)
  const unknown = inOrder.filter(({ outcome }) => outcome === undefined)
  const seen = new Set<string>()
  const stack: Configuration<State>[] = [{ state: initial, first: 0, ahead: [], unknown: [] }]
  let furthest = stack[0]
  while (stack.length > 0) {
    const at = absorb(stack.pop() as Configuration<State>)
    if (at.first === known.length) return undefined
    const key = JSON.stringify(at)
    if (seen.has(key)) continue
    seen.add(key)
    if (seen.size > PATIENCE) return 'The search for an order was given up.'
    if (at.first > (furthest?.first ?? 0)) furthest = at
    const { open, end } = candidates(at)
    // What is pushed last is tried first: known calls before unknown ones, and those first that ended first.
    for (const [position, { call, invoked }] of unknown.entries()) {
      if (invoked > end) break
      const { state } = apply(at.state, call)
      if (state !== at.state && !at.unknown.includes(position)) {
        stack.push({ ...at, state, unknown: [...at.unknown, position].sort((one, other) => one - other) })
      }
    }
    for (const position of open.reverse()) {
      const next = take(at, position)
      if (next !== undefined) stack.push(next)
    }
  }
  const blocked = furthest && candidates(furthest).open.map((position) => `\n  ${JSON.stringify(known[position])}`)
  return `At the furthest, ${JSON.stringify(furthest?.state)} is followed by none of:${blocked}`

  /** Known calls that can be next: those that began before each that is open has ended. The first to end comes first. */
  function candidates({ first, ahead }: Configuration<State>): { open: number[]; end: number } {
    const open: number[] = []
    let end = Number.POSITIVE_INFINITY
    for (let position = first; position < known.length; position++) {
      const { invoked, returned } = known[position] as Operation<Call, Outcome>
      if (invoked > end) break
      if (ahead.includes(position)) continue
      open.push(position)
      end = Math.min(end, returned)
    }
    const of = (position: number) => known[position] as Operation<Call, Outcome>
    const possible = open.filter((position) => of(position).invoked <= end)
    return { open: possible.sort((one, other) => of(one).returned - of(other).returned), end }
  }

  /** The configuration after a known call; `undefined` if it would have had another outcome. */
  function take(at: Configuration<State>, position: number): Configuration<State> | undefined {
    const { call, outcome } = known[position] as Operation<Call, Outcome>
    const applied = apply(at.state, call)
    if (!isDeepStrictEqual(applied.outcome, outcome)) return undefined
    const ahead = [...at.ahead, position].sort((one, other) => one - other)
    let { first } = at
    for (; ahead[0] === first; first++) ahead.shift()
    return { ...at, state: applied.state, first, ahead }
  }

  /**
   * Lets all looks and refusals take effect that fit. No order is lost by that: each that has them later can have them
   * here as well. That is not so for a change that would change nothing here, because it may undo a later one.
   */
  function absorb(at: Configuration<State>): Configuration<State> {
    for (const position of candidates(at).open) {
      const { call, outcome } = known[position] as Operation<Call, Outcome>
      const next = changesNothing(call, outcome as Outcome) ? take(at, position) : undefined
      if (next !== undefined) return absorb(next)
    }
    return at
  }
}
