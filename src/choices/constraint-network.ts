/**
 * Variables with few values, and constraints that list the permitted combinations of values. The network finds the
 * values that a variable can have in a solution. A set of values is a number with one bit for each value.
 */
export interface Constraint {
  /** The variables of the constraint, each once. */
  readonly scope: readonly number[]
  /** Values in the order of `scope`. */
  readonly tuples: readonly (readonly number[])[]
}

/** How many values one search tries. A value that was not excluded by then stays possible. */
const TRIES = 50_000

/** The values that are left of each variable. */
export type Domains = readonly number[]

/** Whether exactly one bit is set. */
export function isSingle(values: number): boolean {
  return values !== 0 && (values & (values - 1)) === 0
}

/** The values of a set, from the lowest. */
export function valuesOf(set: number): number[] {
  return Array.from({ length: 32 - Math.clz32(set) }, (_, value) => value).filter((value) => set & (1 << value))
}

export class ConstraintNetwork {
  readonly #sizes: readonly number[]
  readonly #constraints: readonly Constraint[]
  /** The indexes of the constraints of each variable. */
  readonly #about: readonly (readonly number[])[]
  /** The constraints that removed a value since the present search began. */
  #used = new Set<number>()
  #tries = 0

  /** `sizes` has the number of values of each variable: at most 31. */
  constructor(sizes: readonly number[], constraints: readonly Constraint[]) {
    this.#sizes = sizes
    this.#constraints = constraints
    const about: number[][] = sizes.map(() => [])
    for (const [index, { scope }] of constraints.entries()) for (const variable of scope) about[variable]?.push(index)
    this.#about = about
  }

