import { FixtureError } from '../accounts/fixture.ts'
import { unknownParameters } from '../behaviour/conformity.ts'
import type { Api, Operation } from '../contract/api.ts'
import { compileApi } from '../contract/api-compiler.ts'
import { readDocument, resolveDocument } from '../contract/document.ts'
import { compilerFor as usualCompiler } from '../contract/schema-compiler.ts'
import { type Problem, type Refusal, refusalOf } from '../domain/errors.ts'
import { isInstant, parseDuration } from '../domain/iso-8601.ts'
import { kebab } from '../domain/settings.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { StoreError } from '../store/store-error.ts'
import * as accounts from './accounts.ts'
import { ADMIN_CODES, type AdminRefusal, invalid, notFound } from './codes.ts'
import * as conditions from './conditions.ts'
import { CONTROL_DOCUMENT } from './document.ts'
import * as faults from './faults.ts'
import * as keys from './keys.ts'
import * as observations from './observations.ts'
import * as requests from './requests.ts'
import type { AccountVerb, ControlDeps, ControlLimits, ControlOutcome, Verb } from './verb.ts'

/** What each operation of the document does, by operationId. */
export const VERBS: Readonly<Record<string, Verb>> = {
  listAccounts: accounts.listAccounts,
  createAccount: accounts.createAccount,
  listFaultSets: faults.listFaultSets,
  listAllRequests: requests.listAllRequests,
  explainRequest: requests.explainRequest,
  getOverallCoverage: observations.getOverallCoverage,
}

/** Those that are about one account. */
export const ACCOUNT_VERBS: Readonly<Record<string, AccountVerb>> = {
  getAccount: accounts.getAccount,
  updateAccount: accounts.updateAccount,
  deleteAccount: accounts.deleteAccount,
  resetAccount: accounts.resetAccount,
  exportState: accounts.exportState,
  importState: accounts.importState,
  listSnapshots: accounts.listSnapshots,
  takeSnapshot: accounts.takeSnapshot,
  deleteSnapshot: accounts.deleteSnapshot,
  restoreSnapshot: accounts.restoreSnapshot,
  listKeys: keys.listKeys,
  createKey: keys.createKey,
  updateKey: keys.updateKey,
  deleteKey: keys.deleteKey,
  setFeatures: conditions.setFeatures,
  pinDmarc: conditions.pinDmarc,
  unpinDmarc: conditions.unpinDmarc,
  getClock: conditions.getClock,
  updateClock: conditions.updateClock,
  getQuotas: conditions.getQuotas,
  updateQuota: conditions.updateQuota,
  listFaults: faults.listFaults,
  addFault: faults.addFault,
  clearFaults: faults.clearFaults,
  deleteFault: faults.deleteFault,
  addFaultSet: faults.addFaultSet,
  listRequests: requests.listRequests,
  clearRequests: requests.clearRequests,
  verifyRequests: requests.verifyRequests,
  getCoverage: observations.getCoverage,
}

let api: Promise<Api> | undefined

/** The control plane's document, compiled once for all servers of the process; unless `validated`, held to OpenAPI anew. */
export function loadControlApi({ validated = true }: { validated?: boolean } = {}): Promise<Api> {
  if (!validated) return compileControlApi({ validated })
  api ??= compileControlApi({ validated })
  return api
}

/** Compiles it anew. */
export async function compileControlApi(
  { validated }: { validated: boolean },
  compilerFor = usualCompiler,
): Promise<Api> {
  const text = await readDocument({ path: CONTROL_DOCUMENT, codes: ADMIN_CODES, validated })
  const document = await resolveDocument(text)
  const compiler = await compilerFor(document, {
    'date-time': isInstant,
    duration: (given: string) => parseDuration(given) !== undefined,
  })
  return compileApi(document, compiler)
}

/** A request to the control plane. */
export interface ControlRequest {
  parameters?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: unknown
}

