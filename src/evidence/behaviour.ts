import type { AccountState } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import { isObject, type Json } from '../ground/json.ts'
import { type DataParts, viewData } from './data.ts'
import type { Hypotheses } from './hypotheses.ts'
import type { Assignment } from './observation.ts'
import type { Purpose } from './purpose.ts'
import type { Reading } from './reading.ts'
import type { Prediction, Variable, Variants } from './variants.ts'
import { accountOf } from './worlds.ts'

/** What of a response may depend on what was chosen: its outcome and content, their order, and the spelling of domains. */
const ASPECTS = ['content', 'order', 'spelling'] as const
type Aspect = (typeof ASPECTS)[number]
type Fits = Record<Aspect, boolean | undefined>

/** What a service that obeys an assignment may answer. */
interface Possibilities {
  /** The answers, one for each world. */
  predictions: readonly Prediction[]
  /** Which world would have led to what was seen; -1 for none. */
  match: number
  /** Of each aspect whether some world leads to it; `undefined` where already the content differs. */
  fits: Readonly<Fits>
  /** Equal where nothing differs in any world. */
  text: string
  /** The settings that decided it. */
  reads: ReadonlySet<string>
}

/** What was found out about the outcome of one exchange. */
export interface Explanation {
  /** Whether some combination of choices leads to what was seen. */
  isExplained: boolean
  /** What each aspect says about the choices; only where it says something. */
  allows: readonly (readonly Assignment[])[]
  /** The choices other than ours that it takes, where no other choices do; empty where ours explain it. */
  deviations: Assignment
  /** Whether several combinations other than ours explain it. */
  isAmbiguous: boolean
  /** How it came to be under the simplest combination that explains it. */
  prediction: Prediction | undefined
  /** What would have come under our choices, in each world. */
  expected: readonly Prediction[]
  /** All problems of which the service may have answered the first. */
  problems: readonly Problem<string>[]
  /** What the account would be under single other choices that explain it as well. */
  otherwise: readonly { id: string; number: number; prediction: Prediction }[]
}

/** A combination, and which aspects it explains. */
interface Tried {
  assignment: Assignment
  fits: Readonly<Fits>
}

/** An alternative that changes what may be answered. */
interface Reacting {
  id: string
  number: number
  possibilities: Possibilities
}

/** Combinations that are looked at; where there would be more, nothing is learnt. */
const COMBINATIONS = 128

/** Finds the combinations of choices that explain what a service answered to one request. */
export class Explainer {
  readonly #variants: Variants
  readonly #reading: Reading
  readonly #spellings: readonly string[]
  readonly #worlds: Hypotheses['worlds']
  readonly #now: number
  readonly #seen: { content: string; order: string; spelling: string }
  readonly #pause: () => Promise<void>
  readonly #known = new Map<string, Possibilities>()
  /** The worlds as accounts, by how they are kept. */
  readonly #accounts = new Map<string, readonly AccountState[]>()
  /** The assumptions on which the members of groups depend. */
  readonly #conditions: readonly string[]

  constructor(
    variants: Variants,
    reading: Reading,
    purpose: Purpose,
    worlds: Hypotheses['worlds'],
    now: number,
    pause: () => Promise<void>,
  ) {
    this.#variants = variants
    this.#reading = reading
    const members = worlds.flatMap(({ groups }) => groups.flatMap(({ domains }) => domains))
    this.#spellings = [...new Set([...purpose.names, ...purpose.spellings.values(), ...members])]
    this.#worlds = worlds
    this.#now = now
    this.#pause = pause
    const others = worlds.flatMap(({ groups }) => groups.flatMap(({ otherwise = [] }) => otherwise.map(({ id }) => id)))
    this.#conditions = [...new Set(others)]
    const { outcome } = reading
    this.#seen =
      outcome.kind === 'success'
        ? viewOf(reading, outcome.data)
        : { content: outcome.kind === 'refusal' ? outcome.code : '', order: '', spelling: '' }
  }

