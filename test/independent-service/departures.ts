import type { Call, Check, Code } from './profile.ts'
import type { Account, Asked, Envelope, Group, Path, QuotaShown, ServiceResponse, Strike } from './service.ts'

type Row = Record<string, unknown>

/** One thing that a service does wrong, whatever its profile. */
export interface Departure {
  id: string
  does: string
  /** A pattern in the id of a finding that calls it by its name; absent if nothing has to find it, see `OPEN`. */
  found: RegExp | undefined
  skips?(check: Check, asked: Asked): boolean
  /** A refusal that the specification does not have, after all that it has. */
  refuses?(asked: Asked): Code | undefined
  crashes?(asked: Asked): boolean
  /** What answers in the place of the service, which is no fault of its own. */
  strikes?(asked: Asked): Strike | undefined
  goodKey?(header: string, keys: readonly string[]): boolean
  limits?: Partial<Record<Path, number>>
  /** Whose requests are counted together, in place of those of one path. */
  counts?(asked: Asked): string
  /** The length of a quota's window. */
  hours?: number
  shows?(quota: QuotaShown, path: Path): QuotaShown | { [name in keyof QuotaShown]: string | number }
  mostDomains?: number
  longestName?: number
  hostname?(name: string): boolean | undefined
  sameName?(one: string, other: string): boolean
  members?(before: readonly string[], fields: Record<string, unknown>): string[]
  code?(code: Code, asked: Asked): string
  /** What a refused request changes all the same. */
  afterRefusal?(asked: Asked, code: Code, makeGroup: (name: string, domains: string[]) => Group): void
  /** What an accepted request changes besides. */
  afterwards?(asked: Asked, before: Account): void
  /** What an accepted request answers in place of the right data. */
  data?: Partial<Record<Exclude<Call, 'GET /dmarc'>, (data: Row, asked: Asked) => unknown>> & {
    'GET /dmarc'?: (rows: Row[], asked: Asked) => unknown
  }
  envelope?(envelope: Envelope, asked: Asked): unknown
  sends?(response: ServiceResponse, asked: Asked): ServiceResponse
}

type Wrong = Omit<Departure, 'id' | 'does' | 'found'>

