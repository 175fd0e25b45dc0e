import { conform } from '../behaviour/conformity.ts'
import { decide } from '../behaviour/judge.ts'
import type { ConformingRequest, ServiceContract } from '../behaviour/operation.ts'
import type { Operation } from '../contract/api.ts'
import type { AccountState } from '../domain/account.ts'
import { type Problem, type Problems, type Refusal, refuse } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { purposeOf } from '../exchanges/purpose.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { type BodyReader, createBodyReader } from '../http/body.ts'
import { createRouter, type Route } from '../http/router.ts'
import { createQueryReader, type Query } from '../http/target.ts'
import { watch } from './decisive-settings.ts'

/** What the service answers, before the response is written. */
export type Prediction = { ok: true; data: unknown; state: AccountState } | RefusalPrediction

interface RefusalPrediction {
  ok: false
  code: string
  problems: Problems<string>
  /** Whether the request is refused whatever the account holds. */
  isUnconditional: boolean
}

/** The names of settings that were read, `PRECEDENCE` and `CODES_OUTSIDE` included. */
export type Reads = Pick<ReadonlySet<string>, 'has'>

/** How a service reads a request that has passed the gate, before it looks at the account. */
export interface Understood {
  /**
   * Equal for requests that are read alike, if the services differ in settings only. Their answers for the same account
   * then depend only on the settings that are read afterwards.
   */
  text: string
  /** The settings that decided how it is read, in the order in which they were read. */
  reads: ReadonlySet<string>
  /** The request, or the refusal if it does not obey the contract. */
  request: ConformingRequest | RefusalPrediction
}

/** The service under one combination of alternatives. */
export class Variant {
  readonly contract: ServiceContract
  /** The compiled contract. Variants that differ only in settings that are read per request share it. */
  readonly document: ServiceContract
  /** The alternatives with which it was compiled. */
  readonly compiled: string
  /** The settings without the record of which of them are read. */
  readonly settings: Settings
  /** Variants with the same text here keep equal accounts in the same form. */
  readonly keeping: string
  #reads = new Set<string>()
  readonly #always: ReadonlySet<string>
  /** Equal for variants whose answers to a conforming request depend only on their settings. */
  readonly #basis: string
  readonly #route: (method: string, path: string) => Route
  readonly #readQuery: (text: string | undefined) => Query
  readonly #bodies: BodyReader

