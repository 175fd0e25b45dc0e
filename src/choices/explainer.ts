import { shownBy } from '../behaviour/operations/operations.ts'
import type { ShownData } from '../behaviour/shown-data.ts'
import type { OpenAnswers } from '../contract/assumptions.ts'
import type { Problem } from '../domain/errors.ts'
import { comparable, purposeOf, type RequestPurpose } from '../exchanges/purpose.ts'
import { isObject } from '../ground/json.ts'
import { loosely } from './hypotheses.ts'
import { type Assignment, assignmentsOf } from './observation.ts'
import { ASPECTS, type Asked, type Aspect, type Fits, type Possibilities, Predictor, reasonOf } from './predictor.ts'
import { type Prediction, type Reads, withUsualType } from './variant.ts'
import type { ChoiceVariable, Hostnames, Variants } from './variants.ts'

/** What is known about the outcome of one exchange. */
export interface Explanation {
  /** Whether some combination of choices leads to what was seen. */
  isExplained: boolean
  /** Whether all combinations lead to what was seen, so that it says nothing about the choices. */
  isSilent: boolean
  /** What each aspect says about the choices; only aspects that say something. */
  allows: readonly (readonly Assignment[])[]
  /** The choices other than ours without which nothing explains it; empty if our choices explain it. */
  deviations: Assignment
  /** Whether several combinations other than ours explain it. */
  isAmbiguous: boolean
  /** The prediction of the simplest combination that explains it. */
  prediction: Prediction | undefined
  /** What the service would have answered under our choices, in each world. */
  expected: readonly Prediction[]
  /** The problems that the service may have reported. */
  problems: readonly Problem<string>[]
  /** The account after the request under each other single choice that also explains the response. */
  underOthers: readonly { id: string; number: number; prediction: Prediction }[]
  /** Why the specification permits a response that no combination explains; absent if it does not. */
  open?: OpenPoint
}

/** A point that the specification leaves open, beyond the alternatives of openapi.yaml. */
export type OpenPoint = { kind: 'assumption'; id: string } | { kind: 'order of checks' }

/** What else permits a response: a combination of other assumptions, or that the specification leaves it open. */
interface BeyondScope {
  combination?: Assignment
  open?: OpenPoint | undefined
}

/** A combination, and which aspects it explains. */
interface TriedCombination {
  assignment: Assignment
  fits: Readonly<Fits>
}

/** An alternative that changes what may be answered. */
interface Reacting {
  id: string
  number: number
  possibilities: Possibilities
}

/** The reasons of refusals that are about the header fields of a body. */
const ABOUT_MEDIA: ReadonlySet<string> = new Set(['content-type', 'coding'])

/** How many combinations are tried. If there are more, nothing is learnt. */
const COMBINATIONS = 128

/** Finds the combinations of choices that explain what a service answered to one request. */
export class Explainer {
  readonly #variants: Variants
  readonly #operation: string | undefined
  readonly #hostnames: Hostnames
  readonly #predictor: Predictor
  readonly #asked: Asked

  constructor(variants: Variants, { entries }: RequestPurpose, asked: Asked) {
    this.#variants = variants
    this.#asked = asked
    this.#operation = asked.reading.operation?.id
    const members = asked.worlds.flatMap(({ groups }) => groups.flatMap(({ domains }) => domains))
    this.#hostnames = variants.hostnamesAmong(new Set([...entries, ...members]))
    this.#predictor = new Predictor(variants, asked)
  }