  /** Whether there is a solution. Also true if the search is cut short. */
  isConsistent(restricted?: { variable: number; values: number }): boolean {
    const domains = this.#all()
    if (restricted !== undefined) domains[restricted.variable] = restricted.values
    this.#tries = 0
    if (!this.#propagate(domains, undefined)) return false
    return this.#parts(domains).every((part) => this.#search(domains, part, undefined) !== undefined)
  }

  /**
   * The values that each variable has in some solution, and the constraints that excluded the other values of each
   * variable. The constraints may include a few that were not needed. `undefined` if there is no solution.
   */
  solve(): { domains: Domains; reasons: readonly ReadonlySet<number>[] } | undefined {
    const reasons = this.#sizes.map(() => new Set<number>())
    const domains = this.#all()
    if (!this.#propagate(domains, reasons)) return undefined
    for (const part of this.#parts(domains)) {
      const seen = new Map(part.map((variable) => [variable, 0]))
      this.#tries = 0
      for (const variable of part) {
        for (const value of valuesOf(domains[variable] ?? 0)) {
          if ((seen.get(variable) ?? 0) & (1 << value)) continue
          const trial = domains.slice()
          trial[variable] = 1 << value
          this.#used = new Set()
          const solution = this.#propagateFrom(trial, variable, undefined) ? this.#search(trial, part, seen) : undefined
          if (solution !== undefined) {
            for (const each of part) seen.set(each, (seen.get(each) ?? 0) | (solution[each] ?? 0))
            continue
          }
          domains[variable] = (domains[variable] ?? 0) & ~(1 << value)
          for (const index of this.#used) this.#blame(index, variable, domains, reasons)
          if (domains[variable] === 0 || !this.#propagateFrom(domains, variable, reasons)) return undefined
        }
      }
    }
    return { domains, reasons }
  }

  #all(): number[] {
    return this.#sizes.map((size) => 2 ** size - 1)
  }

  #propagate(domains: number[], reasons: readonly Set<number>[] | undefined): boolean {
    return this.#drain(domains, new Set(this.#constraints.keys()), reasons)
  }

  #propagateFrom(domains: number[], variable: number, reasons: readonly Set<number>[] | undefined): boolean {
    return this.#drain(domains, new Set(this.#about[variable]), reasons)
  }

  /** Removes every value that a single constraint does not permit, until nothing changes. */
  #drain(domains: number[], waiting: Set<number>, reasons: readonly Set<number>[] | undefined): boolean {
    for (const index of waiting) {
      waiting.delete(index)
      const { scope, tuples } = this.#constraints[index] as Constraint
      const supported: number[] = scope.map(() => 0)
      for (const tuple of tuples) {
        if (!isPossible(tuple, scope, domains)) continue
        for (let place = 0; place < scope.length; place++) {
          supported[place] = (supported[place] ?? 0) | (1 << (tuple[place] ?? 0))
        }
      }
      for (const [place, variable] of scope.entries()) {
        const before = domains[variable] ?? 0
        const after = before & (supported[place] ?? 0)
        if (after === before) continue
        this.#used.add(index)
        if (reasons !== undefined) this.#blame(index, variable, domains, reasons)
        domains[variable] = after
        if (after === 0) return false
        for (const other of this.#about[variable] ?? []) if (other !== index) waiting.add(other)
      }
    }
    return true
  }

  /** Notes that a constraint removed values of the variable, and what had narrowed its other variables before. */
  #blame(index: number, variable: number, domains: Domains, reasons: readonly Set<number>[]): void {
    const of = reasons[variable]
    of?.add(index)
    for (const other of this.#constraints[index]?.scope ?? []) {
      if (other === variable || domains[other] === 2 ** (this.#sizes[other] ?? 0) - 1) continue
      for (const reason of reasons[other] ?? []) of?.add(reason)
    }
  }

  /** The open variables, split into parts. No constraint joins two parts. */
  #parts(domains: Domains): number[][] {
    const part = this.#sizes.map((_, variable) => variable)
    const find = (variable: number): number => {
      let root = variable
      while (part[root] !== root) root = part[root] ?? root
      part[variable] = root
      return root
    }
    for (const { scope } of this.#constraints) {
      const [first, ...others] = scope.filter((variable) => !isSingle(domains[variable] ?? 0))
      if (first !== undefined) for (const other of others) part[find(other)] = find(first)
    }
    const parts = new Map<number, number[]>()
    for (const variable of part.keys()) {
      if (isSingle(domains[variable] ?? 0)) continue
      const root = find(variable)
      parts.set(root, [...(parts.get(root) ?? []), variable])
    }
    return [...parts.values()].filter((variables) => variables.length > 1)
  }

  /**
   * The domains of a solution for this part; if the search is cut short, the domains as they were by then. Values of
   * `seen` are tried after all others.
   */
  #search(
    domains: number[],
    part: readonly number[],
    seen: ReadonlyMap<number, number> | undefined,
  ): number[] | undefined {
    let next: number | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const variable of part) {
      const count = countOf(domains[variable] ?? 0)
      if (count > 1 && count < fewest) {
        fewest = count
        next = variable
      }
    }
    if (next === undefined) return domains
    const known = seen?.get(next) ?? 0
    const values = valuesOf(domains[next] ?? 0)
    for (const value of [
      ...values.filter((each) => !(known & (1 << each))),
      ...values.filter((each) => known & (1 << each)),
    ]) {
      if (++this.#tries > TRIES) return domains
      const trial = domains.slice()
      trial[next] = 1 << value
      if (!this.#propagateFrom(trial, next, undefined)) continue
      const solution = this.#search(trial, part, seen)
      if (solution !== undefined) return solution
    }
    return undefined
  }
}

function isPossible(tuple: readonly number[], scope: readonly number[], domains: Domains): boolean {
  for (let place = 0; place < scope.length; place++) {
    if (((domains[scope[place] as number] as number) & (1 << (tuple[place] as number))) === 0) return false
  }
  return true
}

function countOf(set: number): number {
  let count = 0
  for (let rest = set; rest !== 0; rest &= rest - 1) count++
  return count
}
