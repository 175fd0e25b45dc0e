import type { FaultRule } from '../../src/domain/faults.ts'

/** The options with which every door tells the story. The keys are given, so that no address makes them random. */
export const STORY_OPTIONS = {
  seed: 42,
  now: '2026-01-15T09:00:00Z',
  frozen: true,
  fixture: 'demo',
  apiKey: 'key_story001.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
} as const

/** The same as arguments of the command `serve`. */
export const STORY_ARGUMENTS = [
  ...['--seed', `${STORY_OPTIONS.seed}`, '--now', STORY_OPTIONS.now, '--frozen'],
  ...['--fixture', STORY_OPTIONS.fixture, '--api-key', STORY_OPTIONS.apiKey],
]

/** A request of the story. `path` comes after the base URL of the service, or after that of the control plane. */
export interface Sent {
  method: string
  path: string
  headers: Readonly<Record<string, string>>
  body: Buffer | undefined
  /** Whether no account answers it, so that its id counts such requests of one server. */
  isAnonymous: boolean
}

/** What came back. `bytes` are those that arrived, even if the rest was `lost`. */
export interface Told {
  status: number
  /** By lower-case name. */
  fields: ReadonlyMap<string, string>
  bytes: Buffer
  /** The code of the error that ended the response. */
  lost: string | undefined
}

/** A way to the service and to its control plane. It never rejects. */
export interface Door {
  /** Addresses that the control plane gives in its answers, which differ between doors. */
  origins: readonly string[]
  call(request: Sent): Promise<Told>
  control(request: Sent): Promise<Told>
}

/** Fields of the connection, which belong to a hop and not to the answer (RFC 9110 §7.6.1). */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding'])

type Step =
  | { call: string; body?: unknown; headers?: Record<string, string>; isAnonymous?: true }
  | { control: string; body?: unknown }
  | { fault: FaultRule }

/** In which a name in braces is the id that an earlier answer gave. */
const STEPS: readonly Step[] = [
  { call: 'GET /domains' },
  { call: 'GET /domaingroups' },
  { call: 'GET /dmarc' },
  { call: 'HEAD /domains' },
  { call: 'OPTIONS /domains', isAnonymous: true },
  { call: 'PUT /domains', body: { domains: [] }, isAnonymous: true },
  { call: 'GET /Domains', isAnonymous: true },
  { call: 'GET /domains/', isAnonymous: true },
  { call: 'GET /domains?unknown=1&x=%zz' },
  { call: 'GET /domains', headers: { authorization: 'Bearer nobody' }, isAnonymous: true },
  { call: 'GET /domains', headers: { authorization: '' }, isAnonymous: true },
  { call: 'POST /domains', body: { domains: ['Story-One.example', 'story-two.example.', 'bücher.example'] } },
  { call: 'POST /domains', body: { domains: ['story-one.example'] } },
  { call: 'POST /domains', body: { domains: ['not a name'] } },
  { call: 'POST /domains', body: { domains: [] } },
  { call: 'POST /domains', body: { domain: 'x.example' } },
  { call: 'POST /domains', body: { domains: 'x.example' } },
  { call: 'POST /domains', body: { domains: Array.from({ length: 51 }, (_, index) => `n${index}.example`) } },
  { call: 'POST /domains', body: '{"domains": [' },
  { call: 'POST /domains', body: '[]' },
  { call: 'POST /domains', body: '' },
  { call: 'POST /domains', body: '{}', headers: { 'content-type': 'text/plain' } },
  { call: 'POST /domains', body: Buffer.from([0x7b, 0xff, 0x7d]) },
  { call: 'POST /domains', body: ' '.repeat((1 << 20) + 1) },
  { call: 'POST /domaingroups', body: { name: 'Lamps 💡', domains: ['story-one.example', 'story-two.example'] } },
  { call: 'POST /domaingroups', body: { name: 'LAMPS 💡', domains: [] } },
  { call: 'POST /domaingroups', body: { name: ' ', domains: [] } },
  { call: 'GET /domaingroups?id={group}' },
  { call: 'GET /domaingroups?id=aaaaaaaa' },
  { call: 'PATCH /domaingroups?id={group}', body: { name: 'Lights', remove_domains: ['story-two.example'] } },
  { call: 'PATCH /domaingroups?id={group}', body: {} },
  { call: 'PATCH /domaingroups', body: { name: 'x' } },
  { call: 'DELETE /domains', body: { domains: ['story-one.example', 'bücher.example'] } },
  { call: 'DELETE /domains', body: { domains: ['never-added.example'] } },
  { control: 'PATCH /accounts/default/clock', body: { advance: 'P1D' } },
  { call: 'GET /dmarc' },
  { fault: { match: { operation: 'addDomains' }, respond: { error: 'rate_limited' }, times: 1 } },
  { call: 'POST /domains', body: { domains: ['limited.example'] } },
  { fault: { match: { operation: 'addDomains' }, connection: 'reset', phase: 'after', times: 1 } },
  { call: 'POST /domains', body: { domains: ['lost.example'] } },
  { call: 'POST /domains', body: { domains: ['lost.example'] } },
  { fault: { match: { operation: 'listDomains' }, connection: 'empty', times: 1 } },
  { call: 'GET /domains' },
  { fault: { match: { operation: 'listDomains' }, connection: 'truncate', times: 1 } },
  { call: 'GET /domains' },
  { fault: { match: { operation: 'listDomains' }, connection: 'drip', delay_ms: 40, times: 1 } },
  { call: 'GET /domains' },
  { fault: { match: { operation: 'listDomains' }, delay_ms: 20, corrupt: 'wrong-type', times: 1 } },
  { call: 'GET /domains' },
  { fault: { match: { operation: 'listDmarc' }, respond: { status: 503, headers: { 'retry-after': '7' } }, times: 1 } },
  { call: 'GET /dmarc' },
  { fault: { match: { operation: 'listDomainGroups' }, corrupt: 'malformed-json', times: 1 } },
  { call: 'GET /domaingroups' },
  { fault: { match: { operation: 'listDomainGroups' }, event: 'window-end', times: 1 } },
  { call: 'GET /domaingroups' },
  { fault: { match: { operation: 'listDmarc' }, event: 'quota-used-up', times: 1 } },
  ...Array.from({ length: 3 }, () => ({ call: 'GET /dmarc' })),
  { call: 'DELETE /domaingroups?id={group}' },
  { call: 'DELETE /domaingroups?id={group}' },
  ...Array.from({ length: 4 }, () => ({ call: 'GET /domains' })),
  ...Array.from({ length: 4 }, (_, index) => ({ call: 'POST /domaingroups', body: { name: `Group ${index}` } })),
  { call: 'GET /domaingroups' },
  { call: 'GET /dmarc' },
  { control: 'GET /accounts/default/verdict' },
  { control: 'GET /accounts/default/quotas' },
  { control: 'GET /accounts/default/coverage' },
  { control: 'GET /accounts/default/state' },
]