function departure(id: string, does: string, found: string | undefined, wrong: Wrong): Departure {
  return { id, does, found: found === undefined ? undefined : new RegExp(found), ...wrong }
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

function without(response: ServiceResponse, ...names: string[]): ServiceResponse {
  return { ...response, headers: response.headers.filter(([name]) => !names.includes(name.toLowerCase())) }
}

function replaced(response: ServiceResponse, name: string, value: string): ServiceResponse {
  const kept = without(response, name.toLowerCase())
  return { ...kept, headers: [...kept.headers, [name, value]] }
}

/** Another body in the same wrapping would have to be compressed again; a departure sends it plain. */
function otherBody(response: ServiceResponse, body: string): ServiceResponse {
  return { ...without(response, 'content-encoding', 'content-length'), body: Buffer.from(body) }
}

/** What changes the groups that a read shows, in a list and alone. */
function eachGroup(change: (group: Row) => Row) {
  return (data: Row) => {
    if (Array.isArray(data.groups)) return { ...data, groups: data.groups.map(change) }
    return { ...data, group: change(data.group as Row) }
  }
}

const KEYS: Departure[] = [
  departure('no-key-for-list', 'GET /domains needs no key.', 'key-required', {
    skips: (check, { call }) => check === 'key' && call === 'GET /domains',
  }),
  departure('no-key-for-addition', 'POST /domains needs no key.', 'key-required', {
    skips: (check, { call }) => check === 'key' && call === 'POST /domains',
  }),
  departure('any-key', 'Any bearer token is a good key.', 'key-required', {
    goodKey: (header) => /^bearer \S+/i.test(header),
  }),
  departure('any-scheme', 'The key is taken with any scheme.', 'key-required', {
    goodKey: (header, keys) => keys.includes(header.split(' ').at(-1) ?? ''),
  }),
  departure('wrong-key-not-found', 'A missing or wrong key gives `not_found`.', 'key-required', {
    code: (code) => (code === 'unauthorized' ? 'not_found' : code),
  }),
  departure(
    'missing-key-accepted',
    'A request without a key is answered, one with a wrong key is not.',
    'key-required',
    {
      skips: (check, { request }) => check === 'key' && request.headers.authorization === undefined,
    },
  ),
]

const QUOTAS: Departure[] = [
  departure('dmarc-limit-9', 'The tenth GET /dmarc is refused.', 'x-ratelimit-limit/minimum', {
    limits: { '/dmarc': 9 },
  }),
  departure('dmarc-limit-11', 'The eleventh GET /dmarc is answered.', undefined, {
    limits: { '/dmarc': 11 },
  }),
  departure('domains-limit-31', 'The 31st request of /domains is answered.', undefined, {
    limits: { '/domains': 31 },
  }),
  departure('groups-limit-101', 'The 101st request of /domaingroups is answered.', undefined, {
    limits: { '/domaingroups': 101 },
  }),
  departure('no-limit', 'No request is ever refused for its number.', '(dmarc|domains|domaingroups)-limit', {
    skips: (check) => check === 'limit',
  }),
  departure(
    'hidden-limit',
    'The headers say 10, and the sixth GET /dmarc is refused.',
    'x-ratelimit-remaining/limited',
    {
      limits: { '/dmarc': 5 },
      shows: (quota, path) => (path === '/dmarc' ? { ...quota, limit: 10, remaining: quota.remaining + 5 } : quota),
    },
  ),
  departure('shared-quota', 'The three paths share one counter.', 'x-ratelimit-remaining/shared', {
    counts: () => 'all',
  }),
  departure('steady-remaining', '`X-RateLimit-Remaining` never falls.', 'x-ratelimit-remaining/(rise|limited)', {
    shows: (quota) => ({ ...quota, remaining: quota.limit }),
  }),
  departure(
    'double-count',
    'Each request takes two from `X-RateLimit-Remaining`.',
    '(dmarc|domains|domaingroups)-limit',
    {
      shows: (quota) => ({ ...quota, remaining: Math.max(0, quota.limit - 2 * (quota.limit - quota.remaining)) }),
    },
  ),
  departure('wrong-limit-shown', '`X-RateLimit-Limit` says 1000 everywhere.', undefined, {
    shows: (quota) => ({ ...quota, limit: 1000 }),
  }),
  departure('reset-in-words', '`X-RateLimit-Reset` is a word.', 'x-ratelimit-reset/type', {
    shows: (quota) => ({ ...quota, reset: 'soon' }),
  }),
  departure('no-quota-headers', 'No response has rate-limit headers.', 'x-ratelimit-limit/required', {
    sends: (response) => without(response, 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'),
  }),
  departure('long-window', 'A quota opens again after two hours.', 'x-ratelimit-reset$', { hours: 2 }),
  departure('limited-as-unauthorized', 'One request too many gives `unauthorized`.', undefined, {
    code: (code) => (code === 'rate_limited' ? 'unauthorized' : code),
  }),
  departure('quota-per-method', 'Each method has a counter of its own.', 'x-ratelimit-remaining/rise', {
    counts: ({ path, request }) => `${path} ${request.method}`,
  }),
]

const ENVELOPES: Departure[] = [
  departure('no-request-id', 'No response has `X-Request-Id`.', 'x-request-id/required', {
    sends: (response) => without(response, 'x-request-id'),
  }),
  departure('same-request-id', 'Every response has the same `X-Request-Id`.', 'x-request-id/repeated', {
    sends: (response) => replaced(response, 'X-Request-Id', 'one-for-all'),
  }),
  departure('empty-request-id', 'The `X-Request-Id` is empty.', 'x-request-id/format', {
    sends: (response) => replaced(response, 'X-Request-Id', ''),
  }),
  departure('html-type', 'JSON is sent as text/html.', 'content-type', {
    sends: (response) => replaced(response, 'Content-Type', 'text/html; charset=utf-8'),
  }),
  departure('no-success', 'The envelope has no `success`.', 'response/success/required', {
    envelope: ({ success: _, ...rest }) => rest,
  }),
  departure('always-success', 'A refusal says `success: true`.', 'response/success/const', {
    envelope: (envelope) => ({ ...envelope, success: true }),
  }),
  departure('error-in-words', 'The error is a text instead of an object.', 'response/error/type', {
    envelope: (envelope) => (envelope.error ? { ...envelope, error: envelope.error.message } : envelope),
  }),
  departure('no-error-message', 'The error has no message.', 'response/error/message/required', {
    envelope: (envelope) => (envelope.error ? { ...envelope, error: { code: envelope.error.code } } : envelope),
  }),
  departure('shouted-codes', 'Error codes are in upper case.', 'response/error/code/enum', {
    code: (code) => code.toUpperCase(),
  }),
  departure('bare-data', 'Success is sent without the envelope.', 'response/data/required', {
    envelope: (envelope) => (envelope.error ? envelope : envelope.data),
  }),
  departure('empty-deletion', 'DELETE answers 204 without a body.', 'response/body', {
    sends: (response, { call }) =>
      call?.startsWith('DELETE') && response.status < 300 ? { ...otherBody(response, ''), status: 204 } : response,
  }),
  departure('html-refusals', 'A body that is not JSON gets a web page.', 'response/body', {
    sends: (response, { call, fields, request }) =>
      call !== undefined && !call.startsWith('GET') && fields === undefined && request.body.length > 0
        ? replaced(otherBody(response, '<html><body>Bad Request</body></html>'), 'Content-Type', 'text/html')
        : response,
  }),
]

const CRASHES: Departure[] = [
  departure('500-to-emoji-name', 'A name with an emoji gets 500.', 'createDomainGroup/500/failed', {
    crashes: ({ fields }) => /\p{Extended_Pictographic}/u.test(String(fields?.name ?? '')),
  }),
  departure('500-to-punycode', 'A domain in punycode gets 500.', 'addDomains/500/failed', {
    crashes: ({ call, fields }) =>
      call === 'POST /domains' && texts(fields?.domains).some((name) => /xn--/i.test(name)),
  }),
  departure('500-to-array', 'A body that is a JSON array gets 500.', 'addDomains/500/failed', {
    crashes: ({ call, request }) => call === 'POST /domains' && request.body[0] === 0x5b,
  }),
  departure('500-to-unknown-id', 'An unknown id gets 500.', 'listDomainGroups/500/failed', {
    crashes: ({ call, id, account }) =>
      call === 'GET /domaingroups' && id !== undefined && !account.groups.some((group) => group.id === id),
  }),
  departure('500-to-empty-members', 'A PATCH with no domains gets 500.', 'updateDomainGroup/500/failed', {
    crashes: ({ call, fields }) =>
      call === 'PATCH /domaingroups' && Array.isArray(fields?.domains) && fields.domains.length === 0,
  }),
]

const DOMAINS: Departure[] = [
  departure('most-49', 'Fifty domains in one request are refused.', 'at-most-50-domains', {
    mostDomains: 49,
  }),
  departure('most-51', 'Fifty-one domains in one request are accepted.', 'at-most-50-domains', {
    mostDomains: 51,
  }),
  departure('duplicates-accepted', 'One domain twice in one request is accepted.', 'no-duplicates', {
    skips: (check) => check === 'duplicates',
  }),
  departure('any-hostname', 'Any text is a hostname.', 'domains/./format', { hostname: () => true }),
  departure('labels-of-64', 'A label may have 64 characters.', 'domains/./format', {
    hostname: (name) => (name.split('.').some((label) => label.length === 64) ? true : undefined),
  }),
  departure('no-hyphens', 'A hostname with a hyphen is refused.', 'addDomains/400/invalid_domain', {
    hostname: (name) => (name.includes('-') ? false : undefined),
  }),
  departure('added-count-off', 'POST /domains counts one too many.', 'count-of-added', {
    data: { 'POST /domains': (data) => ({ ...data, count: Number(data.count) + 1 }) },
  }),
  departure('removed-count-off', 'DELETE /domains counts one too few.', 'deleted-domains-answered', {
    data: { 'DELETE /domains': (data) => ({ ...data, count: Number(data.count) - 1 }) },
  }),
  departure('count-in-words', '`count` of POST /domains is a text.', 'data/count/type', {
    data: { 'POST /domains': (data) => ({ ...data, count: String(data.count) }) },
  }),
  departure('no-message-for-addition', 'POST /domains answers without a message.', 'data/message/required', {
    data: { 'POST /domains': ({ message: _, ...rest }) => rest },
  }),
  departure('bare-domains', 'GET /domains answers a bare array.', 'listDomains/200/response/data/type', {
    data: { 'GET /domains': (data) => data.domains },
  }),
  departure('last-domain-missing', 'GET /domains leaves out the newest domain.', 'all-domains-listed', {
    data: {
      'GET /domains': (data, { account }) => ({
        domains: texts(data.domains).filter((name) => name !== account.domains.at(-1)),
      }),
    },
  }),
  departure('domain-listed-twice', 'GET /domains shows the newest domain twice.', 'all-domains-listed', {
    data: {
      'GET /domains': (data, { account }) => ({
        domains: [...texts(data.domains), ...account.domains.slice(-1)],
      }),
    },
  }),
  departure('addition-forgotten', 'POST /domains reports success and keeps nothing.', 'all-domains-listed', {
    afterwards({ call, account }, before) {
      if (call === 'POST /domains') account.domains = before.domains
    },
  }),
  departure('removal-forgotten', 'DELETE /domains reports success and removes nothing.', 'all-domains-listed', {
    afterwards({ call, account }, before) {
      if (call !== 'DELETE /domains') return
      account.domains = before.domains
      account.groups = before.groups
    },
  }),
  departure('removal-takes-more', 'DELETE /domains also removes the oldest domain.', 'all-domains-listed', {
    afterwards({ call, account }) {
      if (call !== 'DELETE /domains') return
      const [oldest] = account.domains.splice(0, 1)
      for (const group of account.groups) group.domains = group.domains.filter((name) => name !== oldest)
    },
  }),
  departure(
    'member-outlives-domain',
    'A domain that was removed stays a member of its groups.',
    'listDomainGroups/200/data',
    {
      skips: (check) => check === 'in use',
      afterwards({ call, account }, before) {
        if (call === 'DELETE /domains') account.groups = before.groups
      },
    },
  ),
  departure('partial-addition', 'A refused POST /domains keeps its valid domains.', 'all-domains-listed', {
    afterRefusal({ call, fields, account, now }, code) {
      if (call !== 'POST /domains' || code !== 'invalid_domain') return
      for (const name of texts(fields?.domains)) {
        if (!/^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]+$/.test(name) || account.domains.includes(name)) continue
        account.domains.push(name)
        account.addedAt.set(name, now)
      }
    },
  }),
  departure('unknown-field-accepted', 'A field that does not exist is ignored.', 'addDomains/200/data', {
    skips: (check) => check === 'unknown field',
  }),
  departure('any-type-accepted', 'A field of the wrong type is accepted.', 'addDomains/200/data', {
    skips: (check) => check === 'field type',
  }),
  departure('missing-as-type', 'A missing field gives `invalid_field_type`.', 'addDomains/400/invalid_field_type', {
    code: (code) => (code === 'missing_field' ? 'invalid_field_type' : code),
  }),
  departure('broken-json-accepted', 'A body that is not JSON counts as an empty object.', 'addDomains/200/data', {
    skips: (check) => check === 'json',
  }),
  departure('counted-again', 'A domain that is monitored already is counted as added.', 'no-duplicates', {
    skips: (check) => check === 'already monitored',
    data: { 'POST /domains': (data, { fields }) => ({ ...data, count: texts(fields?.domains).length }) },
  }),
]

const RECORDS: Departure[] = [
  departure('record-missing', 'GET /dmarc leaves out the newest domain.', 'one-record-per-domain', {
    data: { 'GET /dmarc': (rows, { account }) => rows.filter(({ domain }) => domain !== account.domains.at(-1)) },
  }),
  departure(
    'record-for-nobody',
    'GET /dmarc has a record of a domain that is not monitored.',
    'one-record-per-domain',
    {
      data: {
        'GET /dmarc': (rows) => [...rows, ...rows.slice(0, 1).map((row) => ({ ...row, domain: 'stranger.example' }))],
      },
    },
  ),
  departure('records-wrapped', 'GET /dmarc answers an object.', 'listDmarc/200/response/data/type', {
    data: { 'GET /dmarc': (rows) => ({ records: rows }) },
  }),
  departure('figures-change', 'Figures change at each reading.', 'daily-refresh', {
    data: {
      'GET /dmarc': (rows, { now }) =>
        rows.map((row) => ({ ...row, count: Number(row.count) + (Math.floor(now / 7) % 1000) + 1 })),
    },
  }),
  departure('no-np', 'Records have no `np`.', 'np/required', {
    data: { 'GET /dmarc': (rows) => rows.map(({ np: _, ...rest }) => rest) },
  }),
  departure('pct-in-words', '`pct` is a text.', 'pct/type', {
    data: { 'GET /dmarc': (rows) => rows.map((row) => ({ ...row, pct: String(row.pct) })) },
  }),
  departure('share-over-100', 'A percentage is above 100.', 'dmarc/maximum', {
    data: { 'GET /dmarc': (rows) => rows.map((row) => ({ ...row, dmarc: 140 })) },
  }),
  departure('share-below-0', 'A percentage is below 0.', 'spf/minimum', {
    data: { 'GET /dmarc': (rows) => rows.map((row) => ({ ...row, spf: -1 })) },
  }),
  departure('broken-count', 'The email volume has a fraction.', 'data/./count/type', {
    data: { 'GET /dmarc': (rows) => rows.map((row) => ({ ...row, count: Number(row.count) + 0.5 })) },
  }),
]

const GROUPS: Departure[] = [
  departure('names-of-101', 'A name of 101 characters is accepted.', 'name/maxLength', { longestName: 101 }),
  departure('names-of-99', 'A name of 100 characters is refused.', 'name-length', { longestName: 99 }),
  departure('empty-name', 'An empty name is accepted.', 'name/minLength', {
    skips: (check, { fields }) => check === 'name length' && fields?.name === '',
  }),
  departure('names-by-case', 'Two groups may have names that differ by case.', 'name-unique', {
    sameName: (one, other) => one === other,
  }),
  departure('same-name-by-change', 'A group may be given the name of another.', 'name-unique', {
    skips: (check, { call }) => check === 'duplicate name' && call === 'PATCH /domaingroups',
  }),
  departure('twins-by-case-listed', 'The list shows each group again under its name in upper case.', 'name-unique', {
    data: {
      'GET /domaingroups': (data) => {
        if (!Array.isArray(data.groups)) return data
        const twins = data.groups.map((group) => ({
          ...group,
          id: `${group.id}2`,
          name: String(group.name).toUpperCase(),
        }))
        return { groups: [...data.groups, ...twins], count: data.groups.length * 2 }
      },
    },
  }),
  departure('unmonitored-members', 'A group may have a member that is not monitored.', 'members-monitored', {
    skips: (check) => check === 'members',
  }),
  departure(
    'group-in-spite',
    'A refused POST /domaingroups makes the group with the members that are monitored.',
    'groups-with-count',
    {
      afterRefusal({ call, fields, account }, code, makeGroup) {
        if (call !== 'POST /domaingroups' || code !== 'not_monitored' || typeof fields?.name !== 'string') return
        makeGroup(
          fields.name,
          texts(fields.domains).filter((name) => account.domains.includes(name)),
        )
      },
    },
  ),
  departure('members-dropped', 'A group is made without its members.', 'members-in-the-same-call', {
    afterwards({ call, account }) {
      const group = account.groups.at(-1)
      if (call === 'POST /domaingroups' && group !== undefined) group.domains = []
    },
  }),
  departure('group-count-off', 'The list counts one group too many.', 'groups-with-count', {
    data: { 'GET /domaingroups': (data) => ('count' in data ? { ...data, count: Number(data.count) + 1 } : data) },
  }),
  departure('unknown-id-lists', 'An unknown id gets the list of all groups.', 'unknown-id-read', {
    skips: (check, { call }) => check === 'unknown id' && call === 'GET /domaingroups',
  }),
  departure('unknown-id-deleted', 'DELETE of an unknown id succeeds.', 'unknown-id-delete', {
    skips: (check, { call }) => check === 'unknown id' && call === 'DELETE /domaingroups',
  }),
  departure('unknown-id-changed', 'PATCH of an unknown id succeeds.', 'unknown-id-update', {
    skips: (check, { call }) => check === 'unknown id' && call === 'PATCH /domaingroups',
  }),
  departure('missing-id-not-found', 'PATCH and DELETE without an id give `not_found`.', 'update-needs-id', {
    code: (code) => (code === 'missing_id' ? 'not_found' : code),
  }),
  departure('delete-without-id', 'DELETE without an id succeeds.', 'delete-needs-id', {
    skips: (check, { call }) => check === 'missing id' && call === 'DELETE /domaingroups',
  }),
  departure('first-group-for-all', 'GET with an id shows the oldest group.', 'one-group-by-id', {
    data: {
      'GET /domaingroups': (data, { account }) => ('group' in data ? { group: { ...account.groups[0] } } : data),
    },
  }),
  departure('bare-group', 'GET with an id answers the group itself.', 'group/required', {
    data: { 'GET /domaingroups': (data) => ('group' in data ? data.group : data) },
  }),
  departure('numbers-as-ids', 'Ids of groups are numbers.', 'id/type', {
    data: { 'GET /domaingroups': eachGroup((group) => ({ ...group, id: 17 })) },
  }),
  departure('shouted-names', 'Names of groups are shown in upper case.', 'DomainGroups?/200/(data|state)', {
    data: { 'GET /domaingroups': eachGroup((group) => ({ ...group, name: String(group.name).toUpperCase() })) },
  }),
  departure('deletion-takes-domains', 'Deleting a group removes its domains.', 'members-stay-monitored', {
    afterwards({ call, account, id }, before) {
      if (call !== 'DELETE /domaingroups') return
      const gone = before.groups.find((group) => group.id === id)?.domains ?? []
      account.domains = account.domains.filter((name) => !gone.includes(name))
      for (const group of account.groups) group.domains = group.domains.filter((name) => !gone.includes(name))
    },
  }),
  departure('deleted-group-stays', 'A deleted group can still be read.', 'groups-with-count|unknown-id-read', {
    afterwards({ call, account }, before) {
      if (call === 'DELETE /domaingroups') account.groups = before.groups
    },
  }),
  departure('replacement-adds', '`domains` of PATCH adds to the members.', 'domains-replace-members', {
    members: (before, fields) =>
      'domains' in fields ? [...new Set([...before, ...texts(fields.domains)])] : changed(before, fields),
  }),
  departure('addition-replaces', '`add_domains` replaces the members.', 'additions-keep-members', {
    members: (before, fields) => ('add_domains' in fields ? changed([], fields) : changed(before, fields)),
  }),
  departure('removals-first', 'Removals come before additions.', 'additions-before-removals', {
    members(before, fields) {
      if ('domains' in fields) return changed(before, fields)
      const kept = changed(before, { remove_domains: fields.remove_domains ?? [] })
      return changed(kept, { add_domains: fields.add_domains ?? [] })
    },
  }),
  departure('removals-ignored', '`remove_domains` does nothing.', 'updateDomainGroup/200/data', {
    members: (before, { remove_domains: _, ...fields }) => changed(before, fields),
  }),
  departure('conflict-accepted', '`domains` with `add_domains` is accepted.', 'no-mixed-changes', {
    skips: (check) => check === 'conflict',
  }),
  departure('empty-change-accepted', 'A PATCH without a field is accepted.', 'update-needs-a-field', {
    skips: (check) => check === 'nothing to update',
  }),
  departure(
    'unmonitored-removal-refused',
    '`remove_domains` with a domain that is not monitored is refused.',
    'unknown-removals-ignored',
    {
      refuses: ({ call, fields, account }) =>
        call === 'PATCH /domaingroups' &&
        texts(fields?.remove_domains).some((name) => !account.domains.some((each) => same(each, name)))
          ? 'not_monitored'
          : undefined,
    },
  ),
  departure(
    'change-touches-others',
    'PATCH with `add_domains` changes every group.',
    'DomainGroups?/200/(data|state)',
    {
      afterwards({ call, account, fields }) {
        if (call !== 'PATCH /domaingroups' || fields === undefined || !('add_domains' in fields)) return
        for (const group of account.groups) group.domains = changed(group.domains, { add_domains: fields.add_domains })
      },
    },
  ),
  departure('new-id-by-change', 'PATCH gives the group another id.', 'groups-with-count|/not_found', {
    afterwards({ call, account, id }) {
      if (call !== 'PATCH /domaingroups') return
      account.groups = account.groups.map((group) => (group.id === id ? { ...group, id: `${group.id}x` } : group))
    },
  }),
  departure('names-lowered', 'Names are kept in lower case.', 'createDomainGroup/200/data', {
    data: {
      'POST /domaingroups': (data) => {
        const group = data.group as Row
        return { group: { ...group, name: String(group.name).toLowerCase() } }
      },
    },
    afterwards({ account }) {
      for (const group of account.groups) group.name = group.name.toLowerCase()
    },
  }),
  departure('unknown-id-shows-first', 'An unknown id gets the oldest group.', 'unknown-id-read', {
    skips: (check, { call, account }) =>
      check === 'unknown id' && call === 'GET /domaingroups' && account.groups.length > 0,
    data: {
      'GET /domaingroups': (data, { id, account }) =>
        'groups' in data && id !== undefined && id !== '' ? { group: { ...account.groups[0] } } : data,
    },
  }),
  departure('change-forgotten', 'PATCH reports success and keeps nothing.', 'listDomainGroups/200/data', {
    afterwards({ call, account }, before) {
      if (call === 'PATCH /domaingroups') account.groups = before.groups
    },
  }),
]

/** The members that a PATCH leaves, for names as they were sent. */
function changed(before: readonly string[], fields: Record<string, unknown>): string[] {
  if ('domains' in fields) return texts(fields.domains)
  const removed = texts(fields.remove_domains)
  const all = [...before, ...texts(fields.add_domains).filter((name) => !before.some((each) => same(each, name)))]
  return all.filter((name) => !removed.some((each) => same(each, name)))
}

/** Whether it shows only when quotas are used up, or much is read. */
export function needsManyRequests({ id }: Departure): boolean {
  return id === 'figures-change' || QUOTAS.some((each) => each.id === id)
}

/** Those that no recorded session calls by their names, because only `verify` asks for what shows them. */
export const BY_VERIFY: readonly string[] = [
  'any-key',
  'shared-quota',
  'record-missing',
  'figures-change',
  'unmonitored-members',
]

export const DEPARTURES: readonly Departure[] = [KEYS, QUOTAS, ENVELOPES, CRASHES, DOMAINS, RECORDS, GROUPS].flat()