  /** `compiled` names alternatives of the document. `hostnames` is equal for contracts that read hostnames alike. */
  constructor(
    contract: ServiceContract,
    { settings, compiled, hostnames }: { settings: Settings; compiled: string; hostnames: string },
  ) {
    const watched = watch(settings, (name) => this.#reads.add(name))
    this.contract = { ...contract, settings: watched }
    this.document = contract
    this.compiled = compiled
    this.settings = settings
    this.#route = createRouter(contract, watched)
    this.#readQuery = createQueryReader(watched)
    this.#bodies = createBodyReader(watched)
    this.#always = this.#reads
    const { nameComparison, loneSurrogates, invisibleInNames, spaceAroundNames } = settings
    this.keeping = [hostnames, nameComparison, loneSurrogates, invisibleInNames, spaceAroundNames].join()
    const { catalogue, groupIds } = contract
    const outside = OUTSIDE.map((problem) => catalogue.answer(problem).code)
    this.#basis = JSON.stringify([hostnames, catalogue.codes, outside, groupIds])
  }

  /** The result is the same for all variants with the same document and the same values of the settings read. */
  understand(reading: ReadExchange): Understood {
    const reads = new Set(this.#always)
    this.#reads = reads
    const { request } = reading.exchange
    const route = this.#route(request.method, reading.path)
    if (!route.ok) return this.#refusal(route, reads)
    const { operation } = route
    const body = this.#bodies.readBytes(request.body.isKnown ? request.body.bytes : EMPTY, request.headers, operation)
    const query = this.#readQuery(reading.query)
    const { settings, catalogue } = this.contract
    const conformity = conform({ operation, query, body }, settings, catalogue)
    if (!conformity.ok) return this.#refusal(conformity, reads)
    const text = `${operation.id} ${JSON.stringify([conformity.query, conformity.body])} ${this.#basis}`
    return { text, reads, request: conformity }
  }

  /**
   * The answer for a state of the account. `now` is in milliseconds on the service's clock. `reads` collects the names
   * of the settings that decide the answer.
   */
  answer({ request }: Understood, state: AccountState, now: number, reads: Set<string>): Prediction {
    if (!('operation' in request)) return request
    this.#reads = reads
    const decision = decide(request, state, this.contract, now)
    if (!decision.ok) return this.#refused(decision, false)
    const { value } = decision
    return { ok: true, data: value.source === undefined ? value.data : value.make(), state: decision.state }
  }

  /**
   * All problems that any check would find, whatever the order of the checks: in the header fields, the body and the
   * account. `reads` collects the settings that decide about the account.
   */
  problemsOf(
    reading: ReadExchange,
    states: readonly AccountState[],
    now: number,
    reads: Set<string>,
  ): Problem<string>[] {
    const route = this.#route(reading.exchange.request.method, reading.path)
    const problems: Problem<string>[] = []
    for (const each of [reading, withUsualType(reading)]) {
      const { request } = this.understand(each)
      if (!('operation' in request)) problems.push(...request.problems)
    }
    if (!route.ok) return problems
    const { operation } = route
    const query = { ...this.#readQuery(reading.query) } as Record<string, string>
    if ([...operation.parameterSchemas.keys()].some((name) => operation.method !== 'GET' && !(name in query)))
      return problems
    const body = wellTypedPart(purposeOf(reading).body ?? {}, operation)
    this.#reads = reads
    for (const state of states) {
      const decision = decide({ operation, query, body }, state, this.contract, now)
      if (!decision.ok) problems.push(...decision.problems)
    }
    return problems
  }

  #refusal(refusal: Refusal<string>, reads: ReadonlySet<string>): Understood {
    const prediction = this.#refused(refusal, true)
    // The text leaves out the values: a request may hold anything, nested in any way.
    const problems = prediction.problems.map(({ code, reason, field }) => `${code} ${reason} ${field}`)
    return { text: [prediction.code, ...problems].join('\n'), reads, request: prediction }
  }

  #refused({ problems }: Refusal<string>, isUnconditional: boolean): RefusalPrediction {
    const [problem] = problems
    // Only a refusal outside of every operation can have another code than its problem.
    const isOutside = problem.code === 'not_found' && problem.field === undefined
    if (isOutside) this.#reads.add(CODES_OUTSIDE)
    if (problems.length > 1) this.#reads.add(PRECEDENCE)
    const code = isOutside ? this.contract.catalogue.answer(problem).code : problem.code
    return { ok: false, code, problems, isUnconditional }
  }
}

/** The same request as JSON without content coding. */
export function withUsualType(reading: ReadExchange): ReadExchange {
  const { exchange } = reading
  const headers = { ...exchange.request.headers, 'content-type': 'application/json', 'content-encoding': 'identity' }
  return { ...reading, exchange: { ...exchange, request: { ...exchange.request, headers } } }
}

/** A name that no group has. */
const FRESH_NAME = '\u2043 a fresh name \u2043'

/** The fields of a body that have their type, and a name if one is needed. */
function wellTypedPart(body: Json, { bodySchema }: Operation): Json {
  const properties = valueAt(bodySchema, '/properties')
  const part: Json = {}
  for (const name of Object.keys(isObject(properties) ? properties : {})) {
    const value = body[name]
    if (name === 'name') {
      if (typeof value === 'string') part[name] = value
      else if (isRequired(bodySchema, name)) part[name] = FRESH_NAME
    } else if (Array.isArray(value)) part[name] = value.filter((entry) => typeof entry === 'string')
    else if (isRequired(bodySchema, name)) part[name] = []
  }
  return part
}

function isRequired(schema: Json | undefined, name: string): boolean {
  const required = schema?.['required']
  return Array.isArray(required) && required.includes(name)
}

const EMPTY = Buffer.alloc(0)

/** What decides a refusal, like a setting that is read: which code is answered first, and the codes outside of operations. */
export const PRECEDENCE = 'precedence' satisfies keyof Settings
export const CODES_OUTSIDE = 'codes outside of operations'

/** The refusals that can have another code than their problem. */
export const OUTSIDE = ['path', 'method'].map((reason) => refuse({ code: 'not_found', reason }).problems[0])
