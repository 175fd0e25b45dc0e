import { expect } from 'vitest'
import { type Account, beginAnew, instant, type Key, keysOf, monitored } from './account.ts'
import { type AdminExpected, type Deed, done, notFound, refused, taken } from './admin-expected.ts'
import { BAD_FIXTURES, type Fixture } from './fixtures.ts'
import type { Model } from './model.ts'

export function describe(account: Account, model: Model): AdminExpected {
  const { plan, seed, origin, createdAt, domains, groups, keys, faults } = account.contents
  return done({
    account: {
      id: account.id,
      plan,
      seed,
      fixture: origin.name,
      created_at: instant(createdAt),
      ...clockOf(account, model),
      domains: domains.size,
      groups: groups.length,
      keys: keys.size,
      faults: faults.length,
      snapshots: account.snapshots.size,
    },
  })
}

/** "The keys that came with it work on, later ones are gone; faults and pins are cleared; snapshots stay." */
export function reset(account: Account, { body = {} }: Deed, model: Model): AdminExpected {
  const { fixture, ...chosen } = body
  if (isBad(fixture)) return refused(400, 'invalid_fixture')
  const { origin } = account.contents
  const ready = typeof fixture === 'string'
  const made = fixture === undefined ? {} : { fixture: ready ? {} : fixture, name: ready ? fixture : null }
  const contents = beginAnew({ ...origin, ...made, ...chosen }, model.now)
  if (holdsOthersKeys(account, contents.keys, model)) return taken
  account.contents = contents
  account.beginnings += 1
  account.requests = 0
  return describe(account, model)
}

export function exportState(account: Account, _: Deed, model: Model): AdminExpected {
  const { plan, seed, keys, domains, former, groups, groupsCreated } = account.contents
  const removed = [...former].filter(([name]) => !domains.has(name))
  const fixture = {
    description: expect.any(String),
    plan,
    seed,
    clock: clockOf(account, model),
    keys: [...keys.values()].slice(1).map(({ label, createdAt, disabled }) => ({
      ...(label !== null && { label }),
      created_at: instant(createdAt),
      disabled,
    })),
    domains: [...domains].map(([name, { addedAt, features, pin, nature }]) => ({
      name,
      added_at: instant(addedAt),
      ...(features.length > 0 && { features }),
      ...nature,
      ...(pin && { record: pin }),
    })),
    ...(removed.length > 0 && { former_domains: removed.map(([name, nature]) => ({ name, ...nature })) }),
    groups: groups.map((group) => ({ ...group })),
    groups_created: groupsCreated,
  }
  return {
    ...done(fixture),
    learn: (data: Fixture) => {
      account.exported = data
    },
  }
}

/** "The account's keys work on, keys with a secret in the fixture join them. Quotas and faults stay." */
export function importState(account: Account, { body: fixture }: Deed, model: Model): AdminExpected {
  if (isBad(fixture)) return refused(400, 'invalid_fixture')
  const { contents } = account
  const { clock, plan = contents.plan, seed = contents.seed }: Fixture = fixture
  const now = clock === undefined ? account.clock(model.now) : Date.parse(clock.now)
  const keys = new Map([...keysOf(fixture, now), ...contents.keys])
  if (holdsOthersKeys(account, keys, model)) return taken
  const frozen = clock?.frozen ?? account.frozen
  const joined = [...keys].filter(([key]) => !contents.keys.has(key))
  account.contents = {
    ...contents,
    plan,
    seed,
    keys: new Map([...contents.keys, ...joined]),
    ...monitored(fixture, now),
  }
  account.setClock(now, frozen, model.now)
  return describe(account, model)
}

export function clockOf(account: Account, model: Model): { now: string; frozen: boolean } {
  return { now: instant(account.clock(model.now)), frozen: account.frozen }
}

export function snapshotOf({ snapshots }: Account, name: string): object | undefined {
  const snapshot = snapshots.get(name)
  if (snapshot === undefined) return undefined
  const { takenAt, contents } = snapshot
  return { name, taken_at: instant(takenAt), domains: contents.domains.size, groups: contents.groups.length }
}

export function takeSnapshot(account: Account, { body }: Deed, model: Model): AdminExpected {
  if (account.snapshots.has(body.name) && body.replace !== true) return taken
  // "From the oldest to the newest."
  account.snapshots.delete(body.name)
  const takenAt = account.clock(model.now)
  account.snapshots.set(body.name, { takenAt, contents: structuredClone(account.contents) })
  return { status: 201, data: { snapshot: snapshotOf(account, body.name) } }
}

/** "State, keys, pins, features, clock, quotas and faults"; requests go on being counted. */
export function restoreSnapshot(account: Account, { parameters }: Deed, model: Model): AdminExpected {
  const snapshot = account.snapshots.get(parameters['snapshot'] ?? '')
  if (snapshot === undefined) return notFound
  const { takenAt, contents } = snapshot
  if (holdsOthersKeys(account, contents.keys, model)) return taken
  account.contents = structuredClone(contents)
  account.setClock(takenAt, account.frozen, model.now)
  return describe(account, model)
}

function isBad(fixture: unknown): boolean {
  return BAD_FIXTURES.some((bad) => bad === fixture)
}

function holdsOthersKeys(account: Account, keys: ReadonlyMap<string, Key>, model: Model): boolean {
  const others = [...model.accounts.values()].filter((other) => other !== account)
  return others.some((other) => [...other.keys.keys()].some((key) => keys.has(key)))
}