/** How many requests the story sends to the service. */
export const REQUESTS = STEPS.filter((step) => 'call' in step).length

/** Tells the story through a door, and writes each request and its answer as text, one paragraph each. */
export async function tellStory(door: Door): Promise<string[]> {
  const paragraphs: string[] = []
  let group = 'unknown'
  for (const [index, step] of STEPS.entries()) {
    const line = 'fault' in step ? 'POST /accounts/default/faults' : 'call' in step ? step.call : step.control
    const [method = '', path = ''] = line.replace('{group}', group).split(' ')
    const body = encode('fault' in step ? step.fault : step.body)
    const headers = {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...('call' in step && { authorization: `Bearer ${STORY_OPTIONS.apiKey}`, ...step.headers }),
    }
    const told = await ('call' in step ? door.call : door.control)({
      method,
      path,
      headers,
      body,
      isAnonymous: 'isAnonymous' in step,
    })
    if (line === 'POST /domaingroups' && group === 'unknown' && told.status === 200) {
      group = JSON.parse(told.bytes.toString()).data.group.id
    }
    paragraphs.push(`${index}: ${method} ${path}\n${writeTold(withoutPlace(told, door))}`)
  }
  return paragraphs
}

function encode(body: unknown): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

/** The same answer at any address and at any time of this machine. Accounts have a clock of their own. */
function withoutPlace(told: Told, { origins }: Door): Told {
  const fields = new Map(told.fields)
  if (fields.get('date')?.includes(' Jan 2026 ') === false) fields.set('date', 'the time of this machine')
  const text = told.bytes.toString()
  const anywhere = origins.reduce((current, origin) => current.replaceAll(origin, '{origin}'), text)
  if (anywhere === text) return { ...told, fields }
  const bytes = Buffer.from(anywhere)
  if (fields.get('content-length') === `${told.bytes.length}`) fields.set('content-length', `${bytes.length}`)
  return { ...told, fields, bytes }
}

function writeTold({ status, fields, bytes, lost }: Told): string {
  const head = [...fields]
    .filter(([name]) => !OF_CONNECTION.has(name))
    .map(([name, value]) => `${name}: ${value}\n`)
    .toSorted()
  // A text with another character for a bad byte would hide a difference.
  const body = bytes.equals(Buffer.from(bytes.toString())) ? bytes.toString() : bytes.toString('base64')
  return `${status}\n${head.join('')}\n${body}${lost === undefined ? '' : `\nlost: ${lost}`}`
}
