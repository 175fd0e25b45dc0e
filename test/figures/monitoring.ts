import fc from 'fast-check'
import { OrderedMap } from 'immutable'
import type { MonitoredDomain } from '../../src/domain/account.ts'
import { type DmarcRecord, describeDomain, PROFILE_NAMES } from '../../src/domain/dmarc.ts'
import {
  characterIn,
  countedDays,
  countMessages,
  type FigureRules,
  type Monitoring,
  NO_MESSAGES,
  recordOn,
  sourceOf,
} from '../../src/figures/figures.ts'

export const DAY = 86_400_000
/** 15 January 2026. */
export const TODAY = 20_468
export const SEED = 42

export const RULES: FigureRules = {
  settings: {
    refresh: '00:00',
    unprocessedDomains: 'listed',
  },
  percentageStep: 0.1,
  policyWithoutRecord: 'none',
}

/** A domain that was added long ago, unless something else is said. */
export function domain(name: string, more: Partial<MonitoredDomain> = {}): MonitoredDomain {
  return { name, addedAt: (TODAY - 400) * DAY, features: [], ...more }
}

/** A domain of any nature that was added up to two months ago, at any time of a day. */
export const anyDomain: fc.Arbitrary<MonitoredDomain> = fc
  .record(
    {
      name: fc.domain(),
      addedAt: fc.integer({ min: (TODAY - 60) * DAY, max: TODAY * DAY }),
      profile: fc.constantFrom(...PROFILE_NAMES),
      since: fc.integer({ min: TODAY - 100, max: TODAY + 30 }),
      volume: fc.nat(10_000_000),
    },
    { requiredKeys: ['name', 'addedAt'] },
  )
  .map((each) => ({ features: [], ...each }))

export function accountOf(domains: readonly MonitoredDomain[], seed = SEED): Monitoring {
  return { seed, domains: OrderedMap(domains.map((each) => [each.name, each] as const)) }
}

/** The record of the domain with this name. */
export function recordIn(account: Monitoring, name: string, day = TODAY, rules = RULES): DmarcRecord {
  const monitored = account.domains.get(name)
  const record = monitored && recordOn(account, monitored, day, rules)
  if (record === undefined) throw new Error(`${name} has no record`)
  return record
}

/** The figures of the mail of the one day before a refresh; those of no mail before the first refresh of the domain. */
export function figuresOfDay(account: Monitoring, name: string, day: number): DmarcRecord {
  const each = account.domains.get(name)
  const source = each && sourceOf(account, each, day, RULES.settings)
  if (each === undefined || source === undefined) throw new Error(`There are no figures of ${name} on day ${day}.`)
  const counted = countedDays(each, source, day, RULES.settings)
  const character = characterIn(account.seed, each)
  const counts = counted === undefined ? NO_MESSAGES : countMessages(character, day - 1, day, counted.since)
  return describeDomain(name, undefined, counts, RULES)
}
