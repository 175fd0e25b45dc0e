import type { Choices } from '../contract/choices.ts'
import type { AssumptionVerdict } from '../judge/verdict.ts'
import { type Constraint, ConstraintNetwork, isSingle, valuesOf } from './constraint-network.ts'
import { type ChoiceObservation, EVIDENCE_KEPT } from './observation.ts'

/** An observation with variables in place of assumptions. */
interface Seen extends Constraint {
  readonly evidence: readonly string[]
}

/**
 * What all observations together say about every assumption, in the order of the document. A choice is decided only if
 * it is the same in every combination that all observations permit. If no combination is left, the fewest assumptions
 * that cannot be reconciled are contradicted; the others are judged without them. Unknown alternatives in an
 * observation are ignored.
 */
export function decideVerdicts(
  observations: readonly ChoiceObservation[],
  { ids, alternatives }: Pick<Choices, 'ids' | 'alternatives'>,
): AssumptionVerdict[] {
  const variables = new Map(ids.map((id, index) => [id, index]))
  const sizes = ids.map(() => 1)
  for (const { id } of alternatives) {
    const variable = variables.get(id) ?? 0
    sizes[variable] = (sizes[variable] ?? 1) + 1
  }
  let seen = observations.flatMap((each) => asConstraint(each, variables, sizes) ?? [])
  const verdicts: AssumptionVerdict[] = []
  const contradicted = new Set<number>()
  const refute = (conflict: readonly number[]) => {
    const sides = findSides(conflict, seen, sizes)
    for (const variable of conflict) {
      contradicted.add(variable)
      const evidence = idsOf(inPreference(sides, variable))
      verdicts[variable] = { id: ids[variable] ?? '', verdict: 'contradicted', evidence }
    }
    seen = seen.flatMap((each) => withoutVariables(each, contradicted, sizes) ?? [])
  }
  for (const variable of conflictsOfOne(seen, sizes)) refute([variable])
  let solved = new ConstraintNetwork(sizes, seen).solve()
  while (solved === undefined) {
    const conflict = findConflict(seen, sizes)
    // The two can disagree only if a search was cut short. Then nothing more is known.
    if (conflict.length === 0) break
    refute(conflict)
    solved = new ConstraintNetwork(sizes, seen).solve()
  }
  for (const [variable, id] of ids.entries()) {
    if (contradicted.has(variable)) continue
    const all = 2 ** (sizes[variable] ?? 1) - 1
    const left = solved?.domains[variable] ?? all
    if (left === all) {
      verdicts[variable] = { id, verdict: 'undecided', evidence: [] }
      continue
    }
    const reasons = [...(solved?.reasons[variable] ?? [])].map((index) => seen[index] as Seen)
    const decisive = leastOf(inPreference(reasons, variable), (some) => implies(some, variable, left, sizes))
    const evidence = idsOf(decisive)
    const [value = 0] = valuesOf(left)
    verdicts[variable] = !isSingle(left)
      ? { id, verdict: 'undecided', evidence, left: valuesOf(left) }
      : value === 0
        ? { id, verdict: 'as chosen', evidence }
        : { id, verdict: 'alternative', alternative: value, evidence }
  }
  return verdicts
}

function asConstraint(
  { allows, evidence }: ChoiceObservation,
  variables: ReadonlyMap<string, number>,
  sizes: readonly number[],
): Seen | undefined {
  const names = Object.keys(allows[0] ?? {}).filter((id) => variables.has(id))
  const scope = names.map((id) => variables.get(id) ?? 0)
  const tuples = allows
    .map((assignment) => names.map((id) => assignment[id] ?? 0))
    .filter((tuple) => tuple.every((value, place) => value < (sizes[scope[place] ?? 0] ?? 0)))
  return scope.length === 0 || tuples.length === 0 ? undefined : { scope, tuples, evidence }
}

/** The variables for which single observations leave no common value. */
function conflictsOfOne(seen: readonly Seen[], sizes: readonly number[]): number[] {
  const left = sizes.map((size) => 2 ** size - 1)
  for (const { scope, tuples } of seen) {
    for (const [place, variable] of scope.entries()) {
      let values = 0
      for (const tuple of tuples) values |= 1 << (tuple[place] ?? 0)
      left[variable] = (left[variable] ?? 0) & values
    }
  }
  return [...left.keys()].filter((variable) => left[variable] === 0)
}

