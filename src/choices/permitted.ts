import { answersWith, type Operation, pointerOf } from '../contract/api.ts'
import { assumptionsOf } from '../contract/assumptions.ts'
import type { ErrorAnswer } from '../contract/catalogue.ts'
import { type Alternative, type Choices, nameOf, tryToCompile } from '../contract/choices.ts'
import type { Contract } from '../contract/contract.ts'
import { ContractError } from '../contract/contract-error.ts'
import { type JoinedSchemas, joinSchemas, type PlacedCheck } from '../contract/joined-schemas.ts'
import { type LineOf, readLines } from '../contract/lines.ts'
import type { Problem } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { combinationsOf } from '../ground/combinations.ts'
import { isObject, type Json, pointTo, valueAt } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { createRouter } from '../http/router.ts'
import type { Assignment } from './observation.ts'

/** The contract under one alternative. */
export interface ContractVariant {
  /** The id of the assumption. */
  id: string
  /** Of the alternative, from 1. */
  number: number
  contract: Contract
}

/** The assumption that decides an aspect of the contract, and the aspect for each number; 0 is our choice. */
export interface Deciding<Value> {
  id: string
  values: ReadonlyMap<number, Value>
}

/** The refusal for a problem under each combination of the assumptions that decide it. */
export interface AnswerTable {
  ids: readonly string[]
  rows: readonly { assignment: Assignment; answer: Pick<ErrorAnswer, 'status' | 'code'> }[]
}

/** The reasons of refusals by the router. Only a request outside of every operation gets them. */
const ROUTING_REASONS = new Set(['path', 'method'])

/** Codes that a service can answer with before it looks for the operation. */
const CHECKED_FIRST: ReadonlySet<string> = new Set(['unauthorized', 'rate_limited', 'internal_error'])

/** Compiles the contract under each alternative. Alternatives that conflict with the user's overlays are left out. */
export async function compileVariants(choices: Choices): Promise<ContractVariant[]> {
  const variants: ContractVariant[] = []
  for (const alternative of choices.alternatives) {
    const contract = await tryToCompile(choices, [alternative])
    if (!(contract instanceof ContractError))
      variants.push({ id: alternative.id, number: alternative.number, contract })
  }
  return variants
}

/**
 * What the document permits under our choices and under the alternatives, alone and combined. It compares the compiled
 * contracts, so it knows no assumption by name.
 */
export class Permitted {
  readonly contract: Contract
  readonly lineOf: LineOf
  readonly variants: readonly ContractVariant[]
  /** Ours first, then those of the alternatives. */
  readonly contracts: readonly Contract[]
  readonly #choices: Choices
  readonly #joined: JoinedSchemas
  readonly #versions: Versions
  readonly #answers: ReadonlyMap<string, AnswerTable>
  readonly #deciding = new Map<string, readonly Deciding<unknown>[]>()
  readonly #checks = new Map<string, PlacedCheck>()
  /** By operation. */
  readonly #validity = new Map<string, readonly Deciding<(body: unknown) => boolean>[]>()
  readonly #sets = new Map<string, ReadonlySet<unknown>>()
  #routers: ReturnType<typeof createRouter>[] | undefined

  /** See `isOpen`. */
  readonly #open: ReadonlySet<string>

  private constructor(
    choices: Choices,
    variants: readonly ContractVariant[],
    versions: Versions,
    lineOf: LineOf,
    joined: JoinedSchemas,
    answers: ReadonlyMap<string, AnswerTable>,
  ) {
    this.contract = choices.contract
    this.contracts = [this.contract, ...variants.map(({ contract }) => contract)]
    this.variants = variants
    this.lineOf = lineOf
    this.#choices = choices
    this.#versions = versions
    this.#joined = joined
    this.#answers = answers
    this.#open = openPlaces(this.contract)
  }

