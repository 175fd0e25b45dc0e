import { OrderedMap } from 'immutable'
import type { ServiceContract } from '../behaviour/operation.ts'
import { operationOf } from '../contract/api.ts'
import type { AccountState } from '../domain/account.ts'
import type { Fixture } from '../domain/fixture.ts'
import { comparedName } from '../domain/groups.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { isObject, readJson } from '../ground/json.ts'
import { plural } from '../ground/plural.ts'
import { queryOf, readQuery } from '../ground/target.ts'
import { type Entry, textOf } from '../journal/entry.ts'

/** The set-up of an account in which a request has the same outcome. */
export interface SetUp {
  /** The body of POST /accounts. The library takes the same object. */
  account: { fixture: string | object; plan?: string; seed?: number; now: string; frozen: true }
  /** Whether it is the account that the request found, as far as that matters for its response. */
  isExact: boolean
  /** The missing part, in one sentence; absent if nothing is missing. */
  missing: string | undefined
}

/** The maximum number of domains, and of groups, in an account that is set up as a whole. */
const WHOLE = 30
/** The maximum number of domains in the part of a larger account that the outcome depends on. */
const PART = 100

export interface SetUpSource {
  /** The account before the request; absent if it is not kept. */
  state: AccountState | undefined
  /** The present account. */
  present: AccountState
  contract: ServiceContract
  writeState(state: AccountState): Fixture
}

/** The set-up for a request. */
export function setUpFor(entry: Entry, { state, present, contract, writeState }: SetUpSource): SetUp {
  const now = writeInstant(entry.at)
  const frozen = true as const
  // A request that the contract always forbids needs no state.
  if (entry.violatesContract) return { account: { fixture: 'empty', now, frozen }, isExact: true, missing: undefined }
  if (state === undefined) {
    const { origin, plan, seed } = present
    const fixture = typeof origin.fixture === 'string' ? origin.fixture : 'empty'
    const missing =
      'What the account was before this request is no longer kept, so this account is as a new one, ' +
      `of the fixture ${fixture}.`
    return { account: { fixture, plan, seed, now, frozen }, isExact: false, missing }
  }
  const { plan, seed, domains, groups } = state
  const account = (part: AccountState) => ({ fixture: contentsOf(writeState(part)), plan, seed, now, frozen })
  const { part, isExact } = partFor(entry, state, contract)
  if (part === state) return { account: account(state), isExact, missing: undefined }
  const missing =
    `The account had ${plural(domains.size, 'domain')} and ${plural(groups.size, 'group')}. ` +
    `This one has only ${isExact ? 'those that matter for the request' : 'some of them'}.`
  return { account: account(part), isExact, missing }
}

/** The contents of an account. The caller adds the rest of the fixture. */
function contentsOf({ domains = [], groups = [], groups_created }: Fixture): object {
  return {
    ...(domains.length > 0 && { domains }),
    ...(groups.length > 0 && { groups }),
    ...(groups_created !== undefined && groups_created > groups.length && { groups_created }),
  }
}

/**
 * The part of an account that the outcome of a request depends on: the domains and groups that the request names. It is
 * the whole account if that is small.
 */
export function partFor(
  entry: Entry,
  state: AccountState,
  contract: ServiceContract,
): { part: AccountState; isExact: boolean } {
  if (state.domains.size <= WHOLE && state.groups.size <= WHOLE) return { part: state, isExact: true }
  const { settings } = contract
  const { target, body } = entry
  const operation = operationOf(contract, entry.operation)
  const sent = operation?.readsBody && body !== undefined ? readJson(textOf(body)) : undefined
  const named = namesIn(sent).map((name) => contract.canonicalHostname(name) ?? name)
  const id = readQuery(queryOf(target))['id']
  const name = isObject(sent) && typeof sent['name'] === 'string' ? sent['name'] : undefined
  const holder = name === undefined ? undefined : state.groupNames.get(comparedName(name, settings.nameComparison))
  const groups = [id, holder].flatMap((each) => (typeof each === 'string' ? (state.groups.get(each) ?? []) : []))
  const members = new Set(groups.flatMap((group) => group.domains))
  const namesNothing = named.length === 0 && name === undefined && id === undefined
  const domains = new Set(
    [...named, ...(members.size <= PART ? members : [])].filter((each) => state.domains.has(each)),
  )
  if (namesNothing) for (const each of [...state.domains.keys()].slice(0, WHOLE)) domains.add(each)
  const chosen = [...groups]
  for (const group of state.groups.values()) {
    if (chosen.length === groups.length + WHOLE) break
    if (!groups.includes(group) && group.domains.some((member) => domains.has(member))) chosen.push(group)
  }
  return {
    part: {
      ...state,
      domains: OrderedMap([...state.domains.entries()].filter(([each]) => domains.has(each))),
      groups: OrderedMap(
        chosen.map((group) => [group.id, { ...group, domains: group.domains.filter((each) => domains.has(each)) }]),
      ),
    },
    isExact: !namesNothing && members.size <= PART,
  }
}

/** The domains in all fields of a body. */
function namesIn(body: unknown): string[] {
  if (!isObject(body)) return []
  return Object.values(body).flatMap((field) =>
    Array.isArray(field) ? field.filter((each): each is string => typeof each === 'string') : [],
  )
}
