import { expect } from 'vitest'
import {
  type Account,
  beginning,
  type Domain,
  type Fault,
  idOf,
  instant,
  type Key,
  nextVersion,
  type Pin,
} from './account.ts'
import {
  type AdminExpected,
  type Deed,
  done,
  invalid,
  notFound,
  type Perform,
  refused,
  taken,
} from './admin-expected.ts'
import { canStrike, stateOf } from './faults.ts'
import { isInGrace, limitOf, type Model, PATHS, quotaOf, windowOf } from './model.ts'
import { operate } from './operations.ts'
import { keptForm } from './pool.ts'
import {
  clockOf,
  describe,
  exportState,
  importState,
  reset,
  restoreSnapshot,
  snapshotOf,
  takeSnapshot,
} from './worlds.ts'

/** Does to an account what the control plane says that it does, and says what it must answer. */
export function perform(account: Account, deed: Deed, model: Model): AdminExpected {
  const operation = OPERATIONS[deed.operation]
  if (operation === undefined) throw new Error(`The model has no ${deed.operation}.`)
  return operation(account, deed, model)
}

const OPERATIONS: Readonly<Record<string, Perform>> = {
  getAccount(account, _, model) {
    // All keys of the model's accounts were chosen, so nobody can compute one.
    const { status, data } = describe(account, model)
    return { status, data: { ...(data as object), api_key: null } }
  },
  updateAccount(account, { body }, model) {
    if (!PLANS.includes(body.plan)) return invalid
    account.contents.plan = body.plan
    return describe(account, model)
  },
  resetAccount: reset,
  exportState,
  importState,
  getClock: (account, _, model) => done(clockOf(account, model)),
  updateClock,
  listKeys: (account, _, model) => page({ keys: [...account.keys.values()].map((key) => keyOf(key, account, model)) }),
  createKey,
  updateKey(account, { parameters, body }, model) {
    const key = [...account.keys.values()].find(({ id }) => id === parameters['key'])
    if (key === undefined) return notFound
    key.disabled = body.disabled
    return done({ key: keyOf(key, account, model) })
  },
  deleteKey(account, { parameters }) {
    const [secret] = [...account.keys].find(([, { id }]) => id === parameters['key']) ?? []
    if (secret === undefined) return notFound
    account.keys.delete(secret)
    // What was counted for a key ends with it, also if the same key is there again later.
    const { windows } = account.contents
    for (const name of [...windows.keys()]) if (name.startsWith(`${secret} `)) windows.delete(name)
    return done()
  },
  getQuotas: (account, _, model) => quotasOf(account, model),
  updateQuota,
  addMonitoredDomains: asService('POST', '/domains'),
  removeMonitoredDomains: asService('DELETE', '/domains'),
  listGroups: (account) => page({ groups: account.groups.map((group) => ({ ...group })) }),
  createGroup: asService('POST', '/domaingroups'),
  updateGroup: asService('PATCH', '/domaingroups'),
  deleteGroup: asService('DELETE', '/domaingroups'),
  setFeatures: (account, { parameters, body }) => {
    return changeDomain(account, parameters['domain'], (domain) => ({ ...domain, features: body.features }))
  },
  pinDmarc(account, { parameters, body }, model) {
    if (isContradiction(body)) return invalid
    account.contents.version = nextVersion()
    const { profile, ...pin } = body
    const now = account.clock(model.now)
    return changeDomain(account, parameters['domain'], ({ pin: _, nature, ...domain }) => {
      const isNew = profile !== undefined && profile !== nature?.profile
      const chosen = isNew ? { ...nature, profile, since: beginning(profile, now) } : nature
      return { ...domain, ...(chosen && { nature: chosen }), ...(Object.keys(pin).length > 0 && { pin }) }
    })
  },
  unpinDmarc(account, { parameters }) {
    account.contents.version = nextVersion()
    return changeDomain(account, parameters['domain'], ({ pin: _, nature, ...domain }) => {
      return nature?.policy === undefined ? domain : { ...domain, nature: { policy: nature.policy } }
    })
  },
  listSnapshots: (account) =>
    page({ snapshots: [...account.snapshots.keys()].map((name) => snapshotOf(account, name)) }),
  takeSnapshot,
  restoreSnapshot,
  deleteSnapshot: (account, { parameters }) => {
    return account.snapshots.delete(parameters['snapshot'] ?? '') ? done() : notFound
  },
  listFaults(account, _, model) {
    return page({ faults: account.contents.faults.map((fault) => faultOf(fault, account, model)) })
  },
  addFault,
  clearFaults(account) {
    account.contents.faults = []
    return done()
  },
  deleteFault(account, { parameters }) {
    const { faults } = account.contents
    account.contents.faults = faults.filter(({ id }) => id !== parameters['fault'])
    return account.contents.faults.length < faults.length ? done() : notFound
  },
}

/** "What the service does with the same body, by the same rules, but it costs no quota and meets no fault." */
function asService(method: string, path: string): Perform {
  return (account, { parameters, body }, model) => {
    const operation = { method, path, id: parameters['group'], body: { value: body } }
    const { code, data = {}, created, turn } = operate(account, operation, account.clock(model.now))
    if (code !== undefined) return { ...refused(409, 'refused'), turn }
    const status = method === 'POST' ? 201 : 200
    if (created === undefined) {
      const { message: _, ...answer } = data as { message?: unknown }
      return { status, data: answer, turn }
    }
    return {
      status,
      turn,
      data: { group: { ...created, id: expect.any(String) } },
      learn: ({ group }) => account.nameGroup(created, group.id, model.groupIds),
    }
  }
}