  /** `fixed` are the choices that are certain. */
  async explain(fixed: Assignment): Promise<Explanation> {
    const chosen = othersIn(fixed)
    const base = await this.#predictor.at(chosen)
    const { scope, reacting } = await this.#findScope(fixed, base)
    const { combinations, isWhole } = combine(scope)
    const tried: TriedCombination[] = []
    for (const assignment of combinations) {
      tried.push({ assignment, fits: await this.#predictor.fitsAt({ ...chosen, ...assignment }) })
    }
    const fitting = tried.filter(({ fits }) => fits.content)
    const [found] = fitting.toSorted((one, other) => weight(one.assignment) - weight(other.assignment))
    const beyond = found === undefined ? await this.#findBeyond(chosen, base, scope) : undefined
    const simplest = found?.assignment ?? beyond?.combination
    const own = await this.#predictor.at({})
    const explained = simplest && (await this.#predictor.at({ ...chosen, ...simplest }))
    const singles = reacting.filter(({ possibilities }) => possibilities.match >= 0)
    const problems = new Map<string, Problem<string>>()
    for (const each of [explained, base, ...singles.map(({ possibilities }) => possibilities)]) {
      for (const prediction of each?.predictions ?? []) {
        if (!prediction.ok && prediction.code === this.#predictor.seen?.content)
          problems.set(reasonOf(prediction), prediction.problems[0])
      }
    }
    return {
      isExplained: simplest !== undefined,
      isSilent: isWhole && tried.every(({ fits }) => ASPECTS.every((aspect) => fits[aspect] === true)),
      // A combination that was not tried may be how the service behaves.
      allows: isWhole ? ASPECTS.flatMap((aspect) => this.#allowed(aspect, scope, tried)) : [],
      ...(await this.#deviations(chosen, simplest, fitting, own)),
      prediction: explained?.predictions[explained.match],
      expected: own.predictions,
      problems: [...problems.values()],
      ...(beyond?.open && { open: beyond.open }),
      underOthers: singles.flatMap(({ id, number, possibilities }) => {
        const prediction = possibilities.predictions[possibilities.match]
        return prediction === undefined ? [] : [{ id, number, prediction }]
      }),
    }
  }

  /** What permits a response that no combination of the scope explains. */
  async #findBeyond(chosen: Assignment, base: Possibilities, scope: readonly ChoiceVariable[]): Promise<BeyondScope> {
    const { outcome } = this.#asked.reading
    if (outcome.kind === 'success') return this.#findBeyondSuccess(outcome.data, chosen, base)
    if (outcome.kind !== 'refusal') return {}
    return { open: await this.#findOpenRefusal(outcome.code, chosen, base, scope) }
  }

  /** A success is open if a service with other choices may accept the request, and what it then answers is open. */
  async #findBeyondSuccess(data: unknown, chosen: Assignment, base: Possibilities): Promise<BeyondScope> {
    const problems = base.predictions.flatMap((each) => (each.ok ? [] : [each.problems]))[0] ?? []
    const [problem] = problems
    if (problem === undefined) return {}
    // How large a body may be is not shown, so what the service made of a larger one cannot be said.
    if (problem.reason === 'bytes') return { open: { kind: 'assumption', id: 'body-limit' } }
    if (ABOUT_MEDIA.has(problem.reason ?? '')) {
      // The service has not minded how the body was announced. All else must be as it should be.
      const asked = { ...this.#asked, reading: withUsualType(this.#asked.reading) }
      const { isExplained, open } = await new Explainer(this.#variants, purposeOf(asked.reading), asked).explain(chosen)
      const media = this.#variants.openFor(problem)
      if (!isExplained) return { open }
      return media?.open.success === true ? { open: { kind: 'assumption', id: media.id } } : {}
    }
    const { reading } = this.#asked
    const { operation } = reading
    const named = domainsIn(reading.shown)
    // However a request was accepted, a success names no other domains than the request.
    if (goBeyond(named, new Set(purposeOf(reading).names))) return {}
    const accepting = problems.map(({ reason = '' }) =>
      operation === undefined
        ? undefined
        : this.#variants.openInBody(operation, reason).find(({ open }) => open.success === true),
    )
    const [about] = accepting
    if (about !== undefined && !accepting.includes(undefined)) return { open: { kind: 'assumption', id: about.id } }
    const { assignment, possibilities } = await this.#accept(chosen, base)
    // Where one refusal hides another, each choice alone changes nothing, so the scope has not all of them.
    if (possibilities.match >= 0) return { combination: assignment }
    const isPossible = possibilities.predictions.some((each) => {
      if (!each.ok || countIn(each.data) !== countIn(data)) return false
      return !goBeyond(domainsIn(shownBy(operation?.id, each.data)), named)
    })
    if (!isPossible) return {}
    const ids = Object.keys(assignment).filter((id) => !Object.hasOwn(chosen, id))
    const open = ids.find((id) => this.#variants.openAt(id).success === true)
    return open === undefined ? {} : { open: { kind: 'assumption', id: open } }
  }

  /** Adds one choice after the other that leaves fewer problems of the request, until it is accepted. */
  async #accept(
    chosen: Assignment,
    base: Possibilities,
  ): Promise<{ assignment: Assignment; possibilities: Possibilities }> {
    let best = { assignment: chosen, possibilities: base }
    for (let left = problemsLeft(base); left > 0; ) {
      const { assignment, possibilities } = best
      for (const { id, alternatives } of this.#candidates(possibilities.reads)) {
        if (Object.hasOwn(assignment, id)) continue
        for (const number of alternatives) {
          const trial = { ...assignment, [id]: number }
          const reached = await this.#predictor.at(trial)
          if (problemsLeft(reached) >= left) continue
          left = problemsLeft(reached)
          best = { assignment: trial, possibilities: reached }
        }
      }
      if (best.assignment === assignment) break
    }
    return best
  }

  async #findOpenRefusal(
    code: string,
    chosen: Assignment,
    base: Possibilities,
    scope: readonly ChoiceVariable[],
  ): Promise<OpenPoint | undefined> {
    const { problems, reads } = await this.#predictor.problemsAt(chosen)
    if (problems.some((problem) => problem.code === code)) return { kind: 'order of checks' }
    if (code === 'duplicate_name' && hasSimilarName(this.#asked)) return { kind: 'assumption', id: 'name-comparison' }
    const ids = [...scope.map(({ id }) => id), ...[...reads].flatMap((name) => this.#variants.idOf(name) ?? [])]
    const atChoices = ids.map((id) => ({ id, open: this.#variants.openAt(id) }))
    const admitting = admits(code, [...this.#openAt(problems), ...atChoices])
    if (admitting !== undefined) return { kind: 'assumption', id: admitting }
    if (problems.length === 0) return undefined
    // Another choice may find a further problem, with which the service has begun.
    for (const { id, alternatives } of this.#candidates(base.reads, reads)) {
      for (const number of alternatives) {
        const others = (await this.#predictor.problemsAt({ ...chosen, [id]: number })).problems
        if (others.some((problem) => problem.code === code)) return { kind: 'order of checks' }
        const other = admits(code, this.#openAt(others))
        if (other !== undefined) return { kind: 'assumption', id: other }
      }
    }
    return undefined
  }

  /** What the specification leaves open about the answers to these problems. */
  #openAt(problems: readonly Problem<string>[]): { id: string; open: OpenAnswers }[] {
    const { operation } = this.#asked.reading
    return problems.flatMap((problem) => [
      ...[this.#variants.openFor(problem) ?? []].flat(),
      ...(operation === undefined ? [] : this.#variants.openInBody(operation, problem.reason ?? '')),
    ])
  }

  /** The variables that may change the answer to the request, if it depends on these settings. */
  #candidates(...reads: readonly Reads[]): readonly ChoiceVariable[] {
    const { variables } = this.#variants
    const { conditions } = this.#predictor
    const conditional = variables.filter(({ id }) => conditions.includes(id))
    const all = { has: (name: string) => reads.some((each) => each.has(name)) }
    const concerned = this.#variants.concerned(this.#operation, this.#hostnames, all)
    return [...conditional, ...concerned.filter(({ id }) => !conditions.includes(id))]
  }

  /** The assumptions on which the response depends, alone or together with one other. */
  async #findScope(fixed: Assignment, base: Possibilities): Promise<{ scope: ChoiceVariable[]; reacting: Reacting[] }> {
    const { variables } = this.#variants
    const chosen = othersIn(fixed)
    const scope = new Set<string>()
    const candidates = (reads: Reads) =>
      this.#candidates(reads).filter(({ id }) => !Object.hasOwn(fixed, id) && !scope.has(id))
    const reacting: Reacting[] = []
    for (const { id, alternatives } of candidates(base.reads)) {
      for (const number of alternatives) {
        const possibilities = await this.#predictor.at({ ...chosen, [id]: number })
        if (possibilities.text === base.text) continue
        scope.add(id)
        reacting.push({ id, number, possibilities })
      }
    }
    for (const { id: first, number: value, possibilities } of reacting) {
      for (const { id, alternatives } of candidates(possibilities.reads)) {
        for (const number of alternatives) {
          const { text } = await this.#predictor.at({ ...chosen, [first]: value, [id]: number })
          if (text === possibilities.text) continue
          scope.add(id)
          break
        }
      }
    }
    return { scope: variables.filter(({ id }) => scope.has(id)), reacting }
  }

  /** What an aspect says about the assumptions that it depends on; empty if it says nothing. */
  #allowed(
    aspect: Aspect,
    scope: readonly ChoiceVariable[],
    tried: readonly TriedCombination[],
  ): (readonly Assignment[])[] {
    let allowed = tried.filter(({ fits }) => fits[aspect] !== false).map((each) => each.assignment)
    // If no combination explains this aspect, it does not exclude those that explain the others.
    if (!tried.some(({ fits }) => fits[aspect] === true) || allowed.length === tried.length) return []
    let all = tried.map((each) => each.assignment)
    // An assumption whose value makes no difference is left out.
    for (const { id } of scope) {
      const keys = new Set(allowed.map(textOf))
      const groups = new Map<string, { all: number; allowed: number; rest: Assignment }>()
      for (const assignment of all) {
        const rest = without(id, assignment)
        const group = groups.get(textOf(rest)) ?? { all: 0, allowed: 0, rest }
        groups.set(textOf(rest), group)
        group.all++
        if (keys.has(textOf(assignment))) group.allowed++
      }
      const rests = [...groups.values()]
      if (!rests.every((group) => group.allowed === 0 || group.allowed === group.all)) continue
      all = rests.map(({ rest }) => rest)
      allowed = rests.filter((group) => group.allowed > 0).map(({ rest }) => rest)
    }
    return [allowed.flatMap((assignment) => this.#expand(assignment))]
  }

  /** If our choice is allowed, alternatives that change no outcome are allowed too. */
  #expand(assignment: Assignment): Assignment[] {
    return assignmentsOf(
      Object.entries(assignment).map(([id, number]) => {
        return [id, number === 0 ? [0, ...this.#variants.silentAlternatives(id)] : [number]]
      }),
    )
  }

  async #deviations(
    certain: Assignment,
    simplest: Assignment | undefined,
    fitting: readonly { assignment: Assignment }[],
    own: Possibilities,
  ): Promise<Pick<Explanation, 'deviations' | 'isAmbiguous'>> {
    if (simplest === undefined || own.match >= 0) return { deviations: {}, isAmbiguous: false }
    const chosen: Record<string, number> = { ...certain, ...simplest }
    const deviations: Record<string, number> = {}
    for (const [id, number] of Object.entries(chosen)) {
      if (number === 0) continue
      const { [id]: _, ...rest } = chosen
      if ((await this.#predictor.at(rest)).match < 0) deviations[id] = number
    }
    const others = fitting.filter(({ assignment }) =>
      Object.entries(deviations).some(([id, number]) => Object.hasOwn(assignment, id) && assignment[id] !== number),
    )
    // A combination from beyond the scope need not be the only one.
    return { deviations, isAmbiguous: others.length > 0 || fitting.length === 0 }
  }
}

/** The id of the first assumption at which the specification leaves this code open. */
function admits(code: string, open: readonly { id: string; open: OpenAnswers }[]): string | undefined {
  return open.find(({ open: { codes } }) => codes?.includes(code) === true)?.id
}

/** How far a request is from being accepted in every world. The problems of its form come before all others. */
function problemsLeft({ predictions }: Possibilities): number {
  const weigh = (each: Prediction) => (each.ok ? 0 : each.problems.length + (each.isUnconditional ? 1_000_000 : 0))
  return Math.max(...predictions.map(weigh))
}

/** The domains that a success says that it has added or removed, in comparable form. */
function domainsIn({ added = [], removed = [] }: ShownData): ReadonlySet<string> {
  return new Set([...added, ...removed].map(comparable))
}

/** Whether some domains are not among the others. */
function goBeyond(domains: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return [...domains].some((each) => !others.has(each))
}

/** How many they are; `undefined` if it does not say it. */
function countIn(data: unknown): unknown {
  return isObject(data) ? data['count'] : undefined
}

/** Whether the account may have a group whose name some services would treat as equal to that of the request. */
function hasSimilarName({ reading, worlds }: Asked): boolean {
  const { name, ids } = purposeOf(reading)
  if (name === undefined) return false
  return worlds.some(({ groups }) =>
    groups.some((group) => !ids.includes(group.id) && loosely(group.name) === loosely(name)),
  )
}

/** All combinations of values of the assumptions. If too many, only those with at most two choices other than ours. */
function combine(scope: readonly ChoiceVariable[]): { combinations: readonly Assignment[]; isWhole: boolean } {
  const count = scope.reduce((product, { alternatives }) => product * (alternatives.length + 1), 1)
  const isWhole = count <= COMBINATIONS
  const most = isWhole ? Number.POSITIVE_INFINITY : 2
  let combinations: Assignment[] = [{}]
  for (const { id, alternatives } of scope) {
    combinations = combinations.flatMap((assignment) => {
      const others = weight(assignment) >= most ? [] : alternatives
      return [0, ...others].map((number) => ({ ...assignment, [id]: number }))
    })
  }
  return { combinations, isWhole }
}

/** The choices other than ours. */
function othersIn(assignment: Assignment): Assignment {
  return Object.fromEntries(Object.entries(assignment).filter(([, number]) => number > 0))
}

function weight(assignment: Assignment): number {
  return Object.values(assignment).filter((number) => number > 0).length
}

function without(id: string, { [id]: _, ...rest }: Assignment): Assignment {
  return rest
}

function textOf(assignment: Assignment): string {
  return JSON.stringify(assignment)
}
