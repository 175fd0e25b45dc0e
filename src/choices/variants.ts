import type { ServiceContract } from '../behaviour/operation.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import { bindBehaviours } from '../behaviour/service-contract.ts'
import type { Operation } from '../contract/api.ts'
import type { OpenAnswers } from '../contract/assumptions.ts'
import { type Alternative, type Choices, nameOf, settingOf } from '../contract/choices.ts'
import type { Contract } from '../contract/contract.ts'
import { HOSTNAME_SETTINGS } from '../contract/hostname.ts'
import type { Problem } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { isObject, type Json, pointTo } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import type { Assignment } from './observation.ts'
import { compileVariants } from './permitted.ts'
import { CODES_OUTSIDE, OUTSIDE, PRECEDENCE, type Reads, Variant } from './variant.ts'

/** An assumption that the outcome of a request can depend on. */
export interface ChoiceVariable {
  id: string
  /** The numbers of the alternatives that can change an outcome. Others change only the form of a response. */
  alternatives: readonly number[]
}

/** The values of a setting; the first is our choice. */
interface SettingChoices {
  id: string
  values: readonly unknown[]
}

/** How an alternative changes the contract. */
type ContractChange =
  /** One setting that is read while a request is judged. */
  | { kind: 'setting'; name: keyof Settings; value: unknown }
  /** A compiled part. */
  | { kind: 'document'; concerns: Concerns }

/** Which requests a compiled part can matter to: those to operations, those with hostnames, those that read something. */
type Concerns = { operations: ReadonlySet<string> } | 'hostnames' | typeof PRECEDENCE | typeof CODES_OUTSIDE

/** These settings decide how a response is written, what is counted or which figures there are, but no outcome. */
const NOT_JUDGED: ReadonlySet<string> = new Set<keyof Settings>([
  ...(['plans', 'gateOrder', 'notHttp', 'gracePeriod', 'quotaScope', 'quotaWindow', 'rateLimitReset'] as const),
  ...(['quotaHeaders', 'chargedRequests', 'responseType', 'clientRequestIds', 'cors', 'decimals'] as const),
  ...(['policyBeforeRefresh', 'countPeriod'] as const),
])
/** How many compiled contracts are kept beside our own. Each takes about 0.3 megabytes with what is made of it. */
const KEPT_DOCUMENTS = 200
const KEPT_VARIANTS = 3_000
const PUBLIC_SUFFIXES = 'public-suffixes'
/** A name that is the same hostname under every choice, except for the choice about public suffixes. */
const PLAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9]*$/

/**
 * Which assumptions can concern the hostnames of a request: none of them; only that about public suffixes, because one of
 * the plain names is such a suffix; or any.
 */
export type Hostnames = 'plain' | 'suffix' | 'unusual'

/** The service under combinations of alternatives. */
export class Variants {
  readonly variables: readonly ChoiceVariable[]
  readonly #choices: Choices
  readonly #changes: ReadonlyMap<string, ContractChange>
  readonly #byName: ReadonlyMap<string, Alternative>
  readonly #settings = new Map<keyof Settings, SettingChoices>()
  readonly #numbers = new Map<string, readonly number[]>()
  /** The variables about settings that are read while a request is judged. */
  readonly #bySetting = new Map<string, ChoiceVariable>()
  /** The variables about compiled parts, by the properties of a request. */
  readonly #byRequest = new Map<string, readonly ChoiceVariable[]>()
  readonly #documents = new Map<string, ServiceContract>()
  readonly #variants = new Map<string, Variant>()
  /** Without an alternative. */
  readonly #own: ServiceContract
  /** Whether the alternatives about public suffixes differ in a plain name. */
  readonly #isSuffix: (name: string) => boolean

