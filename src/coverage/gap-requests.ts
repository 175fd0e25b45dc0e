import { judge } from '../behaviour/judge.ts'
import type { OperationBehaviour, RequestSample, SampleRequest, ServiceContract } from '../behaviour/operation.ts'
import type { PlannedRequest } from '../behaviour/planned-request.ts'
import { Rehearsal } from '../behaviour/rehearsal.ts'
import type { Operation } from '../contract/api.ts'
import type { AccountState } from '../domain/account.ts'
import { includesApiAccess } from '../domain/plans.ts'
import { deriveKey, hashKey, identityOf } from '../ground/secrets.ts'
import { createBodyReader, type MediaFields } from '../http/body.ts'
import { firstValues, type Parameters, type Query, writeQuery } from '../http/target.ts'
import { keyEvidenceOf } from '../journal/entry.ts'
import { Coverage } from './coverage.ts'
import { deviationsOf } from './deviations.ts'
import { requestAtEdge } from './edge-requests.ts'
import { layoutOf } from './layout.ts'
import type { Observation } from './observation.ts'

/** The requests that show a response or an item of `layoutOf`. A gap without known requests is absent. */
export interface GapPlans {
  slots: ReadonlyMap<number, readonly PlannedRequest[]>
  items: ReadonlyMap<number, readonly PlannedRequest[]>
}

/** Requests, and the predicted observation of the last one to the service. */
interface PlannedRequests {
  requests: readonly PlannedRequest[]
  observation: Observation
  /** The number of times that this request is sent. */
  times: number
}

/** The common data of all candidates for one operation. */
interface GapScene {
  contract: ServiceContract
  account: AccountState
  now: number
  operation: Operation
  behaviour: OperationBehaviour
}

/**
 * Plans requests by trial. For each candidate, it predicts the observation, and a separate coverage decides what that
 * shows. The first candidate that shows something becomes the plan for it.
 */
export function planGaps(contract: ServiceContract, account: AccountState, now: number): GapPlans {
  const { slots, items } = layoutOf(contract)
  const slotPlans = new Map<number, readonly PlannedRequest[]>()
  const itemPlans = new Map<number, readonly PlannedRequest[]>()
  for (const { requests, observation, times } of candidatesFor(contract, account, now)) {
    const trial = new Coverage(contract)
    for (let time = 0; time < times; time++) trial.observe(observation)
    for (const slot of slots.keys()) {
      if (trial.count(slot).genuine > 0 && !slotPlans.has(slot)) slotPlans.set(slot, requests)
    }
    for (const item of items.keys()) {
      if (trial.hasShown(item) && !itemPlans.has(item)) itemPlans.set(item, requests)
    }
  }
  return { slots: slotPlans, items: itemPlans }
}

function* candidatesFor(contract: ServiceContract, account: AccountState, now: number): Generator<PlannedRequests> {
  const edges = layoutOf(contract).items.flatMap((item) => ('edge' in item ? [item.edge] : []))
  for (const operation of contract.operations) {
    const behaviour = contract.behaviourOf(operation)
    const scene = { contract, account, now, operation, behaviour }
    for (const sample of behaviour.accepted) {
      const rehearsal = admitted(scene)
      yield perform(scene, rehearsal, sample(rehearsal))
    }
    yield* refusals(scene, behaviour.refused)
    yield* candidatesAtTheGate(scene)
    const ready = admitted(scene)
    for (const request of deviationsOf(operation, ready, behaviour)) {
      const candidate = perform(scene, ready.copy(), request)
      // A request that this contract accepts is no deviation.
      if (candidate.observation.code !== undefined) yield candidate
    }
    for (const edge of edges.filter((each) => each.operation === operation)) {
      const rehearsal = admitted(scene)
      const request = requestAtEdge(edge, rehearsal, behaviour)
      if (request !== undefined) yield perform(scene, rehearsal, request)
    }
  }
}

function* refusals(scene: GapScene, samples: readonly RequestSample[]): Generator<PlannedRequests> {
  for (const sample of samples) {
    const rehearsal = admitted(scene)
    const candidate = perform(scene, rehearsal, sample(rehearsal))
    rehearsal.restore()
    // Some contracts accept a request that others refuse.
    if (candidate.observation.code !== undefined) yield candidate
  }
}

/** The account after the steps that let it use the API. */
function admitted({ contract, account, now }: GapScene): Rehearsal {
  const rehearsal = new Rehearsal(contract, account, now)
  rehearsal.allowAccess()
  return rehearsal
}

