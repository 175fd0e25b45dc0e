import type { ServiceContract } from '../behaviour/operation.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import { bindBehaviours } from '../behaviour/service-contract.ts'
import type { Alternative, Choices } from '../contract/choices.ts'
import type { Contract } from '../contract/contract.ts'
import type { Settings } from '../domain/settings.ts'
import type { Assignment } from './observation.ts'
import { compileVariants } from './permitted.ts'
import { OUTSIDE, type Reads, Variant } from './variant.ts'

/** An assumption on which the outcome of a request can depend. */
export interface Variable {
  id: string
  /** The numbers of its alternatives that count: there may be others that change only how a response looks. */
  alternatives: readonly number[]
}

/** How an alternative changes the contract. */
type Change =
  /** One setting that is read while a request is judged. */
  | { kind: 'setting'; name: keyof Settings; value: unknown }
  /** Something that is compiled. `operations` are those whose requests it concerns; absent for all. */
  | { kind: 'document'; operations: ReadonlySet<string> | undefined; concernsHostnames: boolean }

/** These decide how a response is written, what is counted or which figures there are, but no outcome of a request. */
const NOT_JUDGED: ReadonlySet<string> = new Set<keyof Settings>([
  ...(['plans', 'gateOrder', 'notHttp', 'gracePeriod', 'quotaScope', 'quotaWindow', 'rateLimitReset'] as const),
  ...(['quotaHeaders', 'chargedRequests', 'responseType', 'clientRequestIds', 'cors', 'decimals'] as const),
  ...(['policyBeforeRefresh', 'countPeriod'] as const),
])
/** These are compiled into the checks of a body. */
const HOSTNAME_SETTINGS: ReadonlySet<string> = new Set<keyof Settings>([
  ...(['finalDot', 'internationalNames', 'underscores', 'singleLabels', 'ipv4Addresses', 'numericLastLabels'] as const),
  ...(['wildcards', 'publicSuffixes', 'spaceAroundHostnames', 'invisibleInHostnames', 'spelling'] as const),
])
const SETTINGS_PLACE = '/x-settings/'
/** How many compiled contracts are kept, at about a tenth of a megabyte each. */
const KEPT_DOCUMENTS = 300
const KEPT_VARIANTS = 3_000
/** A name that is the same hostname under every choice but the one about public suffixes. */
const PLAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9]*$/

/** Whether all are plain, so that only one assumption about hostnames can concern them. */
export type Hostnames = 'none' | 'plain' | 'unusual'

export function natureOf(names: ReadonlySet<string>): Hostnames {
  if (names.size === 0) return 'none'
  return [...names].every((name) => PLAIN.test(name) && !name.includes('xn--')) ? 'plain' : 'unusual'
}

const loaded = new WeakMap<Choices, Promise<Variants>>()

/** The service under combinations of alternatives. */
export class Variants {
  readonly variables: readonly Variable[]
  readonly #choices: Choices
  readonly #changes: ReadonlyMap<string, Change>
  readonly #byName: ReadonlyMap<string, Alternative>
  readonly #documents = new Map<string, ServiceContract>()
  readonly #variants = new Map<string, Variant>()

  private constructor(
    choices: Choices,
    changes: ReadonlyMap<string, Change>,
    byName: ReadonlyMap<string, Alternative>,
  ) {
    this.#choices = choices
    this.#changes = changes
    this.#byName = byName
    const numbers = new Map<string, number[]>()
    for (const name of changes.keys()) {
      const { id, number } = byName.get(name) as Alternative
      numbers.set(id, [...(numbers.get(id) ?? []), number])
    }
    this.variables = [...numbers].map(([id, alternatives]) => ({ id, alternatives }))
  }

  /** The contract without an alternative. */
  get contract(): Contract {
    return this.#choices.contract
  }

  /** Those of a process share what is compiled. */
  static load(choices: Choices): Promise<Variants> {
    const known = loaded.get(choices)
    if (known !== undefined) return known
    const loading = Variants.#load(choices)
    loaded.set(choices, loading)
    return loading
  }

