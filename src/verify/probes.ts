import { DOMAIN_PROBES } from './domain-probes.ts'
import { GROUP_PROBES } from './group-probes.ts'
import type { Probe, ProbeRequest } from './probe.ts'

const get = (path: string, more: Partial<ProbeRequest> = {}): ProbeRequest => ({ method: 'GET', path, ...more })
const GROUPS = '/domaingroups'
const JSON_BODY = { 'Content-Type': 'application/json' }
/** The schemes that other services use before a key. */
const OTHER_SCHEMES = ['Basic', 'Token', 'ApiKey']

/**
 * Read-only requests. If the path does not matter, they use the one with the largest quota. They need nothing that the
 * run has created.
 */
const READS: readonly Probe[] = [
  { id: 'read-groups', requests: () => [get(GROUPS)] },
  { id: 'read-domains', requests: () => [get('/domains')] },
  { id: 'read-records-twice', requests: () => [get('/dmarc'), get('/dmarc')] },
  { id: 'head', requests: () => [{ method: 'HEAD', path: GROUPS }] },
  { id: 'no-key', requests: () => [get(GROUPS, { key: 'none' })] },
  { id: 'no-key-domains', requests: () => [get('/domains', { key: 'none' })] },
  { id: 'no-key-records', requests: () => [get('/dmarc', { key: 'none' })] },
  { id: 'wrong-key', requests: () => [get(GROUPS, { key: 'wrong' })] },
  { id: 'scheme-in-lower-case', requests: () => [get(GROUPS, { scheme: 'bearer' })] },
  { id: 'other-scheme', requests: () => OTHER_SCHEMES.map((scheme) => get(GROUPS, { scheme })) },
  { id: 'key-without-scheme', requests: () => [get(GROUPS, { key: 'bare' })] },
  { id: 'unknown-path', requests: ({ mark }) => [get(`/${mark}`)] },
  { id: 'unknown-path-without-key', requests: ({ mark }) => [get(`/${mark}`, { key: 'none' })] },
  { id: 'path-in-upper-case', requests: () => [get('/DomainGroups')] },
  { id: 'path-with-slash', requests: () => [get(`${GROUPS}/`)] },
  { id: 'unknown-parameter', requests: () => [get(`${GROUPS}?page=1`)] },
  { id: 'empty-id', requests: () => [get(`${GROUPS}?id=`)] },
  { id: 'unknown-id', requests: ({ unknownId }) => [get(`${GROUPS}?id=${unknownId}`), get(GROUPS)] },
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

const READ_IDS = new Set(READS.map(({ id }) => id))

/** Whether a probe only reads and needs no created items. */
export function isHarmless({ id, domains, groups }: Probe): boolean {
  return (READ_IDS.has(id) || id.startsWith('exhaust-')) && domains === undefined && groups === undefined
}