/** The verbs of the control plane: one implementation for those who call it over HTTP and for those who import it. */
export class Control {
  readonly api: Api
  readonly limits: ControlLimits
  readonly deps: ControlDeps

  constructor(api: Api, deps: ControlDeps) {
    this.api = api
    this.deps = deps
    this.limits = readLimits(api)
  }

  /** Holds a request to the document and does what it asks for. */
  async perform(
    operation: Operation,
    { parameters = {}, query = {}, body = {} }: ControlRequest,
  ): Promise<ControlOutcome> {
    const given = { ...query }
    const inQuery = [...operation.checkQuery(given), ...unknownParameters(given, operation)]
    const unlawful = refusalOf([...inQuery, ...operation.checkBody(body)])
    if (unlawful) return unlawful as AdminRefusal
    return this.run(operation, { parameters, query, body: body as Json })
  }

  /** The same for a request that is known to obey the document. */
  async run(
    operation: Operation,
    request: Required<Omit<ControlRequest, 'body'>> & { body: Json },
  ): Promise<ControlOutcome> {
    const call = { ...this.deps, limits: this.limits, ...request }
    const { account: id } = request.parameters
    const { nestingLimit } = this.limits
    if (isDeeperThan(nestingLimit, request.body)) {
      return invalid('', undefined, 'nesting', { limit: nestingLimit })
    }
    try {
      const verb = VERBS[operation.id]
      if (verb !== undefined) return await verb(call)
      if (id === undefined || !(await call.store.has(id))) return notFound('account', id ?? '')
      const account = await call.store.read(id)
      const accountVerb = ACCOUNT_VERBS[operation.id]
      if (accountVerb === undefined) throw new Error(`No verb is written for the operation ${operation.id}.`)
      return await accountVerb({ ...call, account, now: call.worlds.now(account) })
    } catch (error) {
      return refusalFor(error, id)
    }
  }

  /** The operation of this id. */
  operation(id: string): Operation {
    const operation = this.api.operations.find((each) => each.id === id)
    if (operation === undefined) throw new Error(`The control plane has no operation ${id}.`)
    return operation
  }
}

/** Level by level, because whatever recurs would end where the stack does. */
function isDeeperThan(limit: number, value: unknown): boolean {
  let level = [value]
  for (let depth = 0; depth <= limit && level.length > 0; depth++) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return level.length > 0
}

/** What was thrown as the refusal that it is; anything else is thrown again. */
function refusalFor(error: unknown, account: string | undefined): AdminRefusal {
  if (error instanceof FixtureError) return refusal({ code: 'invalid_fixture', about: { expected: error.message } })
  if (!(error instanceof StoreError)) throw error
  if (error.problem === 'unknown-account') return notFound('account', account ?? '')
  if (error.problem === 'taken' || error.problem === 'damaged')
    return refusal({ code: 'taken', reason: 'stored', about: { expected: error.message } })
  if (error.problem === 'full')
    return refusal({ code: 'too_many', reason: 'accounts', about: { expected: error.message } })
  throw error
}

function refusal(problem: Problem<(typeof ADMIN_CODES)[number]>): AdminRefusal {
  return { ok: false, problems: [problem] } satisfies Refusal<(typeof ADMIN_CODES)[number]>
}

const LIMITS: readonly (keyof ControlLimits)[] = [
  'bodyLimit',
  'nestingLimit',
  'faultsPerAccount',
  'snapshotsPerAccount',
  'keysPerAccount',
  'answerLimit',
]

export function readLimits({ document }: Api): ControlLimits {
  const settings = document.source['x-settings']
  const read = (name: keyof ControlLimits) => {
    const value = valueAt(isObject(settings) ? settings : {}, `/${kebab(name)}/value`)
    if (typeof value !== 'number') throw new Error(`The control plane's document needs the setting ${kebab(name)}.`)
    return value
  }
  return Object.fromEntries(LIMITS.map((name) => [name, read(name)])) as unknown as ControlLimits
}
