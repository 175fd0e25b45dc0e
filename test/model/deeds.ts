import fc, { type Arbitrary } from 'fast-check'
import { weighted } from '../support/weighted.ts'
import { type Account, idOf, instant } from './account.ts'
import type { Deed } from './admin-expected.ts'
import { bodyOfAddition, bodyOfChanges, bodyOfDeletion, bodyOfGroup, type SentBody } from './bodies.ts'
import { ADVANCES } from './control.ts'
import { BAD_FIXTURES, FIXTURES } from './fixtures.ts'
import type { Model } from './model.ts'
import { BAD_DOMAINS, secretOf, USUAL_DOMAINS } from './pool.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND
const DAY = 24 * HOUR
const WEEK = 7 * DAY

/** What to ask of the control plane; what depends on the moment is found when it is asked. */
export interface PlannedDeed {
  operation: string
  parameters?: Readonly<Record<string, string>>
  /** Which key, rule, snapshot, group or domain with fixed fields is meant; none that there is by default. */
  index?: number
  body?: unknown
  /** In place of a body: the state that was exported last. */
  takesExport?: boolean
}

/** A moment in a planned body: so many milliseconds after what the account's clock shows. */
interface Moment {
  after: number
}

const after = (milliseconds: number): Moment => ({ after: milliseconds })
function plan(operation: string, body?: unknown, index?: number): PlannedDeed {
  return { operation, body, ...(index !== undefined && { index }) }
}

const clockChange: Arbitrary<PlannedDeed> = fc
  .oneof(
    { arbitrary: fc.record({ advance: fc.constantFrom(...Object.keys(ADVANCES)) }), weight: 6 },
    fc.record({ now: fc.constantFrom(0, 1, HOUR, DAY).map(after) }),
    fc.record({ now: fc.constantFrom(-1, -HOUR, -DAY).map(after) }),
    { arbitrary: fc.record({ frozen: fc.boolean() }), weight: 3 },
    fc.record({ now: fc.constant(after(SECOND)), advance: fc.constant('PT1H'), frozen: fc.boolean() }),
  )
  .map((body) => plan('updateClock', body))

const createdAt = fc.constantFrom(0, 0, -WEEK, -WEEK + 1, -WEEK + HOUR, -30 * DAY, 1).map(after)
const newKey: Arbitrary<PlannedDeed> = weighted(
  [1, fc.constant(plan('createKey'))],
  [
    3,
    fc
      .record(
        {
          key: fc.constantFrom('late', 'late', 'spare', 'fixed', 'young').map(secretOf),
          created_at: createdAt,
          label: fc.constant('Later'),
        },
        { requiredKeys: [] },
      )
      .map((body) => plan('createKey', body)),
  ],
)
/** Often the last key, and seldom the first, which most requests are made with. */
const keyIndex = fc.constantFrom(0, 1, 2, 2, 3, -1, -1, -1, undefined)
const keyChange: Arbitrary<PlannedDeed> = weighted(
  [3, fc.tuple(fc.boolean(), keyIndex).map(([disabled, index]) => plan('updateKey', { disabled }, index))],
  [1, keyIndex.map((index) => plan('deleteKey', undefined, index))],
)

const bucket = fc.constantFrom('dmarc', 'domains', 'domaingroups')
const quotaChange: Arbitrary<PlannedDeed> = fc
  .record({ bucket, remaining: fc.oneof(fc.nat(3), fc.constantFrom(10, 11, 30, 100, 1000)) })
  .chain((body) =>
    fc.oneof(
      fc.constant(plan('updateQuota', body)),
      keyIndex.map((index) => plan('updateQuota', { ...body, key: '' }, index)),
    ),
  )