/** The fewest variables that lead to a contradiction, without what observations say about other variables. */
function findConflict(seen: readonly Seen[], sizes: readonly number[]): number[] {
  const involved = [...new Set(seen.flatMap(({ scope }) => scope))]
  const contradicts = (variables: readonly number[]) => {
    const kept = new Set(variables)
    const others = new Set(involved.filter((variable) => !kept.has(variable)))
    const rest = seen.flatMap((each) => withoutVariables(each, others, sizes) ?? [])
    return !new ConstraintNetwork(sizes, rest).isConsistent()
  }
  return contradicts(involved) ? leastOf(involved, contradicts) : []
}

/** Observations that contradict each other, without what they say about variables outside of the conflict. */
function findSides(conflict: readonly number[], seen: readonly Seen[], sizes: readonly number[]): Seen[] {
  const kept = new Set(conflict)
  const others = new Set(seen.flatMap(({ scope }) => scope).filter((variable) => !kept.has(variable)))
  const about = seen.flatMap((each) => withoutVariables(each, others, sizes) ?? [])
  return leastOf(about, (some) => !new ConstraintNetwork(sizes, some).isConsistent())
}

/** What an observation says if these variables may have any value; `undefined` if it then says nothing. */
function withoutVariables(seen: Seen, variables: ReadonlySet<number>, sizes: readonly number[]): Seen | undefined {
  const places = [...seen.scope.keys()].filter((place) => !variables.has(seen.scope[place] ?? 0))
  if (places.length === seen.scope.length) return seen
  const scope = places.map((place) => seen.scope[place] ?? 0)
  const different = new Map<string, number[]>()
  for (const tuple of seen.tuples) {
    const rest = places.map((place) => tuple[place] ?? 0)
    different.set(rest.join(), rest)
  }
  const all = scope.reduce((product, variable) => product * (sizes[variable] ?? 1), 1)
  return different.size === all ? undefined : { scope, tuples: [...different.values()], evidence: seen.evidence }
}

function implies(some: readonly Seen[], variable: number, left: number, sizes: readonly number[]): boolean {
  const others = (2 ** (sizes[variable] ?? 1) - 1) & ~left
  return !new ConstraintNetwork(sizes, some).isConsistent({ variable, values: others })
}

/** Observations about the variable come first, those with few other variables before the others. */
function inPreference(seen: readonly Seen[], variable: number): Seen[] {
  const distance = ({ scope }: Seen) => scope.length + (scope.includes(variable) ? 0 : 1000)
  return seen.toSorted((one, other) => distance(one) - distance(other))
}

/**
 * A minimal part of the list that is enough; earlier items are preferred (QuickXplain). The whole list must be enough,
 * and adding items must never make it insufficient. If the whole list is not enough, as after a search that was cut
 * short, the result is the whole list.
 */
function leastOf<Item>(items: readonly Item[], isEnough: (some: readonly Item[]) => boolean): Item[] {
  function reduce(base: readonly Item[], isNew: boolean, rest: readonly Item[]): Item[] {
    if (isNew && isEnough(base)) return []
    if (rest.length <= 1) return [...rest]
    const half = Math.ceil(rest.length / 2)
    const [first, second] = [rest.slice(0, half), rest.slice(half)]
    const fromSecond = reduce([...base, ...first], true, second)
    return [...reduce([...base, ...fromSecond], fromSecond.length > 0, first), ...fromSecond]
  }
  return reduce([], true, items)
}

/** Some ids of each observation. The first ids come before the second ones. Each observation has at least one. */
function idsOf(seen: readonly Seen[]): string[] {
  const ids = new Set<string>()
  for (let place = 0; place < EVIDENCE_KEPT; place++) {
    for (const { evidence } of seen) {
      const id = evidence[place]
      if (id !== undefined && (place === 0 || ids.size < EVIDENCE_KEPT)) ids.add(id)
    }
  }
  return [...ids]
}
