import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import { includesApiAccess } from '../domain/plans.ts'
import { deriveKey, hashKey } from '../ground/secrets.ts'
import { type KeyEvidence, NO_KEY } from '../journal/entry.ts'
import { ACCEPTED, type Prepare, REFUSED, type Sent } from './accepted-requests.ts'
import { Coverage } from './coverage.ts'
import { deviationsOf } from './deviations.ts'
import { prepareEdge } from './edge-requests.ts'
import { layoutOf } from './layout.ts'
import type { Observation } from './observation.ts'
import type { PlannedRequest } from './planned-request.ts'
import { Rehearsal } from './rehearsal.ts'

/** For each response and each item of `layoutOf` that requests are known for: those that show it in the account. */
export interface GapPlans {
  slots: ReadonlyMap<number, readonly PlannedRequest[]>
  items: ReadonlyMap<number, readonly PlannedRequest[]>
}

/** Requests, and what would be observed of the one that matters. */
interface Candidate {
  requests: readonly PlannedRequest[]
  observation: Observation
  /** How often it would be. */
  times: number
}

/** What all candidates of one operation have in common. */
interface Scene {
  contract: Contract
  account: AccountState
  operation: Operation
  /** The plainest request that the operation accepts. */
  plain: Prepare
}

/** How a request fares at the gate, where that is not as usual. */
type AtTheGate = Partial<Pick<PlannedRequest, 'key' | 'headers'>> & {
  evidence?: KeyEvidence
  /** Of the quota, once the request is charged; -1 where it was refused for that. */
  remaining?: number
}

const USUAL_KEY: KeyEvidence = { ordinal: 1, disabled: false, inGrace: false }

/**
 * Plans requests by trial: of each candidate it is foretold what would be observed, and a coverage of its own says
 * what that shows. The first candidate that shows something is the plan for it.
 */
