import type { AccountState, MonitoredDomain } from '../domain/account.ts'
import { refreshOf } from '../domain/dmarc.ts'
import type { Fixture, FixtureDomain } from '../domain/fixture.ts'
import { writeInstant } from '../domain/iso-8601.ts'

/**
 * The account as a fixture, of which the same account can be made again, except for its keys: the fixture contains
 * nothing by which they could be used or guessed. `now` is what the account's clock shows, `refresh` the time of day of
 * the daily refresh.
 */
export function exportFixture(account: AccountState, now: number, refresh: string): Fixture {
  const { plan, seed, clock, keys, domains, groups, groupsCreated } = account
  return {
    description: `The account ${account.id} at ${writeInstant(now)}.`,
    plan,
    seed,
    clock: { now: writeInstant(now), frozen: 'frozenAt' in clock },
    // Without the first one, because every account gets a first key of its own.
    keys: keys.slice(1).map(({ label, createdAt, disabled }) => ({
      ...(label !== undefined && { label }),
      created_at: writeInstant(createdAt),
      disabled,
    })),
    domains: [...domains.values()].map((domain) => exportDomain(domain, refresh)),
    groups: [...groups.values()].map(({ id, name, domains: members }) => ({ id, name, domains: members })),
    groups_created: groupsCreated,
  }
}

function exportDomain(
  { name, addedAt, features, profile, since, volume, pin }: MonitoredDomain,
  refresh: string,
): FixtureDomain {
  return {
    name,
    added_at: writeInstant(addedAt),
    ...(features.length > 0 && { features }),
    ...(profile !== undefined && { profile }),
    ...(since !== undefined && { since: writeInstant(refreshOf(since, refresh)) }),
    ...(volume !== undefined && { volume }),
    ...(pin !== undefined && { record: pin }),
  }
}
