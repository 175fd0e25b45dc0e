import { createAccount as createAccountState } from '../accounts/creation.ts'
import { exportFixture } from '../accounts/export.ts'
import { FIXTURE_NAMES, type LoadedFixture, loadFixture } from '../accounts/fixture.ts'
import { DEFAULT_ACCOUNT, SANDBOX, type Snapshot } from '../accounts/worlds.ts'
import type { AccountState } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { accept, type Decision } from '../domain/errors.ts'
import type { Fixture } from '../domain/fixture.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { addKey } from '../domain/keys.ts'
import { isObject } from '../ground/json.ts'
import { deriveKey, hashKey } from '../ground/secrets.ts'
import { type AdminCode, type AdminRefusal, invalid, notFound, taken, tooMany } from './codes.ts'
import { type AccountCall, type AccountVerb, type ControlCall, done, type Verb } from './verb.ts'

export const listAccounts: Verb = async (call) => {
  const read = await Promise.allSettled((await call.store.list()).map((id) => call.store.read(id)))
  // One that was deleted in the meantime is none any more.
  const accounts = read.flatMap((each) => (each.status === 'fulfilled' ? [describeAccount(call, each.value)] : []))
  return done({ accounts, count: accounts.length })
}

export const createAccount: Verb = async (call) => {
  const { id, plan, fixture, seed, now, frozen, api_key } = call.body as {
    [Name in 'id' | 'plan' | 'now' | 'api_key']?: string
  } & { fixture?: string | Fixture; seed?: number; frozen?: boolean }
  const loaded = await readFixture(fixture)
  if (isRefusal(loaded)) return loaded
  const refusal = unknownPlan(call, plan) ?? impossibleInstant(now)
  if (refusal) return refusal
  // A sandbox that is made by name is one that its key would have opened.
  const apiKey = api_key ?? (id !== undefined && SANDBOX.test(id) ? id : undefined)
  const account = await call.worlds.create({ id, plan, seed, now, frozen, apiKey, fixture: loaded })
  const secret = apiKey ?? deriveKey(account.seed, account.id)
  return done({ account: describeAccount(call, account), api_key: secret })
}

export const getAccount: AccountVerb = (call) => done({ account: describeAccount(call, call.account) })

export const updateAccount: AccountVerb = async (call) => {
  const plan = String(call.body['plan'])
  const refusal = unknownPlan(call, plan)
  if (refusal) return refusal
  return changed(call, (state) => ({ ...state, plan }))
}

export const deleteAccount: AccountVerb = async ({ account, worlds }) => {
  if (account.id === DEFAULT_ACCOUNT) return { ok: false, problems: [{ code: 'protected', value: account.id }] }
  await worlds.delete(account.id)
  return done()
}

export const resetAccount: AccountVerb = async (call) => {
  const { fixture, seed, now, frozen } = call.body as {
    fixture?: string | Fixture
    seed?: number
    now?: string
    frozen?: boolean
  }
  const loaded = await readFixture(fixture)
  if (isRefusal(loaded)) return loaded
  const refusal = impossibleInstant(now)
  if (refusal) return refusal
  const account = await call.worlds.reset(call.account.id, { fixture: loaded, seed, now, frozen })
  return done({ account: describeAccount(call, account) })
}

export const exportState: AccountVerb = ({ account, now, contract }) => {
  return done(exportFixture(account, now, contract.settings.refresh))
}

export const importState: AccountVerb = async (call) => {
  const fixture = await loadFixture(call.body as Fixture)
  const decision = await call.store.update(call.account.id, (account) => importFixture(call, fixture, account))
  return decision.ok ? done({ account: describeAccount(call, decision.state) }) : decision
}

function importFixture(
  { contract, clock, limits }: AccountCall,
  fixture: LoadedFixture,
  account: AccountState,
): Decision<AccountState, undefined, AdminCode> {
  const parameters = {
    id: account.id,
    real: clock(),
    apiKey: account.origin.key,
    plan: fixture.plan ?? account.plan,
    seed: fixture.seed ?? account.seed,
    now: fixture.clock?.now ?? new Date(timeOn(account.clock, clock())).toISOString(),
    frozen: fixture.clock?.frozen ?? 'frozenAt' in account.clock,
  }
  const imported = createAccountState(fixture, parameters, contract)
  const usable = new Set((fixture.keys ?? []).map(({ key, hash }) => (key === undefined ? hash : hashKey(key))))
  const { keys } = imported.keys.filter(({ hash }) => usable.has(hash)).reduce(addKey, account)
  if (keys.length > Math.max(limits.keysPerAccount, account.keys.length)) return tooMany(limits.keysPerAccount, 'keys')
  const namesake = keys.find((key, index) => keys.findIndex(({ id }) => id === key.id) !== index)
  if (namesake) return taken('a key', namesake.id)
  const { origin, createdAt, keysCreated, faults, faultsCreated } = account
  const settings = { origin, createdAt, keysCreated, faults, faultsCreated, keys }
  return accept(
    { ...imported, ...settings, clock: fixture.clock === undefined ? account.clock : imported.clock },
    undefined,
  )
}

