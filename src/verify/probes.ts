import { DOMAIN_PROBES } from './domain-probes.ts'
import { GROUP_PROBES } from './group-probes.ts'
import { isRead, KEYLESS, type Probe, type ProbeRequest, type RuleSide } from './probe.ts'

const get = (path: string, more: Partial<ProbeRequest> = {}): ProbeRequest => ({ method: 'GET', path, ...more })
const GROUPS = '/domaingroups'
const JSON_BODY = { 'Content-Type': 'application/json' }
/** The schemes that other services use before a key. */
const OTHER_SCHEMES = ['Basic', 'Token', 'ApiKey']

/**
 * Requests that only read and need nothing that the run has created. If the path does not matter, they use the one with
 * the largest quota.
 */
const READS: readonly Probe[] = [
  { id: 'read-groups', requests: () => [get(GROUPS)] },
  { id: 'read-domains', requests: () => [get('/domains')] },
  // The run begins with a list. If the list after the records is the same, each domain must have a record.
  { id: 'read-records', requests: () => [get('/dmarc'), get('/domains')] },
  // Figures that change with each of four reads are not refreshed once a day.
  { id: 'read-records-again', requests: () => [get('/dmarc'), get('/dmarc'), get('/dmarc')] },
  { id: 'head', requests: () => [{ method: 'HEAD', path: GROUPS }] },
  ...KEYLESS.flatMap(({ key, how }): Probe[] => [
    { id: `read-groups-${how}`, requests: () => [get(GROUPS, { key })] },
    { id: `read-domains-${how}`, requests: () => [get('/domains', { key })] },
    { id: `read-records-${how}`, requests: () => [get('/dmarc', { key })] },
    { id: `read-any-${how}`, requests: ({ readableId }) => [get(`${GROUPS}?id=${readableId}`, { key })] },
  ]),
  { id: 'read-groups-with-longer-key', requests: () => [get(GROUPS, { key: 'longer' })] },
  { id: 'scheme-in-lower-case', requests: () => [get(GROUPS, { scheme: 'bearer' })] },
  { id: 'other-scheme', requests: () => OTHER_SCHEMES.map((scheme) => get(GROUPS, { scheme })) },
  { id: 'key-without-scheme', requests: () => [get(GROUPS, { key: 'bare' })] },
  { id: 'unknown-path', requests: ({ mark }) => [get(`/${mark}`)] },
  { id: 'unknown-path-without-key', requests: ({ mark }) => [get(`/${mark}`, { key: 'none' })] },
  { id: 'path-in-upper-case', requests: () => [get('/DomainGroups')] },
  { id: 'path-with-slash', requests: () => [get(`${GROUPS}/`)] },
  { id: 'unknown-parameter', requests: () => [get(`${GROUPS}?page=1`)] },
  { id: 'empty-id', requests: () => [get(`${GROUPS}?id=`)] },
  { id: 'unknown-id', requests: ({ unknownId }) => [get(GROUPS), get(`${GROUPS}?id=${unknownId}`)] },
  { id: 'client-request-id', requests: ({ mark }) => [get(GROUPS, { headers: { 'X-Request-Id': mark } })] },
  { id: 'body-on-get', requests: () => [get(GROUPS, { body: {}, headers: JSON_BODY })] },
  { id: 'origin', requests: () => [get(GROUPS, { headers: { Origin: 'http://localhost:5173' } })] },
]

/** Uses up a quota and then sends one more request. They come last, after all other requests to the path. */
const EXHAUSTIONS: readonly Probe[] = ['/dmarc', '/domains', GROUPS].map((path) => ({
  id: `exhaust-${path.slice(1)}`,
  exhausts: true,
  requests: () => [get(path)],
}))

/** All probes. */
export const PROBES: readonly Probe[] = [...READS, ...GROUP_PROBES, ...DOMAIN_PROBES, ...EXHAUSTIONS]

/** Whether a run may ask it that must not write: it only reads, and needs no created items. */
export function isReadOnly(probe: Probe, requests: readonly ProbeRequest[]): boolean {
  return probe.domains === undefined && probe.groups === undefined && requests.every(isRead)
}

/** Each operation in each of its forms, without a valid key. */
const WITHOUT_KEY = [
  'read-groups',
  'read-domains',
  'read-records',
  'read-one',
  'add',
  'remove',
  'create',
  'change',
  'delete',
].flatMap((what) => KEYLESS.map(({ how }): readonly [string, RuleSide] => [`${what}-${how}`, 'refused']))

/**
 * By the id of a rule: the probes that must have been asked before the rule counts as kept, and what must have come of
 * their requests. A limit has two sides, and a service may check one spelling or one method only. A service that
 * accepts what is to be refused does not keep the rule. A rule that is not here has one side, which any probe about it
 * shows.
 */
export const SIDES: Readonly<Record<string, readonly (readonly [probe: string, RuleSide])[]>> = {
  'key-required': WITHOUT_KEY,
  'one-record-per-domain': [['read-records', 'accepted']],
  'daily-refresh': [
    ['read-records', 'accepted'],
    ['read-records-again', 'accepted'],
  ],
  'valid-hostnames': [
    ['add-three', 'accepted'],
    ['hostname-forms', 'accepted'],
    ['hostname-international', 'answered'],
    ['hostname-none', 'refused'],
  ],
  'no-duplicates': [
    ['add-twice', 'refused'],
    ['add-twice-in-other-case', 'answered'],
    ['add-monitored', 'answered'],
  ],
  'at-most-50-domains': [
    ['add-50', 'accepted'],
    ['add-51', 'refused'],
  ],
  'name-length': [
    ['create-with-name-of-100', 'accepted'],
    ['create-with-name-of-101', 'refused'],
    ['create-with-empty-name', 'refused'],
    ['create-with-emoji', 'answered'],
  ],
  'name-unique': [
    ['create-with-taken-name', 'refused'],
    ['create-with-taken-name-in-other-case', 'refused'],
  ],
  'members-monitored': [
    ['create-with-members', 'accepted'],
    ['create-with-unmonitored', 'refused'],
  ],
  'new-name-unique': [
    ['name-of-100', 'accepted'],
    ['name-of-101', 'refused'],
    ['name-taken', 'refused'],
  ],
  'unknown-removals-ignored': [['removals-unrecognised', 'accepted']],
  'unknown-id-read': [['unknown-id', 'refused']],
  'unknown-id-update': [['change-unknown-id', 'refused']],
  'unknown-id-delete': [['delete-unknown-id', 'refused']],
  'update-needs-id': [['change-without-id', 'refused']],
  'update-needs-a-field': [['body-without-fields', 'refused']],
  'no-mixed-changes': [['members-in-conflict', 'refused']],
  'delete-needs-id': [['delete-without-id', 'refused']],
  'dmarc-limit': [['exhaust-dmarc', 'refused']],
  'domains-limit': [['exhaust-domains', 'refused']],
  'domaingroups-limit': [['exhaust-domaingroups', 'refused']],
}