  private constructor(
    choices: Choices,
    changes: ReadonlyMap<string, ContractChange>,
    byName: ReadonlyMap<string, Alternative>,
    suffixContracts: readonly Contract[],
  ) {
    this.#choices = choices
    this.#own = bind(choices.contract)
    this.#isSuffix = (name) => {
      const own = this.contract.canonicalHostname(name)
      return suffixContracts.some((each) => each.canonicalHostname(name) !== own)
    }
    this.#changes = changes
    this.#byName = byName
    const numbers = new Map<string, number[]>()
    for (const name of changes.keys()) {
      const { id, number } = byName.get(name) as Alternative
      numbers.set(id, [...(numbers.get(id) ?? []), number])
    }
    this.variables = [...numbers].map(([id, alternatives]) => ({ id, alternatives }))
    for (const variable of this.variables) {
      const change = changes.get(nameOf({ id: variable.id, number: variable.alternatives[0] ?? 0 }))
      if (change?.kind === 'setting') this.#bySetting.set(change.name, variable)
    }
    for (const alternative of choices.alternatives) {
      const { id, number, value } = alternative
      this.#numbers.set(id, [...(this.#numbers.get(id) ?? [0]), number])
      const setting = settingOf(alternative) as keyof Settings | undefined
      if (setting === undefined) continue
      const { values } = this.#settings.get(setting) ?? { values: [choices.contract.settings[setting]] }
      this.#settings.set(setting, { id, values: [...values, value['value']] })
    }
  }

  /** What the specification leaves open at an assumption, beyond its alternatives. */
  openAt(id: string): OpenAnswers {
    return this.#choices.assumptions.find((each) => each.id === id)?.open ?? {}
  }

  /** The assumption about the answer to a problem in the catalogue, and what the specification leaves open there. */
  openFor({ code, reason = '' }: Problem<string>): { id: string; open: OpenAnswers } | undefined {
    const entry = pointTo('/components/x-errors', code)
    const places = [pointTo(`${entry}/reasons`, reason), entry]
    const found = places.map((place) => this.#choices.assumptions.find((each) => each.place === place))
    const assumption = found.find((each) => each?.open !== undefined)
    return assumption?.open && { id: assumption.id, open: assumption.open }
  }

  /** The assumptions about which error code a body gets for a keyword of its schema. */
  openInBody({ bodySchema }: Operation, keyword: string): { id: string; open: OpenAnswers }[] {
    const text = JSON.stringify(bodySchema ?? {})
    return this.#choices.assumptions.flatMap(({ id, choice, open }) => {
      return open !== undefined && givesCode(choice, keyword) && text.includes(`"id":"${id}"`) ? [{ id, open }] : []
    })
  }

  /** The contract without an alternative. */
  get contract(): Contract {
    return this.#choices.contract
  }

  /** All callers in a process share what is compiled. */
  static readonly load = memoizeWeakly(async (choices: Choices): Promise<Variants> => {
    const changes = new Map<string, ContractChange>()
    const compiled = new Map((await compileVariants(choices)).map((each) => [nameOf(each), each.contract]))
    const byName = new Map(choices.alternatives.map((each) => [nameOf(each), each]))
    for (const [name, alternative] of byName) {
      const contract = compiled.get(name)
      if (contract === undefined || NOT_JUDGED.has(settingOf(alternative) ?? '')) continue
      const change = settingChange(alternative) ?? documentChange(alternative, choices.contract, contract)
      if (change !== undefined) changes.set(name, change)
    }
    const ofSuffixes = choices.alternatives.filter(({ id }) => id === PUBLIC_SUFFIXES)
    return new Variants(
      choices,
      changes,
      byName,
      ofSuffixes.flatMap((each) => compiled.get(nameOf(each)) ?? []),
    )
  })

  hostnamesAmong(names: ReadonlySet<string>): Hostnames {
    let nature: Hostnames = 'plain'
    for (const name of names) {
      if (!PLAIN.test(name) || name.includes('xn--')) return 'unusual'
      if (this.#isSuffix(name)) nature = 'suffix'
    }
    return nature
  }

  /**
   * The variables whose value may change the answer to a request, each with the alternatives that may. `hostnames` says
   * which hostnames the request names, and `reads` which settings decided the answer.
   */
  concerned(operation: string | undefined, hostnames: Hostnames, reads: Reads): readonly ChoiceVariable[] {
    const request = `${operation} ${hostnames} ${reads.has(PRECEDENCE)} ${reads.has(CODES_OUTSIDE)}`
    const compiled = this.#compiledFor(request, () => {
      return this.variables.flatMap((variable) => {
        const alternatives = variable.alternatives.filter((number) => {
          const change = this.#changes.get(nameOf({ id: variable.id, number }))
          return change?.kind === 'document' && mayConcern(variable.id, change.concerns, operation, hostnames, reads)
        })
        return alternatives.length === 0 ? [] : [{ ...variable, alternatives }]
      })
    })
    const read = [...this.#bySetting].flatMap(([setting, variable]) => (reads.has(setting) ? [variable] : []))
    return read.length === 0 ? compiled : [...compiled, ...read]
  }

  /** The assumption about a setting, with its values: the first is our choice. `undefined` if there is none. */
  choicesOf(setting: keyof Settings): SettingChoices | undefined {
    return this.#settings.get(setting)
  }

  /** The id of the assumption about a setting; `undefined` if there is none. */
  idOf(setting: string): string | undefined {
    return this.#settings.get(setting as keyof Settings)?.id
  }

  /** The choices with which a setting has a fitting value; `undefined` if there is no assumption about it. */
  assignmentsWith(setting: keyof Settings, fits: (value: unknown) => boolean): Assignment[] | undefined {
    const { id, values = [] } = this.#settings.get(setting) ?? {}
    return id === undefined ? undefined : values.flatMap((value, number) => (fits(value) ? [{ [id]: number }] : []))
  }

  /** The numbers of all values of an assumption, from 0. */
  numbersOf(id: string): readonly number[] {
    return this.#numbers.get(id) ?? [0]
  }

  /** The alternatives of an assumption that change no outcome. */
  silentAlternatives(id: string): readonly number[] {
    const judged = this.variables.find((variable) => variable.id === id)?.alternatives ?? []
    return this.numbersOf(id).filter((number) => number > 0 && !judged.includes(number))
  }

  /** The alternatives of an assignment as a text, without our own choices and those that change no outcome. */
  keyOf(assignment: Assignment): string {
    const names: string[] = []
    for (const id of Object.keys(assignment)) {
      const number = assignment[id] as number
      if (number === 0) continue
      const name = nameOf({ id, number })
      if (this.#changes.has(name)) names.push(name)
    }
    return names.length > 1 ? names.sort().join(' ') : (names[0] ?? '')
  }

  /** The service under an assignment with this key; `undefined` if it must be loaded first. */
  known(key: string): Variant | undefined {
    const variant = this.#variants.get(key)
    // A contract that is in use stays in the cache.
    if (variant !== undefined && variant.document !== this.#own) renew(this.#documents, variant.compiled)
    return variant
  }

  /** The service under an assignment with this key. */
  async load(key: string): Promise<Variant> {
    const names = key === '' ? [] : key.split(' ')
    const compiled = names.filter((name) => this.#changes.get(name)?.kind === 'document')
    const contract = await this.#compile(compiled)
    const changed: Record<string, unknown> = {}
    for (const name of names) {
      const change = this.#changes.get(name)
      if (change?.kind === 'setting') changed[change.name] = change.value
    }
    const hostnames = compiled.filter((name) => isAboutHostnames(this.#changes.get(name)))
    const settings = { ...contract.settings, ...changed }
    const variant = new Variant(contract, { settings, compiled: compiled.join(' '), hostnames: hostnames.join(' ') })
    keep(this.#variants, key, variant, KEPT_VARIANTS)
    return variant
  }

  #compiledFor(request: string, find: () => readonly ChoiceVariable[]): readonly ChoiceVariable[] {
    const known = this.#byRequest.get(request) ?? find()
    this.#byRequest.set(request, known)
    return known
  }

  async #compile(names: readonly string[]): Promise<ServiceContract> {
    if (names.length === 0) return this.#own
    const key = names.join(' ')
    const known = this.#documents.get(key)
    if (known !== undefined) return known
    const bound = bind(await this.#choices.compile(names.map((name) => this.#byName.get(name) as Alternative)))
    const dropped = keep(this.#documents, key, bound, KEPT_DOCUMENTS)
    if (dropped !== undefined)
      for (const [name, { document }] of this.#variants) if (document === dropped) this.#variants.delete(name)
    return bound
  }
}

/** Whether a part of the document that a choice is about gives violations of a keyword their code. */
function givesCode(part: Json, keyword: string): boolean {
  return Object.entries(part).some(
    ([key, value]) =>
      isObject(value) && (key === 'x-error' ? Object.hasOwn(value, keyword) : givesCode(value, keyword)),
  )
}

function bind(contract: Contract): ServiceContract {
  return bindBehaviours(contract, { behaviours: OPERATIONS, simulator: false })
}

function mayConcern(
  id: string,
  concerns: Concerns,
  operation: string | undefined,
  hostnames: Hostnames,
  reads: Reads,
): boolean {
  if (concerns === 'hostnames') return hostnames === 'unusual' || (hostnames === 'suffix' && id === PUBLIC_SUFFIXES)
  return typeof concerns === 'string' ? reads.has(concerns) : concerns.operations.has(operation ?? '')
}

function isAboutHostnames(change: ContractChange | undefined): boolean {
  return change?.kind === 'document' && change.concerns === 'hostnames'
}

function settingChange(alternative: Alternative): ContractChange | undefined {
  const name = settingOf(alternative)
  // A setting that is compiled, or that decides more than itself, counts as a change of the document.
  if (name === undefined || HOSTNAME_SETTINGS.has(name) || name === PRECEDENCE) return undefined
  return { kind: 'setting', name: name as keyof Settings, value: alternative.value['value'] }
}

/** `undefined` if the alternative changes no outcome. */
function documentChange(alternative: Alternative, own: Contract, contract: Contract): ContractChange | undefined {
  const setting = settingOf(alternative)
  if (setting !== undefined) {
    return { kind: 'document', concerns: HOSTNAME_SETTINGS.has(setting) ? 'hostnames' : PRECEDENCE }
  }
  const operations = new Set<string>()
  for (const operation of contract.operations) {
    const former = own.operations.find(({ id }) => id === operation.id)
    if (former === undefined || checksOf(former) !== checksOf(operation)) operations.add(operation.id)
  }
  if (operations.size > 0) return { kind: 'document', concerns: { operations } }
  const isOther = OUTSIDE.some(
    (problem) => own.catalogue.answer(problem).code !== contract.catalogue.answer(problem).code,
  )
  return isOther ? { kind: 'document', concerns: CODES_OUTSIDE } : undefined
}

/** The constraints on requests of an operation, as text. */
function checksOf({ bodySchema, parameterSchemas }: ServiceContract['operations'][number]): string {
  return JSON.stringify([bodySchema, [...parameterSchemas]])
}

/** Adds an entry. Returns the entry that was removed to make room: the one that was unused for the longest time. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): Value | undefined {
  const [oldest] = map.size >= limit ? map : []
  if (oldest !== undefined) map.delete(oldest[0])
  map.set(key, value)
  return oldest?.[1]
}

function renew<Value>(map: Map<string, Value>, key: string): void {
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}