export const listSnapshots: AccountVerb = ({ account, worlds }) => {
  return done({ snapshots: worlds.snapshots(account.id).map(describeSnapshot) })
}

export const takeSnapshot: AccountVerb = async ({ account, worlds, body, limits }) => {
  const name = String(body['name'])
  const known = worlds.snapshots(account.id)
  const namesake = known.some((snapshot) => snapshot.name === name)
  if (namesake && body['replace'] !== true) return taken('a snapshot', name)
  if (!namesake && known.length >= limits.snapshotsPerAccount) return tooMany(limits.snapshotsPerAccount, 'snapshots')
  return done({ snapshot: describeSnapshot(await worlds.takeSnapshot(account.id, name)) })
}

export const restoreSnapshot: AccountVerb = async (call) => {
  const name = call.parameters['snapshot'] ?? ''
  const account = await call.worlds.restore(call.account.id, name)
  return account === undefined ? notFound('snapshot', name) : done({ account: describeAccount(call, account) })
}

export const deleteSnapshot: AccountVerb = ({ account, worlds, parameters }) => {
  const name = parameters['snapshot'] ?? ''
  return worlds.deleteSnapshot(account.id, name) ? done() : notFound('snapshot', name)
}

/** Changes the account and answers with it. */
async function changed(call: AccountCall, change: (state: AccountState) => AccountState) {
  const decision = await call.store.update<undefined, AdminCode>(call.account.id, (state) =>
    accept(change(state), undefined),
  )
  return decision.ok ? done({ account: describeAccount(call, decision.state) }) : decision
}

export function describeAccount({ worlds }: ControlCall, account: AccountState): object {
  const { id, plan, seed, origin, createdAt, clock, domains, groups, keys, faults } = account
  return {
    id,
    plan,
    seed,
    fixture: typeof origin.fixture === 'string' ? origin.fixture : null,
    created_at: writeInstant(createdAt),
    now: writeInstant(worlds.now(account)),
    frozen: 'frozenAt' in clock,
    domains: domains.size,
    groups: groups.size,
    keys: keys.length,
    faults: faults.length,
    snapshots: worlds.snapshots(id).length,
  }
}

function describeSnapshot({ name, takenAt, state }: Snapshot): object {
  return { name, taken_at: writeInstant(takenAt), domains: state.domains.size, groups: state.groups.size }
}

/** No path is read and no URL fetched here, whatever is asked for: a fixture comes by name or whole. */
async function readFixture(fixture: string | Fixture | undefined): Promise<LoadedFixture | undefined | AdminRefusal> {
  if (fixture === undefined || isObject(fixture)) return fixture && loadFixture(fixture as Fixture)
  const name = FIXTURE_NAMES.find((each) => each === fixture)
  if (name !== undefined) return loadFixture(name)
  return invalid('/fixture', fixture, 'choice', { allowed: `${FIXTURE_NAMES.join(', ')} or a fixture as an object` })
}

function isRefusal(outcome: LoadedFixture | undefined | AdminRefusal): outcome is AdminRefusal {
  return outcome !== undefined && 'ok' in outcome
}

function unknownPlan({ contract }: ControlCall, plan: string | undefined): AdminRefusal | undefined {
  const { order } = contract.settings.plans
  return plan === undefined || order.includes(plan)
    ? undefined
    : invalid('/plan', plan, 'choice', { allowed: order.join(', ') })
}

/** A clock that shows a year of five digits could not be written down. */
export function impossibleInstant(now: string | undefined): AdminRefusal | undefined {
  return now !== undefined && Date.parse(now) > LAST_INSTANT ? invalid('/now', now, 'range') : undefined
}

/** In milliseconds; a day before the last that RFC 3339 can write, for a clock that runs on. */
export const LAST_INSTANT = Date.parse('9999-12-31T00:00:00Z')