  static async #load(choices: Choices): Promise<Variants> {
    const changes = new Map<string, Change>()
    const compiled = new Map(
      (await compileVariants(choices)).map((each) => [nameOf(each.id, each.number), each.contract]),
    )
    const byName = new Map(choices.alternatives.map((each) => [nameOf(each.id, each.number), each]))
    for (const [name, alternative] of byName) {
      const contract = compiled.get(name)
      if (contract === undefined || NOT_JUDGED.has(settingOf(alternative) ?? '')) continue
      const change = settingChange(alternative) ?? documentChange(alternative, choices.contract, contract)
      if (change !== undefined) changes.set(name, change)
    }
    return new Variants(choices, changes, byName)
  }

  /**
   * The assumptions that may change what is answered to a request, beside those whose settings are read. `hostnames` are those
   * that it names.
   */
  concerns(id: string, number: number, operation: string | undefined, hostnames: Hostnames, reads: Reads): boolean {
    const change = this.#changes.get(nameOf(id, number))
    if (change === undefined) return false
    if (change.kind === 'setting') return reads.has(change.name)
    if (change.operations !== undefined && !change.operations.has(operation ?? '')) return false
    if (!change.concernsHostnames) return true
    return hostnames === 'unusual' || (hostnames === 'plain' && id === 'public-suffixes')
  }

  /** The assumption about a setting, with its values: the first is our choice. `undefined` where there is none. */
  choicesOf(setting: keyof Settings): { id: string; values: readonly unknown[] } | undefined {
    const all = this.#choices.alternatives.filter((alternative) => settingOf(alternative) === setting)
    const [first] = all
    if (first === undefined) return undefined
    return {
      id: first.id,
      values: [this.#choices.contract.settings[setting], ...all.map(({ value }) => value['value'])],
    }
  }

  /** The numbers of all values of an assumption, from 0. */
  numbersOf(id: string): readonly number[] {
    return [0, ...this.#choices.alternatives.filter((alternative) => alternative.id === id).map(({ number }) => number)]
  }

  /** The alternatives of an assumption that change no outcome. */
  silentAlternatives(id: string): readonly number[] {
    const judged = this.variables.find((variable) => variable.id === id)?.alternatives ?? []
    const all = this.#choices.alternatives.filter((alternative) => alternative.id === id)
    return all.map(({ number }) => number).filter((number) => !judged.includes(number))
  }

  /** The alternatives of an assignment as a text, without our own choices and those that change no outcome. */
  keyOf(assignment: Assignment): string {
    const names: string[] = []
    for (const id of Object.keys(assignment)) {
      const number = assignment[id] as number
      if (number === 0) continue
      const name = nameOf(id, number)
      if (this.#changes.has(name)) names.push(name)
    }
    return names.length > 1 ? names.sort().join(' ') : (names[0] ?? '')
  }

  /** The service under an assignment with this key; `undefined` where it must be loaded first. */
  known(key: string): Variant | undefined {
    return this.#variants.get(key)
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
    const variant = new Variant(contract, { ...contract.settings, ...changed }, hostnames.join(' '))
    keep(this.#variants, key, variant, KEPT_VARIANTS)
    return variant
  }

  async #compile(names: readonly string[]): Promise<ServiceContract> {
    const key = names.join(' ')
    const known = this.#documents.get(key)
    if (known !== undefined) return known
    const alternatives = names.map((name) => this.#byName.get(name) as Alternative)
    const contract = names.length === 0 ? this.#choices.contract : await this.#choices.compile(alternatives)
    const bound = bindBehaviours(contract, { behaviours: OPERATIONS, simulator: false })
    keep(this.#documents, key, bound, KEPT_DOCUMENTS)
    return bound
  }
}

function isAboutHostnames(change: Change | undefined): boolean {
  return change?.kind === 'document' && change.concernsHostnames
}

/** The name of the setting that an alternative changes; `undefined` where it changes another part of the document. */
function settingOf({ assumption: { place } }: Alternative): string | undefined {
  return place.startsWith(SETTINGS_PLACE) ? camel(place.slice(SETTINGS_PLACE.length)) : undefined
}

function settingChange(alternative: Alternative): Change | undefined {
  const name = settingOf(alternative)
  // A setting that is compiled, or that decides about more than itself, is one for the compiler.
  if (name === undefined || HOSTNAME_SETTINGS.has(name) || name === 'precedence') return undefined
  return { kind: 'setting', name: name as keyof Settings, value: alternative.value['value'] }
}

/** `undefined` where the alternative changes no outcome. */
function documentChange(alternative: Alternative, own: Contract, contract: Contract): Change | undefined {
  const setting = settingOf(alternative)
  if (setting !== undefined) {
    return { kind: 'document', operations: undefined, concernsHostnames: HOSTNAME_SETTINGS.has(setting) }
  }
  const operations = new Set<string>()
  for (const operation of contract.operations) {
    const former = own.operations.find(({ id }) => id === operation.id)
    if (former === undefined || checksOf(former) !== checksOf(operation)) operations.add(operation.id)
  }
  if (operations.size > 0) return { kind: 'document', operations, concernsHostnames: false }
  const isOther = OUTSIDE.some(
    (problem) => own.catalogue.answer(problem).code !== contract.catalogue.answer(problem).code,
  )
  return isOther ? { kind: 'document', operations: undefined, concernsHostnames: false } : undefined
}

/** What requests of an operation are held to, as text. */
function checksOf({ bodySchema, parameterSchemas }: ServiceContract['operations'][number]): string {
  return JSON.stringify([bodySchema, [...parameterSchemas]])
}

export function nameOf(id: string, number: number): string {
  return `${id}/${number}`
}

function camel(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  if (map.size >= limit) map.delete(map.keys().next().value as string)
  map.set(key, value)
}
