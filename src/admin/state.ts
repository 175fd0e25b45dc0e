import { type AccountParameters, createAccount } from '../accounts/creation.ts'
import { exportFixture } from '../accounts/export.ts'
import { findStory, type LoadedFixture, loadFixture, secretsOf, storyOf } from '../accounts/fixture.ts'
import type { AdminCode, AdminRefusal } from '../contract/control-api.ts'
import type { Schemas, StoryReport } from '../contract/control-plane.ts'
import type { AccountState, ApiKey } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { accept, type Decision, refuse } from '../domain/errors.ts'
import type { Fixture } from '../domain/fixture.ts'
import { hashKey } from '../ground/secrets.ts'
import { RealDate } from '../ground/timers.ts'
import type { Entry } from '../journal/entry.ts'
import { reportAccount } from './accounts.ts'
import { type AccountContext, changeAccount, done, type Handlers } from './handler.ts'
import { notFound, taken, tooMany } from './refusals.ts'

export const stateHandlers = {
  async exportState(call) {
    const { query, account, now, contract } = call
    if (query.before === undefined) return done(await writeFixture(account, now, contract))
    const found = await findEntry(call, query.before)
    if (!found.ok) return found
    const past = await call.worlds.recall(found.entry)
    if (past === undefined) return notKept(query.before)
    return done(await writeFixture(past.state, found.entry.at, contract))
  },

  /** The guided story of the account. A domain that it shows has the same spelling as in the list of domains. */
  async listScenes({ account, contract }) {
    const { title = null, description = null, scenes } = await findStory(account.origin)
    const shown = scenes.map(({ look_at: look, ...scene }) => ({
      ...scene,
      ...(look && { look_at: { ...look, ...nameDomain(look.domain, contract) } }),
    }))
    return done({ title, description, scenes: shown as StoryReport['scenes'] })
  },

  async rewindAccount(call) {
    const { request_id: id } = call.body
    const found = await findEntry(call, id)
    if (!found.ok) return found
    const account = await call.worlds.rewind(found.entry)
    return account === undefined ? notKept(id) : done({ account: await reportAccount(call, account) })
  },

  /**
   * The account changes at the end, in one step. Keys and fault rules that were added in the meantime stay. The rest is
   * replaced, with all changes since then. If the account was deleted in the meantime, the import is refused.
   */
  async importState(call) {
    const fixture = await loadFixture(call.body as Fixture)
    const imported = createAccount(fixture, parametersOf(call, fixture), call.contract)
    call.exchanges.journal.redactions.learn(secretsOf(fixture))
    return changeAccount(
      call,
      (account) => replaceState(call, fixture, imported, account),
      async (account) => ({ account: await reportAccount(call, account) }),
    )
  },
} satisfies Handlers

/** The newest request of the account with this id. If there is none, the reason why it is not available. */
async function findEntry(
  { account, exchanges }: AccountContext,
  id: string,
): Promise<{ ok: true; entry: Entry } | AdminRefusal> {
  await exchanges.caughtUp()
  const { journal } = exchanges
  const entry = journal.find(id, account.id)
  if (entry !== undefined) return { ok: true, entry }
  const elsewhere = journal.find(id)
  if (elsewhere === undefined) return notFound('request', id)
  const { account: holder } = elsewhere
  if (holder === undefined) return refuse({ code: 'not_found', reason: 'no-account', value: id })
  return refuse({ code: 'not_found', reason: 'elsewhere', value: id, about: { account: account.id, holder } })
}

function notKept(id: string): AdminRefusal {
  return refuse({ code: 'not_found', reason: 'not-kept', value: id })
}

async function writeFixture(
  account: AccountState,
  now: number,
  contract: AccountContext['contract'],
): Promise<Schemas['FixtureDocument']> {
  const story = await findStory(account.origin)
  return { ...exportFixture(account, now, contract.settings.refresh, story) }
}

function nameDomain(
  domain: string | undefined,
  { canonicalHostname }: AccountContext['contract'],
): { domain?: string } {
  return domain === undefined ? {} : { domain: canonicalHostname(domain) ?? domain }
}

/** Values that the fixture does not give are taken from the account. */
function parametersOf({ account, clock }: AccountContext, fixture: LoadedFixture): AccountParameters {
  return {
    id: account.id,
    real: clock(),
    apiKey: account.origin.key,
    plan: fixture.plan ?? account.plan,
    seed: fixture.seed ?? account.seed,
    now: fixture.clock?.now ?? new RealDate(timeOn(account.clock, clock())).toISOString(),
    frozen: fixture.clock?.frozen ?? 'frozenAt' in account.clock,
  }
}

function replaceState(
  { limits }: AccountContext,
  fixture: LoadedFixture,
  imported: AccountState,
  account: AccountState,
): Decision<AccountState, undefined, AdminCode> {
  const usable = new Set((fixture.keys ?? []).map(({ key, hash }) => (key === undefined ? hash : hashKey(key))))
  const known = new Set(account.keys.map(({ hash }) => hash))
  const added = imported.keys.filter(({ hash }) => usable.has(hash) && !known.has(hash))
  const keys = added.length === 0 ? account.keys : [...account.keys, ...added]
  if (keys.length > Math.max(limits.keysPerAccount, account.keys.length)) return tooMany(limits.keysPerAccount, 'keys')
  const namesake = findNamesake(keys)
  if (namesake) return taken('a key', namesake.id)
  const { origin, createdAt, keysCreated, faults, faultsCreated } = account
  const story = storyOf(fixture)
  // A reset goes back to the original fixture and its story.
  const unchanged = {
    origin: story === undefined ? origin : { ...origin, story },
    ...{ createdAt, keysCreated, faults, faultsCreated },
  }
  const clock = fixture.clock === undefined ? account.clock : imported.clock
  return accept({ ...imported, ...unchanged, keys, clock, plan: fixture.plan ?? account.plan }, undefined)
}

function findNamesake(keys: readonly ApiKey[]): ApiKey | undefined {
  const ids = new Set<string>()
  return keys.find(({ id }) => ids.size === ids.add(id).size)
}
