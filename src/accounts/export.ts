import type { Contract } from '../contract/contract.ts'
import type { AccountState, DomainNature, MonitoredDomain } from '../domain/account.ts'
import { refreshOf } from '../domain/dmarc.ts'
import type { Fixture, FixtureDomain, FixtureNature, Story } from '../domain/fixture.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { mapInTurns, runAtOnce, type Work } from '../ground/work.ts'

/**
 * The account as a fixture, of which the same account can be made again, except for its keys: the fixture contains
 * nothing by which they could be used or guessed. `now` is what the account's clock shows, `refresh` the time of day of
 * the daily refresh, `story` what the account tells.
 */
export function exportFixture(account: AccountState, now: number, refresh: string, story?: Story): Fixture {
  return runAtOnce(fixtureExport(account, now, refresh, story))
}

/** Writes small accounts and single domains, as they are at the instant `now`. */
export function stateWriterOf({ settings: { refresh } }: Pick<Contract, 'settings'>, now: number) {
  return {
    writeState: (state: AccountState): Fixture => exportFixture(state, now, refresh),
    writeDomain: (domain: MonitoredDomain): FixtureDomain => exportDomain(domain, refresh),
  }
}

/** The same as work that can pause. */
export function* fixtureExport(
  account: AccountState,
  now: number,
  refresh: string,
  { scenes, ...words }: Story = { scenes: [] },
): Work<Fixture> {
  const { plan, seed, clock, keys, domains, formerDomains, groups, groupsCreated } = account
  // Copies, because the maps show later changes to whoever reads on after a pause.
  const [present, grouped] = [[...domains.values()], [...groups.values()]]
  const former = [...(formerDomains?.entries() ?? [])].filter(([name]) => !domains.has(name))
  return {
    // Those of the story are told with it.
    ...(scenes.length > 0 ? words : { description: `The account ${account.id} at ${writeInstant(now)}.` }),
    plan,
    seed,
    clock: { now: writeInstant(now), frozen: 'frozenAt' in clock },
    // Without the first one, because every account gets a first key of its own.
    keys: keys.slice(1).map(({ label, createdAt, disabled }) => ({
      ...(label !== undefined && { label }),
      created_at: writeInstant(createdAt),
      disabled,
    })),
    domains: yield* mapInTurns(present, (domain) => exportDomain(domain, refresh)),
    ...(former.length > 0 && {
      former_domains: yield* mapInTurns(former, ([name, nature]) => ({ name, ...exportNature(nature, refresh) })),
    }),
    groups: yield* mapInTurns(grouped, ({ id, name, domains: members }) => ({ id, name, domains: members })),
    groups_created: groupsCreated,
    ...(scenes.length > 0 && { scenes }),
  }
}

/** A domain as a fixture has it. `refresh` as for `exportFixture`. */
function exportDomain(domain: MonitoredDomain, refresh: string): FixtureDomain {
  const { name, spelling = name, addedAt, features, pin } = domain
  return {
    name: spelling,
    added_at: writeInstant(addedAt),
    ...(features.length > 0 && { features }),
    ...exportNature(domain, refresh),
    ...(pin !== undefined && { record: pin }),
  }
}

function exportNature({ profile, since, volume, policy }: DomainNature, refresh: string): Omit<FixtureNature, 'name'> {
  return {
    ...(profile !== undefined && { profile }),
    ...(since !== undefined && { since: writeInstant(refreshOf(since, refresh)) }),
    ...(volume !== undefined && { volume }),
    ...(policy !== undefined && { policy }),
  }
}