/** The only page of a list, because the model never has more than a few items. */
function page(list: Readonly<Record<string, readonly unknown[]>>): AdminExpected {
  return done({ ...list, count: Object.values(list).flat().length, next: null })
}

const PLANS = ['below-stone', 'stone', 'above-stone']

/** "First `now`, then `advance`, then `frozen`. Never backwards." */
function updateClock(account: Account, { body }: Deed, model: Model): AdminExpected {
  const current = account.clock(model.now)
  const next = (body.now === undefined ? current : Date.parse(body.now)) + (ADVANCES[body.advance] ?? 0)
  if (next < current) return invalid
  account.setClock(next, body.frozen ?? account.frozen, model.now)
  return done(clockOf(account, model))
}

/** Durations in milliseconds. */
export const ADVANCES: Readonly<Record<string, number>> = {
  PT0S: 0,
  PT1M: 60_000,
  PT59M59S: 3_599_000,
  PT1H: 3_600_000,
  P1D: 86_400_000,
  P1W: 604_800_000,
  P1DT2H: 93_600_000,
}

function keyOf(key: Key, account: Account, model: Model): object {
  const { id, label, createdAt, disabled } = key
  const in_grace = isInGrace(key, account.clock(model.now))
  return { id, label, created_at: instant(createdAt), disabled, in_grace }
}

/** "A new key has a week of grace, unless `created_at` says that it is older." */
function createKey(account: Account, { body = {} }: Deed, model: Model): AdminExpected {
  const { contents } = account
  const now = account.clock(model.now)
  const createdAt = body.created_at === undefined ? now : Date.parse(body.created_at)
  if (createdAt > now) return invalid
  if (body.key !== undefined && model.accountOf(`Bearer ${body.key}`) !== undefined) return taken
  contents.keysCreated += 1
  const key = { id: '', label: body.label ?? null, createdAt, disabled: false }
  return {
    status: 201,
    data: { key: { ...keyOf(key, account, model), id: expect.any(String) }, api_key: body.key ?? expect.any(String) },
    learn({ api_key: secret, key: { id } }) {
      expect(id).toBe(idOf(secret))
      contents.keys.set(`Bearer ${secret}`, { ...key, id })
      if (body.key !== undefined) return
      // The same at every run of the same seed.
      const place = `${account.id} ${contents.seed} ${contents.keysCreated}`
      expect(model.secrets.get(place) ?? secret).toBe(secret)
      model.secrets.set(place, secret)
      model.laterKeys.push(`Bearer ${secret}`)
    },
  }
}

function quotasOf(account: Account, model: Model): AdminExpected {
  const now = account.clock(model.now)
  const quotas = [...account.keys].flatMap(([secret, { id }]) =>
    Object.keys(PATHS).map((path) => {
      const { limit, remaining, reset: resetAt } = quotaOf(account, secret, path, now)
      return { key: id, bucket: path.slice(1), limit, remaining, resets_at: instant(resetAt * 1000) }
    }),
  )
  return done({ enforced: true, quotas })
}

/** "Of one key, or of all. `remaining` may not be more than the limit." */
function updateQuota(account: Account, { body }: Deed, model: Model): AdminExpected {
  const now = account.clock(model.now)
  const path = `/${body.bucket}`
  const meant = [...account.keys].filter(([, { id }]) => (body.key ?? id) === id)
  if (meant.length === 0 && body.key !== undefined) return notFound
  if (meant.some(([, key]) => body.remaining > limitOf(key, path, now))) return invalid
  for (const [secret, key] of meant) {
    const { hour } = windowOf(account, secret, path, now)
    account.contents.windows.set(`${secret} ${path}`, { hour, used: limitOf(key, path, now) - body.remaining })
  }
  return quotasOf(account, model)
}

function changeDomain(account: Account, text: string | undefined, change: (domain: Domain) => Domain): AdminExpected {
  const name = keptForm(text ?? '') ?? ''
  const domain = account.domains.get(name)
  if (domain === undefined) return notFound
  const changed = change(domain)
  account.domains.set(name, changed)
  return done({ domain: name, features: changed.features, record: expect.any(Object) })
}

function isContradiction({ dmarc, dkim = 0, spf = 0, count }: Pin): boolean {
  const shares = [dmarc ?? 0, dkim, spf].map(Number)
  if (count === 0 && Math.max(...shares) > 0) return true
  return dmarc !== undefined && Number(dmarc) < Math.max(Number(dkim), Number(spf))
}

function faultOf(fault: Fault, account: Account, model: Model): object {
  const { id, createdAt, rule, matched, hits } = fault
  const state = stateOf(fault, account.clock(model.now))
  return { id, created_at: instant(createdAt), phase: rule.phase ?? 'before', matched, hits, state, rule }
}

function addFault(account: Account, { body: rule }: Deed, model: Model): AdminExpected {
  if (!canStrike(rule)) return invalid
  const fault: Fault = { id: '', createdAt: account.clock(model.now), rule, matched: 0, hits: 0 }
  const { faults } = account.contents
  return {
    status: 201,
    data: { fault: { ...faultOf(fault, account, model), id: expect.any(String) } },
    learn({ fault: { id } }) {
      expect(faults.map((other) => other.id)).not.toContain(id)
      faults.push({ ...fault, id })
    },
  }
}