export function planGaps(contract: Contract, account: AccountState): GapPlans {
  const { slots, items } = layoutOf(contract)
  const slotPlans = new Map<number, readonly PlannedRequest[]>()
  const itemPlans = new Map<number, readonly PlannedRequest[]>()
  for (const { requests, observation, times } of candidatesFor(contract, account)) {
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

function* candidatesFor(contract: Contract, account: AccountState): Generator<Candidate> {
  const edges = layoutOf(contract).items.flatMap((item) => ('edge' in item ? [item.edge] : []))
  for (const operation of contract.operations) {
    const accepted = ACCEPTED[operation.id] ?? []
    const [plain] = accepted
    if (plain === undefined) continue
    const scene = { contract, account, operation, plain }
    for (const prepare of accepted) {
      const rehearsal = admitted(scene)
      yield perform(scene, rehearsal, prepare(rehearsal))
    }
    for (const prepare of REFUSED[operation.id] ?? []) {
      const rehearsal = admitted(scene)
      const refused = prepare(rehearsal)
      if (refused === undefined) continue
      const candidate = perform(scene, rehearsal, refused.sent, refused.problem)
      refused.restore?.()
      yield candidate
    }
    yield* candidatesAtTheGate(scene)
    const ready = admitted(scene)
    for (const { sent, problem } of deviationsOf(operation, ready, accepted)) {
      const candidate = perform(scene, ready.copy(), sent, problem)
      // What turns out to be no deviation may still be refused for what the account holds.
      if (candidate.observation.code !== undefined) yield candidate
    }
    for (const edge of edges.filter((each) => each.operation === operation)) {
      const rehearsal = admitted(scene)
      const refused = prepareEdge(edge, rehearsal, accepted)
      if (refused) yield perform(scene, rehearsal, refused.sent, refused.problem)
    }
  }
}

/** The account as it is, once it may use the API. */
function admitted({ contract, account }: Scene): Rehearsal {
  const rehearsal = new Rehearsal(contract, account)
  rehearsal.allowAccess()
  return rehearsal
}

/** Requests for what is checked before the operation: key, plan and quota. What they change they put back. */
function* candidatesAtTheGate(scene: Scene): Generator<Candidate> {
  const { contract, operation, plain } = scene
  const refused: Problem = { code: 'unauthorized' }
  const stranger = admitted(scene)
  yield perform(scene, stranger, plain(stranger), refused, { key: 'none', evidence: NO_KEY })
  yield* candidatesOfPlans(scene)

  const inGrace = contract.settings.gracePeriod > 0
  for (const disabled of [false, true]) {
    const rehearsal = admitted(scene)
    const sent = plain(rehearsal)
    const { keys } = rehearsal.state
    const secret = freshKey(rehearsal.state)
    const name = secret.split('.')[0] ?? ''
    rehearsal.administer('POST', '/keys', { key: secret, label: 'Sample' })
    if (disabled) rehearsal.administer('PATCH', `/keys/${name}`, { disabled })
    const candidate = perform(scene, rehearsal, sent, disabled ? refused : undefined, {
      key: 'none',
      headers: { Authorization: `Bearer ${secret}` },
      evidence: { ordinal: keys.length + 1, disabled, inGrace },
    })
    rehearsal.administer('DELETE', `/keys/${name}`)
    yield candidate
  }

  for (const remaining of operation.quota === undefined ? [] : [1, 0]) {
    const rehearsal = admitted(scene)
    const sent = plain(rehearsal)
    const bucket = operation.path.slice(1)
    rehearsal.administer('PATCH', '/quotas', { bucket, remaining })
    const problem: Problem | undefined = remaining === 0 ? { code: 'rate_limited' } : undefined
    const candidate = perform(scene, rehearsal, sent, problem, { remaining: remaining - 1 })
    rehearsal.administer('PATCH', '/quotas', { bucket, remaining: operation.quota?.limit })
    yield candidate
  }
}

function* candidatesOfPlans(scene: Scene): Generator<Candidate> {
  const { contract, account, plain } = scene
  const { plans } = contract.settings
  const below = plans.order[plans.order.indexOf(plans.lowest) - 1]
  const problem: Problem = { code: 'unauthorized', reason: 'plan' }
  if (!includesApiAccess(account.plan, plans)) {
    // Nothing need be prepared, because the request comes to nothing.
    const sent = plain(new Rehearsal(contract, account))
    yield perform(scene, new Rehearsal(contract, account), sent, problem)
  } else if (below !== undefined) {
    const rehearsal = new Rehearsal(contract, account)
    const sent = plain(rehearsal)
    rehearsal.changePlan(below)
    const candidate = perform(scene, rehearsal, sent, problem)
    rehearsal.changePlan(account.plan)
    yield candidate
  }
}

/** Adds the request to the rehearsal and foretells its answer: a refusal for the `problem`, or what the schemas say. */
function perform(
  { contract, operation }: Scene,
  rehearsal: Rehearsal,
  sent: Sent,
  problem?: Problem,
  gate: AtTheGate = {},
): Candidate {
  const { query = {}, body, padTo, times, group } = sent
  const headers = { ...sent.headers, ...gate.headers }
  const search = new URLSearchParams(query).toString()
  rehearsal.requests.push({
    plane: 'service',
    method: operation.method,
    path: search === '' ? operation.path : `${operation.path}?${search}`,
    ...(gate.key !== undefined && { key: gate.key }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && { body }),
    ...(padTo !== undefined && { padTo }),
    ...(times !== undefined && { times }),
  })
  const { catalogue } = contract
  const [first, ...rest] =
    problem === undefined ? [...operation.checkQuery(query), ...operation.checkBody(body)] : [problem]
  const foremost = first && catalogue.foremost([first, ...rest])
  const { remaining } = gate
  const limit = operation.quota?.limit ?? 0
  return {
    requests: rehearsal.requests,
    times: times ?? 1,
    observation: {
      operation,
      status: foremost === undefined ? operation.success.status : catalogue.answer(foremost).status,
      code: foremost?.code,
      reason: foremost?.reason,
      injected: false,
      query,
      body: typeof body === 'string' ? undefined : body,
      bodyBytes: padTo ?? Buffer.byteLength(typeof body === 'string' ? body : (JSON.stringify(body) ?? '')),
      allowance:
        remaining === undefined
          ? undefined
          : { allowed: remaining >= 0, limit, remaining: Math.max(0, remaining), resetAt: 0 },
      now: 0,
      key: gate.evidence ?? USUAL_KEY,
      group,
    },
  }
}

/** A key that the account does not have, nor any other. */
function freshKey({ id, seed, keys }: AccountState): string {
  for (let number = 1; ; number++) {
    const secret = deriveKey(seed, `${id} sample ${number}`)
    if (!keys.some((key) => key.hash === hashKey(secret))) return secret
  }
}
