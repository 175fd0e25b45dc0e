import { FIXTURE_NAMES, type LoadedFixture, loadFixture } from '../accounts/fixture.ts'
import { DEFAULT_ACCOUNT, SANDBOX } from '../accounts/worlds.ts'
import type { AccountState } from '../domain/account.ts'
import { accept, refuse } from '../domain/errors.ts'
import type { Fixture } from '../domain/fixture.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { StoreError, type StoreProblem } from '../store/store-error.ts'
import { refuseLateInstant } from './clock.ts'
import type { AdminCode, AdminRefusal } from './codes.ts'
import { type AccountHandler, type ControlCall, done, type Handler } from './handler.ts'
import { type PageOf, selectPage } from './paging.ts'
import { invalid, unknownName } from './refusals.ts'
import type { AccountReport } from './reports.ts'

/** Problems of one account that must not hide the other accounts. */
const LEFT_OUT: ReadonlySet<string> = new Set<StoreProblem>(['unknown-account', 'damaged'])

export const listAccounts: Handler<PageOf<'accounts', AccountReport>> = async (call) => {
  const ids = await call.store.list()
  const page = selectPage(call, { items: ids, count: ids.length, idOf: (id) => id })
  if (!page.ok) return page
  const made = await Promise.allSettled(
    page.items.map(async (id) => reportAccount(call, (await call.store.read(id)).state)),
  )
  const items = made.flatMap((each) => {
    if (each.status === 'fulfilled') return [each.value]
    // The account may have been deleted since the list was read, or a shared store may have lost a part of it.
    if (each.reason instanceof StoreError && LEFT_OUT.has(each.reason.problem)) return []
    throw each.reason
  })
  return done({ accounts: items, count: ids.length, next: page.next })
}

export const createAccount: Handler<{ account: AccountReport; api_key: string }, NewAccount> = async (call) => {
  const { id, plan, api_key } = call.body
  const beginning = await readBeginning(call)
  if ('ok' in beginning) return beginning
  // A sandbox is the same whether it is opened by its key or created by its id.
  const chosenKey = api_key ?? (id !== undefined && SANDBOX.test(id) ? id : undefined)
  const created = await call.worlds.create({ id, plan, apiKey: chosenKey, ...beginning })
  return done({ account: await reportAccount(call, created.account), api_key: created.apiKey })
}

export const getAccount: AccountHandler<{ account: AccountReport; api_key: string | null }> = async (call) => {
  const account = await reportAccount(call, call.account)
  return done({ account, api_key: call.worlds.findPublicKey(call.account) ?? null })
}

export const updateAccount: AccountHandler<{ account: AccountReport }, { plan: string }> = async (call) => {
  const { plan } = call.body
  const refusal = refuseUnknownPlan(call, plan)
  if (refusal) return refusal
  const decision = await call.store.update<undefined, AdminCode>(call.account.id, (state) =>
    accept({ ...state, plan }, undefined),
  )
  return decision.ok ? done({ account: await reportAccount(call, decision.state) }) : decision
}

export const deleteAccount: AccountHandler = async ({ account, worlds }) => {
  if (account.id === DEFAULT_ACCOUNT) return refuse({ code: 'protected', value: account.id })
  await worlds.delete(account.id)
  return done()
}

export const resetAccount: AccountHandler<{ account: AccountReport }, GivenBeginning> = async (call) => {
  const beginning = await readBeginning(call)
  if ('ok' in beginning) return beginning
  const account = await call.worlds.reset(call.account.id, beginning)
  return done({ account: await reportAccount(call, account) })
}

export async function reportAccount(
  { store, worlds }: ControlCall<unknown>,
  account: AccountState,
): Promise<AccountReport> {
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
    snapshots: (await store.snapshots.list(id)).length,
  }
}

interface Beginning {
  fixture: LoadedFixture | undefined
  seed: number | undefined
  now: string | undefined
  frozen: boolean | undefined
}

export interface GivenBeginning extends Partial<Omit<Beginning, 'fixture'>> {
  fixture?: string | Fixture
}

export interface NewAccount extends GivenBeginning {
  id?: string
  plan?: string
  api_key?: string
}

/**
 * What an account begins with. A fixture is an object or the name of a ready-made one. No request can make the server
 * read a file or URL.
 */
async function readBeginning(
  call: ControlCall<GivenBeginning & Pick<NewAccount, 'plan'>>,
): Promise<Beginning | AdminRefusal> {
  const { fixture, seed, now, frozen, plan } = call.body
  const name = FIXTURE_NAMES.find((each) => each === fixture)
  if (typeof fixture === 'string' && name === undefined) {
    return invalid('/fixture', fixture, 'choice', { allowed: `${FIXTURE_NAMES.join(', ')} or a fixture as an object` })
  }
  const given = name ?? (typeof fixture === 'string' ? undefined : fixture)
  const loaded = given && (await loadFixture(given))
  return refuseUnknownPlan(call, plan) ?? refuseLateInstant(now) ?? { fixture: loaded, seed, now, frozen }
}

function refuseUnknownPlan({ contract }: ControlCall<unknown>, plan: string | undefined): AdminRefusal | undefined {
  const { order } = contract.settings.plans
  return plan === undefined || order.includes(plan) ? undefined : unknownName('/plan', plan, order)
}