const domainName = fc.oneof(
  { arbitrary: fc.constantFrom(...USUAL_DOMAINS, 'locked.example', 'just.example'), weight: 8 },
  // A path with one of the first two would be another path.
  fc.constantFrom(...BAD_DOMAINS.slice(2)),
)
const pin = fc.constantFrom<object>(
  ...[{ p: 'reject' }, { p: 'quarantine', np: 'none', pct: 50 }, { sp: 'reject', testing: 'y' }],
  ...[{ dmarc: 99.9, dkim: 99.9, spf: 0 }, { dkim: 12.5 }, { dmarc: 0 }, { count: 0 }, { count: 7, spf: 100 }],
  ...[{ profile: 'enforced' }, { profile: 'spoofed' }, { profile: 'parked', p: 'none' }],
)
const contradiction = fc.constantFrom<object>({ dmarc: 10, dkim: 20 }, { count: 0, spf: 5 })
const domainChange: Arbitrary<PlannedDeed> = fc
  .oneof(
    {
      arbitrary: fc
        .constantFrom([], ['mta-sts'], ['bimi', 'tls-rpt'])
        .map((features) => plan('setFeatures', { features })),
      weight: 3,
    },
    { arbitrary: pin.map((body) => plan('pinDmarc', body)), weight: 3 },
    contradiction.map((body) => plan('pinDmarc', body)),
    { arbitrary: fc.constantFrom(0, 1, undefined).map((index) => plan('unpinDmarc', undefined, index)), weight: 2 },
  )
  .chain((deed) => domainName.map((domain) => ({ ...deed, parameters: { domain } })))