  /**
   * `fixed` are the choices that are certain.
   */
  async explain(fixed: Assignment): Promise<Explanation> {
    const base = await this.#at(fixed)
    const { scope, reacting } = await this.#findScope(fixed, base)
    const { combinations, isWhole } = combine(scope)
    const tried: Tried[] = []
    for (const assignment of combinations) {
      tried.push({ assignment, fits: await this.#fitsAt({ ...fixed, ...assignment }) })
    }
    const fitting = tried.filter(({ fits }) => fits.content)
    const simplest = fitting.toSorted((one, other) => weight(one.assignment) - weight(other.assignment))[0]
    const own = await this.#at({})
    const explained = simplest && (await this.#at({ ...fixed, ...simplest.assignment }))
    const singles = reacting.filter(({ possibilities }) => possibilities.match >= 0)
    const problems = new Map<string, Problem<string>>()
    for (const each of [explained, base, ...singles.map(({ possibilities }) => possibilities)]) {
      for (const prediction of each?.predictions ?? []) {
        if (!prediction.ok && prediction.code === this.#seen.content)
          problems.set(reasonOf(prediction), prediction.problems[0])
      }
    }
    return {
      isExplained: simplest !== undefined,
      // What was not looked at may be how the service behaves.
      allows: isWhole ? ASPECTS.flatMap((aspect) => this.#allowed(aspect, scope, tried)) : [],
      ...(await this.#deviations(fixed, simplest?.assignment, fitting, own)),
      prediction: explained?.predictions[explained.match],
      expected: own.predictions,
      problems: [...problems.values()],
      otherwise: singles.flatMap(({ id, number, possibilities }) => {
        const prediction = possibilities.predictions[possibilities.match]
        return prediction === undefined ? [] : [{ id, number, prediction }]
      }),
    }
  }

  /** The assumptions on which the response depends, alone or together with one other. */
  async #findScope(fixed: Assignment, base: Possibilities): Promise<{ scope: Variable[]; reacting: Reacting[] }> {
    const scope = new Map<string, Variable>()
    const candidates = (reads: ReadonlySet<string>) =>
      this.#variants.variables
        .filter(({ id }) => !Object.hasOwn(fixed, id) && !scope.has(id))
        .map((variable) => ({
          variable,
          numbers: variable.alternatives.filter(
            (number) =>
              this.#conditions.includes(variable.id) ||
              this.#variants.concerns(variable.id, number, this.#reading.operation?.id, this.#spellings, reads),
          ),
        }))
    const reacting: Reacting[] = []
    for (const { variable, numbers } of candidates(base.reads)) {
      for (const number of numbers) {
        const assignment = { ...fixed, [variable.id]: number }
        const possibilities = await this.#at(assignment)
        if (possibilities.text === base.text) continue
        scope.set(variable.id, variable)
        reacting.push({ id: variable.id, number, possibilities })
      }
    }
    for (const { id, number: chosen, possibilities } of reacting) {
      const assignment = { ...fixed, [id]: chosen }
      for (const { variable, numbers } of candidates(possibilities.reads)) {
        for (const number of numbers) {
          const { text } = await this.#at({ ...assignment, [variable.id]: number })
          if (text === possibilities.text) continue
          scope.set(variable.id, variable)
          break
        }
      }
    }
    return { scope: [...scope.values()], reacting }
  }

  async #at(assignment: Assignment): Promise<Possibilities> {
    const { key, chosen } = simplify(assignment)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const reads = new Set<string>()
    const { answer, accounts } = await this.#prepare(chosen, reads)
    const fits: Fits = { content: false, order: undefined, spelling: undefined }
    let match = -1
    const texts: string[] = []
    const predictions = accounts.map((account, index) => {
      const prediction = answer(account)
      const view = this.#viewOf(prediction)
      texts.push(`${view.content}\n${view.order}\n${view.spelling}\n${reasonOf(prediction)}\n${membersOf(prediction)}`)
      if (this.#compare(prediction, view, fits) && match < 0) match = index
      return prediction
    })
    const possibilities = { predictions, match, fits, text: texts.join('\u0000'), reads }
    this.#known.set(key, possibilities)
    return possibilities
  }

  /** Which aspects some world explains. It stops as soon as all are explained. */
  async #fitsAt(assignment: Assignment): Promise<Fits> {
    const { key, chosen } = simplify(assignment)
    const known = this.#known.get(key)
    if (known !== undefined) return known.fits
    const { answer, accounts } = await this.#prepare(chosen, new Set())
    const fits: Fits = { content: false, order: undefined, spelling: undefined }
    for (const account of accounts) {
      const prediction = answer(account)
      this.#compare(prediction, this.#viewOf(prediction), fits)
      if (fits.content && fits.order && fits.spelling) break
    }
    return fits
  }

  async #prepare(chosen: Assignment, reads: Set<string>) {
    await this.#pause()
    const variant = await this.#variants.at(chosen)
    const others = this.#conditions.map((id) => chosen[id] ?? 0)
    const key = `${variant.keeping} ${others.join()}`
    let accounts = this.#accounts.get(key)
    if (accounts === undefined) {
      accounts = this.#worlds.map((world) => accountOf(world, variant.contract, chosen))
      this.#accounts.set(key, accounts)
    }
    return { answer: variant.prepare(this.#reading, this.#now, reads), accounts }
  }

  #viewOf(prediction: Prediction): DataParts {
    return prediction.ok
      ? viewOf(this.#reading, prediction.data)
      : { content: prediction.code, order: '', spelling: '' }
  }

  /** Notes which aspects of what was seen a prediction explains; whether it explains the content. */
  #compare({ ok }: Prediction, view: DataParts, fits: Fits): boolean {
    if (ok !== (this.#reading.outcome.kind === 'success') || view.content !== this.#seen.content) return false
    fits.content = true
    fits.order = fits.order === true || view.order === this.#seen.order
    fits.spelling = fits.spelling === true || view.spelling === this.#seen.spelling
    return true
  }

  /** What an aspect says about the assumptions on which it depends; empty where it says nothing. */
  #allowed(aspect: Aspect, scope: readonly Variable[], tried: readonly Tried[]): (readonly Assignment[])[] {
    let allowed = tried.filter(({ fits }) => fits[aspect] !== false).map((each) => each.assignment)
    // What no combination explains is no reason to exclude those that explain the rest.
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

  /** What our choice allows, alternatives that change no outcome allow as well. */
  #expand(assignment: Assignment): Assignment[] {
    let expanded: Assignment[] = [{}]
    for (const [id, number] of Object.entries(assignment)) {
      const numbers = number === 0 ? [0, ...this.#variants.silentAlternatives(id)] : [number]
      expanded = expanded.flatMap((each) => numbers.map((value) => ({ ...each, [id]: value })))
    }
    return expanded
  }

  async #deviations(
    fixed: Assignment,
    simplest: Assignment | undefined,
    fitting: readonly { assignment: Assignment }[],
    own: Possibilities,
  ): Promise<Pick<Explanation, 'deviations' | 'isAmbiguous'>> {
    if (simplest === undefined || own.match >= 0) return { deviations: {}, isAmbiguous: false }
    const chosen: Record<string, number> = { ...fixed, ...simplest }
    const deviations: Record<string, number> = {}
    for (const [id, number] of Object.entries(chosen)) {
      if (number === 0) continue
      const { [id]: _, ...rest } = chosen
      if ((await this.#at(rest)).match < 0) deviations[id] = number
    }
    const others = fitting.filter(({ assignment }) =>
      Object.entries(deviations).some(([id, number]) => Object.hasOwn(assignment, id) && assignment[id] !== number),
    )
    return { deviations, isAmbiguous: others.length > 0 }
  }
}

/**
 * Lists are judged by what is known of their items, so only that there is one matters here. The service chooses the ids
 * of groups.
 */
function viewOf({ operation }: Reading, data: unknown): DataParts {
  if (operation !== undefined && isListing(operation.id, data)) return LISTING
  if (operation?.id !== 'createDomainGroup') return viewData(data)
  const group = isObject(data) && isObject(data['group']) ? data['group'] : {}
  return viewData({ ...(data as Json), group: { ...group, id: typeof group['id'] } })
}

const LISTING = { content: 'a list', order: '', spelling: '' }

/** Whether a response lists all that the account has. */
export function isListing(operation: string, data: unknown): boolean {
  if (operation === 'listDomains' || operation === 'listDmarc') return true
  return operation === 'listDomainGroups' && typeof data === 'object' && data !== null && 'groups' in data
}

function reasonOf(prediction: Prediction): string {
  if (prediction.ok) return ''
  const [{ code, reason = '' }] = prediction.problems
  return `${code}/${reason}`
}

/** The members of all groups after a request: some choices change more than the response shows. */
function membersOf(prediction: Prediction): string {
  if (!prediction.ok || prediction.state.groups.size < 2) return ''
  return [...prediction.state.groups.values()].map(({ id, domains }) => `${id} ${domains.length}`).join()
}

/** All combinations of values of the assumptions; only those with one or two other choices where there are too many. */
function combine(scope: readonly Variable[]): { combinations: readonly Assignment[]; isWhole: boolean } {
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

/** An assignment without our own choices. */
function simplify(assignment: Assignment): { key: string; chosen: Assignment } {
  const others = Object.entries(assignment).filter(([, number]) => number > 0)
  return {
    key: JSON.stringify(others.toSorted(([one], [other]) => (one < other ? -1 : 1))),
    chosen: Object.fromEntries(others),
  }
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
