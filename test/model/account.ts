import { hash } from 'node:crypto'
import type { FaultRule } from '../../src/domain/faults.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import type { Check, Profile } from '../independent-service/profile.ts'
import {
  type Account,
  type Asked,
  emptyAccount,
  IndependentService,
  type Key,
  type Outcome,
  PATHS,
  type Strike,
} from '../independent-service/service.ts'
import { stateOf, strikeOf } from './faults.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** What an account is made of, now and at each reset. */
export interface Origin {
  fixture: Fixture
  plan?: string
  seed?: number
  now?: string
  frozen?: boolean
  /** The secret of its first key. */
  key: string
}

export interface Fault {
  id: string
  createdAt: number
  rule: FaultRule
  matched: number
  hits: number
}

/** All that a snapshot keeps and a rewind brings back. */
export interface Life {
  origin: Origin
  plan: string
  seed: number
  createdAt: number
  clock: { ahead: number } | { frozenAt: number }
  account: Account
  faults: Fault[]
}

/** A life at a moment, and what was exported of it then, in which is also what the model knows nothing of. */
export interface Kept {
  life: Life
  at: number
  exported?: string
}

/** A request that the account has a record of. */
interface Entry {
  id: string
  /** Absent if nobody knows in which order it came. */
  before: Kept | undefined
}

/** An account of the stand-in: the independent service, and around it what the control plane can change. */
export class Held {
  readonly id: string
  readonly service: IndependentService
  readonly snapshots = new Map<string, Kept>()
  entries: Entry[] = []
  /** How often an operation gave an answer of its own, as in the coverage; unknown after a server has forgotten some. */
  shown: Map<string, number> | undefined = new Map()
  readonly requestIds = new Set<string>()
  /** Ids of groups since its beginning, of which some are no more. */
  readonly groupIds = new Set<string>()
  /** What answered the last request in the place of the service. */
  strike: Strike | undefined
  #life: Life

  constructor(id: string, profile: Profile, life: Life) {
    this.id = id
    this.#life = life
    const strikes = (asked: Asked) => {
      this.strike = strikeOf(this.life, asked)
      return this.strike
    }
    this.service = new IndependentService(profile, { strikes }, life.account)
  }

  get life(): Life {
    return this.#life
  }

  set life(life: Life) {
    this.#life = life
    this.service.account = life.account
  }

  get account(): Account {
    return this.#life.account
  }

  /** What the account's clock shows while the machine's shows `machine`. */
  clock(machine: number): number {
    const { clock } = this.#life
    return 'frozenAt' in clock ? clock.frozenAt : machine + clock.ahead
  }

  get isFrozen(): boolean {
    return 'frozenAt' in this.#life.clock
  }

  setClock(now: number, isFrozen: boolean, machine: number): void {
    this.#life.clock = isFrozen ? { frozenAt: now } : { ahead: now - machine }
  }