  /** All callers in a process share the result. */
  static readonly read = memoizeWeakly(async (choices: Choices): Promise<Permitted> => {
    const variants = await compileVariants(choices)
    const versions = await compareSchemas(choices, variants)
    const lineOf = await readLines()
    const joined = joinSchemas(choices.contract.document.source, versions.all, choices.kept)
    return new Permitted(choices, variants, versions, lineOf, joined, await tabulateAnswers(choices, variants))
  })

  /**
   * Whether the specification leaves the values at this place of the document open: an assumption decides them, or has
   * the place with `open.success`. If so, a value that no alternative has is another choice, and no failure.
   */
  isOpen(place: string): boolean {
    if (this.#open.has(place)) return true
    // What the specification leaves open as a whole, such as the body of a response, has no part that is fixed.
    const parent = place.slice(0, place.lastIndexOf('/'))
    return parent.startsWith('/components/schemas/') && this.#open.has(parent)
  }

  get assumptions(): Choices['assumptions'] {
    return this.#choices.assumptions
  }

  /** The assumptions that decide an aspect of the contract. `name` is the cache key of the aspect. */
  deciding<Value extends string | number | boolean>(
    name: string,
    aspect: (contract: Contract) => Value,
  ): readonly Deciding<Value>[] {
    const make = () => decidingOf(this.contract, this.variants, aspect)
    return keptIn(this.#deciding, name, make) as readonly Deciding<Value>[]
  }

  /** The numbers of all alternatives of an assumption, and 0. */
  numbersOf(id: string): readonly number[] {
    const { alternatives } = this.#choices
    return [0, ...alternatives.filter((each) => each.id === id).map(({ number }) => number)]
  }

  /** The operation of a request under our choice, or if there is none, under an alternative. */
  operationOf(method: string, path: string): Operation | undefined {
    this.#routers ??= this.contracts
      .filter(({ settings }, index, all) => all.findIndex((each) => isRoutedAlike(each.settings, settings)) === index)
      .map((contract) => createRouter(contract, contract.settings))
    for (const findRoute of this.#routers) {
      const route = findRoute(method, path)
      const operation = route.ok ? same(this.contract, route.operation) : undefined
      if (operation !== undefined) return operation
    }
    return undefined
  }

  /** Whether a response to a request for an operation can have a status. */
  isStatusOf(operation: Operation, status: number): boolean {
    if (this.successStatuses(operation).has(status)) return true
    return [...this.contract.catalogue.codes].some((code) => {
      if (this.isRefusedUnread(code, status)) return true
      return this.codesOf(operation).has(code) && this.statusesOf(code).has(status)
    })
  }

  /** The statuses that a success of an operation can have. */
  successStatuses(operation: Operation): ReadonlySet<number> {
    return this.union(`success ${operation.id}`, (contract) => [same(contract, operation)?.success.status ?? 0])
  }

  /** The codes that an operation can answer with. */
  codesOf(operation: Operation): ReadonlySet<string> {
    return this.union(`codes ${operation.id}`, (contract) =>
      contract.catalogue.codes.filter((code) => answersWith(same(contract, operation) ?? operation, code)),
    )
  }

  /** The statuses with which operations can answer a code. */
  statusesOf(code: string): ReadonlySet<number> {
    return this.union(`statuses ${code}`, ({ catalogue }) => (catalogue.has(code) ? catalogue.statusesOf(code) : []))
  }

  /** Whether the service can refuse a request to a known operation like this before it knows the request. */
  isRefusedUnread(code: string, status: number): boolean {
    return this.#outside('unread', (reason) => !ROUTING_REASONS.has(reason)).has(`${code} ${status}`)
  }

  /** Whether the service can refuse a request outside of every operation like this. */
  isRefusedOutside(code: string, status: number): boolean {
    if (this.#outside('outside', () => true).has(`${code} ${status}`)) return true
    // The service may check the key or the quota first, or fail.
    return CHECKED_FIRST.has(code) && this.statusesOf(code).has(status)
  }

  /** The possible answers for this problem; `undefined` if the catalogue does not have its code. */
  answersTo({ code, reason }: Problem<string>): AnswerTable | undefined {
    return this.#answers.get(`${code}/${reason ?? ''}`) ?? this.#answers.get(`${code}/`)
  }

  /** Checks the envelope of a success. */
  checkSuccess(operation: Operation): PlacedCheck {
    const { status } = operation.success
    return this.checkAt(pointTo(`${pointerOf(operation)}/responses`, status) + JSON_SCHEMA)
  }

  checkFailure(): PlacedCheck {
    return this.checkAt('/components/schemas/Failure')
  }

  /** Checks the body of a request. The body must have no null, and its name must be as it would be stored. */
  readonly checkBody = memoizeWeakly(
    (operation: Operation): PlacedCheck => this.checkAt(`${pointerOf(operation)}/requestBody${JSON_SCHEMA}`),
  )

  /** For each assumption about the schema of a success: whether a body obeys the schema of each of its numbers. */
  checksByAssumption(operation: Operation): readonly Deciding<(body: unknown) => boolean>[] {
    return keptIn(this.#validity, operation.id, () => {
      const pointer = pointTo(`${pointerOf(operation)}/responses`, operation.success.status) + JSON_SCHEMA
      const reachable = referencesBelow(this.contract.document.source, pointer)
      return this.#versions.decided
        .filter(({ name }) => reachable.has(name))
        .map(({ name, id, values }) => {
          const checks = [...values].map(
            ([number, version]) => [number, this.#joined.validityAt(pointer, { name, version })] as const,
          )
          return { id, values: new Map(checks) }
        })
    })
  }

  /** The check against the schema at a JSON pointer of the document. */
  checkAt(pointer: string): PlacedCheck {
    return keptIn(this.#checks, pointer, () => this.#joined.checkAt(pointer))
  }

  /** Makes every check that exchanges may need, so that what it compiles can be kept. */
  prepareChecks(): void {
    const nothing = {}
    this.checkFailure()(nothing)
    for (const operation of this.contract.operations) {
      this.checkSuccess(operation)(nothing)
      if (operation.readsBody) this.checkBody(operation)(nothing)
      for (const { values } of this.checksByAssumption(operation)) for (const check of values.values()) check(nothing)
    }
    for (const { operations } of this.contracts) {
      for (const { checkQuery, checkBody, success } of operations) {
        checkQuery(nothing)
        checkBody(nothing)
        success.checkHeaders(nothing)
      }
    }
  }

  #outside(name: string, includes: (reason: string) => boolean): ReadonlySet<string> {
    return this.union(`refused ${name}`, (contract) =>
      outsideProblems(contract)
        .filter(({ reason = '' }) => includes(reason))
        .map((problem) => {
          const { code, status } = contract.catalogue.answer(problem)
          return `${code} ${status}`
        }),
    )
  }

  /** The union of a value over all contracts. `name` is the cache key. */
  union<Value>(name: string, valuesOf: (contract: Contract) => Iterable<Value>): ReadonlySet<Value> {
    const make = () => new Set(this.contracts.flatMap((contract) => [...valuesOf(contract)]))
    return keptIn(this.#sets, name, make) as ReadonlySet<Value>
  }
}

/** The value for a key, which is made once. */
function keptIn<Key, Value>(values: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = values.get(key) ?? make()
  values.set(key, value)
  return value
}

const JSON_SCHEMA = '/content/application~1json/schema'

/** The same operation in another contract. */
export function same(contract: Contract, { path, method }: Operation): Operation | undefined {
  return contract.routes.get(path)?.get(method)
}

function isRoutedAlike(one: Settings, other: Settings): boolean {
  return one.pathMatching === other.pathMatching && one.head === other.head
}

function decidingOf<Value extends string | number | boolean>(
  contract: Contract,
  variants: readonly ContractVariant[],
  aspect: (contract: Contract) => Value,
): Deciding<Value>[] {
  const chosen = aspect(contract)
  const byId = new Map<string, Map<number, Value>>()
  for (const { id, number, contract } of variants) {
    byId.set(id, (byId.get(id) ?? new Map([[0, chosen]])).set(number, aspect(contract)))
  }
  return [...byId]
    .filter(([, values]) => new Set(values.values()).size > 1)
    .map(([id, values]): Deciding<Value> => ({ id, values }))
}

interface Versions {
  /** By the name of the schema; the first is ours. */
  all: ReadonlyMap<string, readonly Json[]>
  /** The schemas that exactly one assumption decides. Schemas decided by several assumptions are left out. */
  decided: readonly (Deciding<Json> & { name: string })[]
}

/** The versions that the schemas of the components have under the alternatives. */
async function compareSchemas(choices: Choices, variants: readonly ContractVariant[]): Promise<Versions> {
  const all = new Map<string, Json[]>()
  const decided: (Deciding<Json> & { name: string })[] = []
  for (const [name, schema] of Object.entries(schemasOf(choices.contract))) {
    const deciding = decidingOf(choices.contract, variants, (contract) => {
      const version = schemasOf(contract)[name]
      return version === undefined ? '' : meaningOf(version)
    })
    const versions = new Map([[meaningOf(schema), schema]])
    const note = (contract: Contract | ContractError): void => {
      const version = contract instanceof ContractError ? undefined : schemasOf(contract)[name]
      if (version !== undefined && !versions.has(meaningOf(version))) versions.set(meaningOf(version), version)
    }
    for (const { contract } of variants) note(contract)
    if (deciding.length > 1) {
      for (const combination of joinedOf(choices, deciding)) note(await tryToCompile(choices, combination))
    }
    const [only] = deciding
    if (only !== undefined && deciding.length === 1) {
      const values = [...only.values].map(([number, text]) => [number, versions.get(text) ?? schema] as const)
      decided.push({ name, id: only.id, values: new Map(values) })
    }
    all.set(name, [...versions.values()])
  }
  return { all, decided }
}

function schemasOf({ document }: Contract): Readonly<Record<string, Json>> {
  return (valueAt(document.source, '/components/schemas') ?? {}) as Record<string, Json>
}

/** What a schema says about values, as a text. Nearly all variants share a schema, so this is said once for all. */
const meaningOf = memoizeWeakly((schema: Json): string =>
  JSON.stringify(schema, (key, value) => {
    if (key === 'default' || key === 'description' || key === 'example') return undefined
    return key.startsWith('x-') && key !== 'x-constraints' ? undefined : value
  }),
)

/** The names of the schemas of the components that a schema refers to, directly or not. */
function referencesBelow(document: Json, pointer: string): ReadonlySet<string> {
  const names = new Set<string>()
  function visit(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) visit(item)
    if (!isObject(value)) return
    const reference = value['$ref']
    if (typeof reference === 'string') {
      const [, name] = /^#\/components\/schemas\/([^/]+)$/.exec(reference) ?? []
      if (name !== undefined && names.has(name)) return
      if (name !== undefined) names.add(name)
      visit(valueAt(document, reference.slice(1)))
    }
    for (const item of Object.values(value)) visit(item)
  }
  visit(valueAt(document, pointer) ?? valueAt(document, parentResponse(document, pointer)))
  return names
}

/** The place of the response that has the schema at the pointer. */
function parentResponse(document: Json, pointer: string): string {
  const response = pointer.slice(0, -JSON_SCHEMA.length)
  const reference = valueAt(document, `${response}/$ref`)
  return typeof reference === 'string' ? reference.slice(1) + JSON_SCHEMA : pointer
}

/** All combinations of two or more alternatives of different assumptions. */
function joinedOf(choices: Choices, deciding: readonly Deciding<unknown>[]): Alternative[][] {
  const options = deciding.map(({ id, values }) => [
    undefined,
    ...choices.alternatives.filter((each) => each.id === id && values.has(each.number)),
  ])
  const combinations = combinationsOf(options).map((some) => some.filter((each) => each !== undefined))
  return combinations.filter(({ length }) => length > 1)
}

/** The problems whose refusals belong to no operation. */
function outsideProblems(contract: Contract): Problem<string>[] {
  return problemsOf(contract).filter(
    ({ code, reason }) =>
      reason !== undefined &&
      valueAt(contract.document.source, `${pointTo('/components/x-errors', code)}/reasons/${reason}/outside`) === true,
  )
}

/** Every problem that the catalogue can answer: each code alone, and with each of its reasons. */
function problemsOf({ document, catalogue }: Contract): Problem<string>[] {
  return catalogue.codes.flatMap((code): Problem<string>[] => {
    const reasons = valueAt(document.source, `${pointTo('/components/x-errors', code)}/reasons`)
    return [{ code }, ...Object.keys(isObject(reasons) ? reasons : {}).map((reason) => ({ code, reason }))]
  })
}

async function tabulateAnswers(
  choices: Choices,
  variants: readonly ContractVariant[],
): Promise<ReadonlyMap<string, AnswerTable>> {
  const tables = new Map<string, AnswerTable>()
  const compiled = new Map<string, Contract | ContractError>([['', choices.contract]])
  for (const { id, number, contract } of variants) compiled.set(nameOf({ id, number }), contract)
  for (const problem of problemsOf(choices.contract)) {
    // Nearly all variants share the entries of the document, which decide the answer.
    const answers = new Map<unknown, Pick<ErrorAnswer, 'status' | 'code'>>()
    const answerIn = ({ catalogue, document }: Contract) => {
      const entries = valueAt(document.source, '/components/x-errors')
      return keptIn(answers, entries, () => {
        const { status, code } = catalogue.answer(problem)
        return { status, code }
      })
    }
    const deciding = decidingOf(choices.contract, variants, (contract) => JSON.stringify(answerIn(contract)))
    const ids = deciding.map(({ id }) => id)
    const singles = choices.alternatives.filter(({ id, number }) => {
      return deciding.some((each) => each.id === id && each.values.has(number))
    })
    const rows: { assignment: Assignment; answer: Pick<ErrorAnswer, 'status' | 'code'> }[] = []
    for (const combination of [[], ...singles.map((each) => [each]), ...joinedOf(choices, deciding)]) {
      const name = combination.map(nameOf).join(' ')
      if (!compiled.has(name)) compiled.set(name, await tryToCompile(choices, combination))
      const contract = compiled.get(name)
      if (contract === undefined || contract instanceof ContractError) continue
      const assignment = Object.fromEntries(ids.map((id) => [id, 0]))
      for (const { id, number } of combination) assignment[id] = number
      rows.push({ assignment, answer: answerIn(contract) })
    }
    tables.set(`${problem.code}/${problem.reason ?? ''}`, { ids, rows })
  }
  return tables
}

/** The keywords about values. The specification never leaves open the fields of an object and their types. */
const OF_VALUES = new Set(['pattern', 'format', 'enum', 'minLength', 'maxLength', 'multipleOf'])

function openPlaces({ document }: Contract): Set<string> {
  const places = new Set<string>()
  function visit(value: unknown, place: string): void {
    if (!isObject(value)) return
    for (const [key, item] of Object.entries(value)) {
      // Constraints on values count as part of the schema that has them.
      if (OF_VALUES.has(key)) places.add(pointTo(place, key)).add(pointTo(place.replace(/\/x-constraints$/, ''), key))
      if (key === 'status') places.add(place)
      visit(item, pointTo(place, key))
    }
  }
  for (const { place, choice, open } of assumptionsOf(document.source, document.extensions)) {
    visit(choice, place)
    if (open?.success === true) places.add(place)
  }
  return places
}
