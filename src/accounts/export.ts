import type { Contract } from '../contract/contract.ts'
import type { AccountState, MonitoredDomain } from '../domain/account.ts'
import { refreshOf } from '../domain/dmarc.ts'
import type { Fixture, FixtureDomain, Story } from '../domain/fixture.ts'
import { givenFields } from '../domain/given-fields.ts'
import { writeInstant } from '../domain/iso-8601.ts'

/** Writes small accounts and single domains, as they are at the instant `now`. */
export function stateWriterOf({ settings: { refresh } }: Pick<Contract, 'settings'>, now: number) {
  return {
    writeState: (state: AccountState): Fixture => exportFixture(state, now, refresh),
    writeDomain: (domain: MonitoredDomain): FixtureDomain => exportDomain(domain, refresh),
  }
}

/**
 * The account as a fixture that can create the same account again, but without its keys. The fixture contains nothing
 * that lets a reader use or guess a key. `now` is the time of the account's clock. `refresh` is the time of day of the
 * daily refresh. The last argument is the story of the account.
 */
export function exportFixture(
  account: AccountState,
  now: number,
  refresh: string,
  { scenes, ...words }: Story = { scenes: [] },
): Fixture {
  const { plan, seed, clock, keys, domains, groups, groupsCreated } = account
  return {
    // A story brings its own title and description.
    ...(scenes.length > 0 ? words : { description: `The account ${account.id} at ${writeInstant(now)}.` }),
    plan,
    seed,
    clock: { now: writeInstant(now), frozen: 'frozenAt' in clock },
    // The first key is left out, because every account gets its own first key.
    keys: keys.slice(1).map(({ label, createdAt, disabled }) => ({
      ...(label !== undefined && { label }),
      created_at: writeInstant(createdAt),
      disabled,
    })),
    domains: Array.from(domains.values(), (domain) => exportDomain(domain, refresh)),
    groups: Array.from(groups.values(), ({ id, name, domains: members }) => ({ id, name, domains: members })),
    groups_created: groupsCreated,
    ...(scenes.length > 0 && { scenes }),
  }
}

/** A domain in the form of a fixture. `refresh` is the same as for `exportFixture`. */
function exportDomain(domain: MonitoredDomain, refresh: string): FixtureDomain {
  const { name, spelling = name, addedAt, features, profile, since, volume, policy, pin, pinnedAt } = domain
  const began = since === undefined ? undefined : writeInstant(refreshOf(since, refresh))
  return {
    name: spelling,
    added_at: writeInstant(addedAt),
    ...(features.length > 0 && { features }),
    ...givenFields({ profile, since: began, volume, policy }),
    ...(pin !== undefined && { record: pin, ...(pinnedAt !== undefined && { record_since: writeInstant(pinnedAt) }) }),
  }
}