  keep(machine: number): Kept {
    return { life: structuredClone(this.#life), at: this.clock(machine) }
  }

  bringBack({ life, at }: Kept, machine: number): void {
    this.life = structuredClone(life)
    this.setClock(at, this.isFrozen, machine)
    this.groupIds.clear()
  }

  begin(origin: Origin, machine: number): void {
    this.life = lifeFrom(origin, machine)
    this.entries = []
    this.shown = new Map()
    this.requestIds.clear()
    this.groupIds.clear()
  }

  /** "Keys, quotas and faults stay; keys with a secret in the fixture join them." */
  enter(fixture: Fixture, machine: number): void {
    const { life } = this
    const now = fixture.clock === undefined ? this.clock(machine) : Date.parse(fixture.clock.now)
    const known = life.account.keys.map(({ secret }) => secret)
    const keys = [...life.account.keys, ...keysOf(fixture, now).filter(({ secret }) => !known.includes(secret))]
    const { plan = life.plan, seed = life.seed } = fixture
    const { charged } = life.account
    const account = { ...accountFrom(fixture, now), keys, charged, hasAccess: plan !== 'below-stone' }
    this.life = { ...life, plan, seed, account }
    this.setClock(now, fixture.clock?.frozen ?? this.isFrozen, machine)
    this.groupIds.clear()
  }

  setPlan(plan: string): void {
    this.#life.plan = plan
    this.account.hasAccess = plan !== 'below-stone'
  }

  /** What the control plane says of the account, apart from what the model knows nothing of. */
  describe(machine: number) {
    const { account, plan, seed, createdAt, faults } = this.life
    const now = this.clock(machine)
    return {
      account: {
        ...{ id: this.id, plan, seed, created_at: instant(createdAt), now: instant(now), frozen: this.isFrozen },
        ...{ domains: account.domains.length, groups: account.groups.length, keys: account.keys.length },
        ...{ faults: faults.length, snapshots: this.snapshots.size },
      },
      state: stateIn({
        ...{ plan, seed, clock: { now: instant(now), frozen: this.isFrozen } },
        domains: account.domains.map((name) => ({
          name,
          added_at: instant(account.addedAt.get(name) ?? 0),
          features: account.inUse.get(name) ?? [],
        })),
        groups: account.groups,
        groups_created: account.groupsMade,
      }),
      keys: account.keys.map(({ secret, label = null, createdAt: created, disabled }) => {
        return { id: idOf(secret), label, created_at: instant(created), disabled, in_grace: now - created < 7 * DAY }
      }),
      quotas: account.keys.flatMap((key) => PATHS.map((path) => this.#quotaOf(key, path, now))),
      faults: faults.map((fault) => {
        const { id, createdAt: created, rule, matched, hits } = fault
        const phase = rule.phase ?? 'before'
        return { id, created_at: instant(created), phase, matched, hits, state: stateOf(fault, now), rule }
      }),
      snapshots: [...this.snapshots].map(([name, { life, at }]) => {
        const { domains, groups } = life.account
        return { name, taken_at: instant(at), domains: domains.length, groups: groups.length }
      }),
    }
  }

  #quotaOf(key: Key, path: (typeof PATHS)[number], now: number) {
    const bucket = this.service.quotaOf(key, path, now)
    const { used, resets } = this.service.used(bucket, now)
    const remaining = Math.max(0, bucket.limit - used)
    return { key: idOf(key.secret), bucket: path.slice(1), limit: bucket.limit, remaining, resets_at: instant(resets) }
  }

  /** Whether a rule may strike: then it matters which of several requests comes first. */
  isUnderFaults(machine: number): boolean {
    return this.life.faults.some((fault) => stateOf(fault, this.clock(machine)) === 'active')
  }
}

/** Refusals that depend on the caller or the state; and of repeats, of which the schema of the document says nothing. */
const NOT_FORBIDDEN: readonly Check[] = [
  ...(['key', 'plan', 'limit', 'unknown id', 'already monitored', 'unmonitored removal', 'in use'] as const),
  ...(['members', 'duplicate name', 'duplicates', 'member duplicates'] as const),
]

/** Whether the document forbids a request whatever the account holds. */
export function isForbidden(outcome: Outcome): boolean {
  return outcome.kind === 'refused' && !NOT_FORBIDDEN.includes(outcome.check)
}

export function lifeFrom(origin: Origin, machine: number): Life {
  const { fixture, seed = 42, key } = origin
  const start = origin.now ?? fixture.clock?.now
  const now = start === undefined ? machine : Date.parse(start)
  const isFrozen = origin.frozen ?? fixture.clock?.frozen ?? false
  const own = { secret: key, createdAt: now - 30 * DAY, disabled: false }
  const keys = [own, ...keysOf(fixture, now).filter(({ secret }) => secret !== key)]
  const plan = origin.plan ?? fixture.plan ?? 'stone'
  return {
    ...{ origin, plan, seed, createdAt: now, clock: isFrozen ? { frozenAt: now } : { ahead: now - machine } },
    account: { ...accountFrom(fixture, now), keys, hasAccess: plan !== 'below-stone' },
    faults: [],
  }
}

function keysOf({ keys = [] }: Fixture, now: number): Key[] {
  return keys.flatMap(({ key, label, created_at = 'P30D', disabled = false }) =>
    key === undefined ? [] : [{ secret: key, createdAt: moment(created_at, now), disabled, ...(label && { label }) }],
  )
}

/** What a fixture says of domains and groups. The ids of its groups are open unless it has them. */
function accountFrom({ domains = [], groups = [], groups_created = 0 }: Fixture, now: number): Account {
  const account = emptyAccount([])
  account.groupsMade = Math.max(groups_created, groups.filter(({ id }) => id === undefined).length)
  for (const domain of domains) {
    const { name, added_at = 'P400D', features = [] } = typeof domain === 'string' ? { name: domain } : domain
    const kept = keptForm(name)
    account.domains.push(kept)
    account.addedAt.set(kept, moment(added_at, now))
    if (features.length > 0) account.inUse.set(kept, [...features])
  }
  for (const { id = '', name, domains: members = [] } of groups) {
    account.groups.push({ id, name, domains: [...new Set(members.map(keptForm))] })
  }
  return account
}

/** Of the few names in fixtures of the model. */
function keptForm(name: string): string {
  return name === 'faß.example' ? 'xn--fa-hia.example' : name.toLowerCase().replace(/\.$/, '')
}

/** The part of an exported state that the model knows. */
export function stateIn({ plan, seed, clock, domains = [], groups = [], groups_created }: Fixture): Fixture {
  const known = domains.map((domain) => {
    const { name, added_at, features = [] } = typeof domain === 'string' ? { name: domain } : domain
    return { name, added_at, features }
  })
  const shown = groups.map(({ id, name, domains: members }) => ({ id, name, domains: members }))
  return { plan, seed, clock, domains: known, groups: shown, groups_created } as Fixture
}

/** The part of a key that is safe to show; of the name of a sandbox, its hash. */
export function idOf(secret: string): string {
  return secret.startsWith('key_') ? secret.slice(0, 12) : `key_${hash('sha256', secret).slice(0, 8)}`
}

export function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z')
}

function moment(text: string, now: number): number {
  const days = /^P(\d+)D$/.exec(text)?.[1]
  return days === undefined ? Date.parse(text) : now - Number(days) * DAY
}