/** A body of the service that is a JSON object; the control plane refuses any other before the service could. */
function objectOf(body: Arbitrary<SentBody>): Arbitrary<unknown> {
  return body
    .map(({ arrives }) => ('value' in arrives ? arrives.value : undefined))
    .filter((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
}
const groupIndex = fc.constantFrom(0, 0, 1, 2, undefined)
const setUp: Arbitrary<PlannedDeed> = weighted(
  [3, objectOf(bodyOfAddition).map((body) => plan('addMonitoredDomains', body))],
  [1, objectOf(bodyOfDeletion).map((body) => plan('removeMonitoredDomains', body))],
  [2, objectOf(bodyOfGroup).map((body) => plan('createGroup', body))],
  [1, fc.tuple(objectOf(bodyOfChanges), groupIndex).map(([body, index]) => plan('updateGroup', body, index))],
  [1, groupIndex.map((index) => plan('deleteGroup', undefined, index))],
)

const snapshotName = fc.constantFrom('one', 'two')
const snapshotIndex = fc.constantFrom(0, 0, 0, 0, 0, 1, 1, 1, 1, undefined)
const snapshotDeed: Arbitrary<PlannedDeed> = weighted(
  [
    4,
    fc
      .record({ name: snapshotName, replace: fc.constantFrom(true, true, false) }, { requiredKeys: ['name'] })
      .map((body) => plan('takeSnapshot', body)),
  ],
  [5, snapshotIndex.map((index) => plan('restoreSnapshot', undefined, index))],
  [1, snapshotIndex.map((index) => plan('deleteSnapshot', undefined, index))],
)

const beginning: Arbitrary<PlannedDeed> = weighted(
  [2, fc.constant(plan('resetAccount'))],
  [
    1,
    fc
      .record(
        {
          fixture: fc.constantFrom<unknown>('empty', ...FIXTURES),
          seed: fc.constantFrom(42, 7, 1),
          now: fc.constantFrom(-DAY, 0, DAY).map(after),
          frozen: fc.boolean(),
        },
        { requiredKeys: [] },
      )
      .map((body) => plan('resetAccount', body)),
  ],
)
const stateTransfer: Arbitrary<PlannedDeed> = weighted(
  [3, fc.constant(plan('exportState'))],
  [3, fc.constant({ operation: 'importState', takesExport: true })],
  [1, fc.constantFrom(...FIXTURES).map((body) => plan('importState', body))],
)
const badFixture: Arbitrary<PlannedDeed> = fc
  .tuple(fc.constantFrom(...BAD_FIXTURES), fc.boolean())
  .map(([fixture, resets]) => (resets ? plan('resetAccount', { fixture }) : plan('importState', fixture)))

const match = fc.constantFrom<object>(
  ...[{}, {}, {}, { path: '/domaingroups' }, { path: '/domains' }, { path: '/dmarc' }],
  ...[{ method: 'POST' }, { method: 'GET' }, { method: 'HEAD' }, { key: idOf(secretOf('main')) }],
  ...['createDomainGroup', 'addDomains', 'deleteDomains'].map((operation) => ({ operation })),
  { operation: 'updateDomainGroup', method: 'PATCH' },
)
const respond = fc.constantFrom<object>(
  ...['internal_error', 'internal_error', 'rate_limited', 'unauthorized'].map((error) => ({ error })),
  { error: 'unauthorized', status: 403 },
  ...['not_found', 'duplicate_name', 'domain_delete_failed'].map((error) => ({ error })),
)
const newFault: Arbitrary<PlannedDeed> = fc
  .record(
    {
      match,
      respond,
      times: fc.constantFrom(1, 1, 1, 2),
      skip: fc.nat(2),
      phase: fc.constantFrom('before', 'after', 'after'),
      expires_after: fc.constantFrom('PT1H', 'P1D'),
    },
    { requiredKeys: ['match', 'respond', 'times'] },
  )
  .map((body) => plan('addFault', body))
const faultRemoval: Arbitrary<PlannedDeed> = fc.oneof(
  fc.constant(plan('clearFaults')),
  fc.constantFrom(0, 0, 1, undefined).map((index) => plan('deleteFault', undefined, index)),
)

const planChange = fc
  .constantFrom('stone', 'stone', 'above-stone', 'above-stone', 'below-stone', 'gold')
  .map((name) => plan('updateAccount', { plan: name }))
const look = fc
  .constantFrom(
    ...['getAccount', 'getClock', 'getQuotas', 'listKeys', 'listFaults', 'listSnapshots', 'listGroups', 'exportState'],
  )
  .map((operation) => plan(operation))

/** Deeds of every kind. */
export const plannedDeed: Arbitrary<PlannedDeed> = weighted(
  [4, clockChange],
  [3, newKey],
  [3, keyChange],
  [3, quotaChange],
  [6, domainChange],
  [3, setUp],
  [7, snapshotDeed],
  [2, beginning],
  [3, stateTransfer],
  [1, badFixture],
  [5, newFault],
  [1, faultRemoval],
  [1, planChange],
  [6, look],
)
/** What is asked, with what is open in the plan as it is now. */
export function settleDeed(
  { operation, parameters, index, body, takesExport }: PlannedDeed,
  account: Account,
  model: Model,
): Deed {
  const pick = (ids: readonly string[]) => (index === undefined ? undefined : ids.at(index % ids.length)) ?? 'none'
  const key = pick([...account.keys.values()].map(({ id }) => id))
  const fault = pick(account.contents.faults.map(({ id }) => id))
  const snapshot = pick([...account.snapshots.keys()])
  const pinned = [...account.domains].filter(([, domain]) => domain.pin !== undefined).map(([name]) => name)
  const group = pick(account.groups.map(({ id }) => id))
  const domain = index !== undefined && pinned.length > 0 ? pick(pinned) : (parameters?.['domain'] ?? 'none')
  const settled = takesExport === true ? account.exported : settleBody(body, account.clock(model.now), key)
  return { operation, parameters: { key, fault, snapshot, group, domain }, body: settled }
}

function settleBody(body: unknown, now: number, key: string): unknown {
  if (typeof body !== 'object' || body === null) return body
  const isOpen = Object.entries(body).some(([name, value]) => name === 'key' || isMoment(value))
  if (!isOpen) return body
  const fields = Object.entries(body).map(([name, value]) => {
    if (isMoment(value)) return [name, instant(now + value.after)]
    return [name, name === 'key' && value === '' ? key : value]
  })
  return Object.fromEntries(fields)
}

function isMoment(value: unknown): value is Moment {
  return typeof value === 'object' && value !== null && 'after' in value
}
