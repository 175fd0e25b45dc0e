import { FIXTURE_NAMES, type LoadedFixture, loadFixture } from '../accounts/fixture.ts'
import { DEFAULT_ACCOUNT, SANDBOX } from '../accounts/worlds.ts'
import type { AdminRefusal } from '../contract/control-api.ts'
import type { AccountReport, BodyOf } from '../contract/control-plane.ts'
import type { AccountState } from '../domain/account.ts'
import { accept, refuse } from '../domain/errors.ts'
import type { Fixture } from '../domain/fixture.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { StoreError, type StoreProblem } from '../store/store-error.ts'
import { refuseLateInstant } from './clock.ts'
import { type ControlContext, changeAccount, done, type Handlers } from './handler.ts'
import { answerPage } from './paging.ts'
import { invalid, unknownName } from './refusals.ts'

/** Problems of one account that must not hide the other accounts. */
const LEFT_OUT: ReadonlySet<string> = new Set<StoreProblem>(['unknown-account', 'damaged'])

export const accountHandlers = {
  async listAccounts(call) {
    const page = answerPage(call, 'accounts', { items: await call.store.list(), idOf: (id) => id, report: (id) => id })
    if (!page.ok) return page
    const made = await Promise.allSettled(
      page.data.accounts.map(async (id) => reportAccount(call, (await call.store.read(id)).state)),
    )
    const accounts = made.flatMap((each) => {
      if (each.status === 'fulfilled') return [each.value]
      // The account may have been deleted since the list was read, or a shared store may have lost a part of it.
      if (each.reason instanceof StoreError && LEFT_OUT.has(each.reason.problem)) return []
      throw each.reason
    })
    return done({ ...page.data, accounts })
  },

  async createAccount(call) {
    const { id, plan, api_key } = call.body
    const beginning = await readBeginning(call)
    if ('ok' in beginning) return beginning
    // A sandbox is the same whether it is opened by its key or created by its id.
    const chosenKey = api_key ?? (id !== undefined && SANDBOX.test(id) ? id : undefined)
    const created = await call.worlds.create({ id, plan, apiKey: chosenKey, ...beginning })
    return done({ account: await reportAccount(call, created.account), api_key: created.apiKey })
  },

  async getAccount(call) {
    const account = await reportAccount(call, call.account)
    return done({ account, api_key: call.worlds.findPublicKey(call.account) ?? null })
  },

  async updateAccount(call) {
    const { plan } = call.body
    const refusal = refuseUnknownPlan(call.contract, plan)
    if (refusal) return refusal
    return changeAccount(
      call,
      (state) => accept({ ...state, plan }, undefined),
      async (account) => ({ account: await reportAccount(call, account) }),
    )
  },

  async deleteAccount({ account, worlds }) {
    if (account.id === DEFAULT_ACCOUNT) return refuse({ code: 'protected', value: account.id })
    await worlds.delete(account.id)
    return done()
  },

  async resetAccount(call) {
    const beginning = await readBeginning(call)
    if ('ok' in beginning) return beginning
    const account = await call.worlds.reset(call.account.id, beginning)
    return done({ account: await reportAccount(call, account) })
  },
} satisfies Handlers

export async function reportAccount(
  { store, worlds }: Pick<ControlContext, 'store' | 'worlds'>,
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

/**
 * What an account begins with. A fixture is an object or the name of a ready-made one. No request can make the server
 * read a file or URL.
 */
async function readBeginning({
  contract,
  body: { fixture, seed, now, frozen, plan },
}: Pick<ControlContext, 'contract'> & { body: BodyOf<'createAccount'> }): Promise<Beginning | AdminRefusal> {
  const name = FIXTURE_NAMES.find((each) => each === fixture)
  if (typeof fixture === 'string' && name === undefined) {
    return invalid('/fixture', fixture, 'choice', { allowed: `${FIXTURE_NAMES.join(', ')} or a fixture as an object` })
  }
  const given = name ?? (typeof fixture === 'string' ? undefined : (fixture as Fixture | undefined))
  const loaded = given && (await loadFixture(given))
  return refuseUnknownPlan(contract, plan) ?? refuseLateInstant(now) ?? { fixture: loaded, seed, now, frozen }
}

function refuseUnknownPlan(
  { settings }: ControlContext['contract'],
  plan: string | undefined,
): AdminRefusal | undefined {
  const { order } = settings.plans
  return plan === undefined || order.includes(plan) ? undefined : unknownName('/plan', plan, order)
}