/** Requests for the checks before the operation: key, plan and quota. They undo their changes. */
function* candidatesAtTheGate(scene: GapScene): Generator<PlannedRequests> {
  const { operation, behaviour } = scene
  const plain = plainSample(behaviour)
  const keyless = admitted(scene)
  yield perform(scene, keyless, plain(keyless), NOT_ACCEPTED)
  yield* candidatesOfPlans(scene)

  for (const disabled of [false, true]) {
    const rehearsal = admitted(scene)
    const sample = plain(rehearsal)
    const secret = freshKey(rehearsal.state)
    const { id, hash } = identityOf(secret)
    rehearsal.addKey(secret)
    if (disabled) rehearsal.disableKey(id)
    const credentials = { hash, request: { key: 'none' as const, headers: { Authorization: `Bearer ${secret}` } } }
    const candidate = perform(scene, rehearsal, sample, credentials)
    rehearsal.deleteKey(id)
    yield candidate
  }

  if (operation.quota === undefined) return
  const { limit } = operation.quota
  for (const remaining of [1, 0]) {
    yield performWith(scene, (rehearsal, left) => rehearsal.leaveRequests(operation, left), remaining, limit)
  }
}

/** Performs the plain request while a part of the account has another value than usual. */
function performWith<Value>(
  scene: GapScene,
  set: (rehearsal: Rehearsal, value: Value) => void,
  value: Value,
  usual: Value,
): PlannedRequests {
  const rehearsal = admitted(scene)
  const sample = plainSample(scene.behaviour)(rehearsal)
  set(rehearsal, value)
  const candidate = perform(scene, rehearsal, sample)
  set(rehearsal, usual)
  return candidate
}

function* candidatesOfPlans(scene: GapScene): Generator<PlannedRequests> {
  const { contract, account, now, behaviour } = scene
  const plain = plainSample(behaviour)
  const { plans } = contract.settings
  const below = plans.order[plans.order.indexOf(plans.lowest) - 1]
  if (!includesApiAccess(account.plan, plans)) {
    // The request is refused before the account matters, so it needs no preparation.
    const sample = plain(new Rehearsal(contract, account, now))
    yield perform(scene, new Rehearsal(contract, account, now), sample)
  } else if (below !== undefined) {
    yield performWith(scene, (rehearsal, plan) => rehearsal.changePlan(plan), below, account.plan)
  }
}

function plainSample({ accepted }: OperationBehaviour): RequestSample {
  return accepted[0] ?? (() => ({}))
}

/** The key of a request, and its name in the planned request. */
interface PlannedKey {
  hash: string
  request: Pick<PlannedRequest, 'key' | 'headers'>
}

/** No valid key. A request without any key would belong to no account, and not to the coverage of this one. */
const NOT_ACCEPTED: PlannedKey = { hash: '', request: { key: 'misspaced' } }

/** The credentials of a request that names no key: a valid key. */
function usualCredentials({ keys }: AccountState): PlannedKey {
  return { hash: keys.find(({ disabled }) => !disabled)?.hash ?? '', request: {} }
}

/** Adds the request to the plan, and predicts its observation. */
function perform(
  { contract, operation }: GapScene,
  rehearsal: Rehearsal,
  { query: sent = {}, body, padTo, times, headers: own }: SampleRequest,
  { hash, request: credentials }: PlannedKey = usualCredentials(rehearsal.state),
): PlannedRequests {
  const headers = { ...own, ...credentials.headers }
  const parameters = parametersOf(sent)
  rehearsal.plan({
    plane: 'service',
    method: operation.method,
    path: operation.path + writeQuery(parameters),
    ...(credentials.key !== undefined && { key: credentials.key }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && { body }),
    ...(padTo !== undefined && { padTo }),
    ...(times !== undefined && { times }),
  })
  const { state, now } = rehearsal
  const { settings, catalogue } = contract
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '')
  const bodyBytes = padTo ?? Buffer.byteLength(text)
  const query = firstValues(parameters)
  const read = createBodyReader(settings).readText(text, bodyBytes, mediaFields(headers), operation)
  const gate = rehearsal.enter(operation, hash)
  const judgement = gate.refusal ?? judge({ operation, query, body: read }, state, contract, now)
  const problem = judgement.ok ? undefined : judgement.problems[0]
  return {
    requests: rehearsal.steps,
    times: times ?? 1,
    observation: {
      operation,
      status: problem === undefined ? operation.success.status : catalogue.answer(problem).status,
      code: problem?.code,
      reason: problem?.reason,
      injected: false,
      query,
      body: read?.ok ? read.value : undefined,
      bodyBytes,
      allowance: gate.allowance,
      now,
      key: keyEvidenceOf(gate.principal ?? gate.disabled, settings.gracePeriod),
      group: typeof query['id'] === 'string' ? state.groups.get(query['id']) : undefined,
    },
  }
}

function parametersOf(query: Query): Parameters {
  return Object.entries(query)
}

function mediaFields(headers: Readonly<Record<string, string>>): MediaFields {
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return { 'content-type': 'application/json', ...given }
}

/** A key that no account has. */
function freshKey({ id, seed, keys }: AccountState): string {
  for (let number = 1; ; number++) {
    const secret = deriveKey(seed, `${id} sample ${number}`)
    if (!keys.some((key) => key.hash === hashKey(secret))) return secret
  }
}
