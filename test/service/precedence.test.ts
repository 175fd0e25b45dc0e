import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACCOUNT, changeAccount, HOUR } from '../support/account.ts'
import { askControl } from '../support/control-plane.ts'
import { openService, type TestResponse, type TestService } from '../support/service.ts'

/** A request on its way from one that is accepted to one with faults. */
interface Draft {
  method: string
  path: string
  /** The id of the group in question; `null` leaves it out. */
  id?: string | null
  plan?: string
  exhausted?: boolean
  headers: Record<string, string | null>
  fields: Record<string, unknown>
  /** What happens to the body once it is written. */
  rewrites: ((text: string) => string)[]
}

/** A request without a fault. */
type Accepted = Pick<Draft, 'method' | 'path' | 'id'> & { fields?: object }

interface Fault {
  name: string
  /** Code and message that answer a request with this fault alone. */
  answer: RegExp
  /** What of the request it replaces, so that no other fault can be there. */
  takes: readonly string[]
  /** What of the request must be left to it. */
  needs: readonly string[]
  commit(draft: Draft): unknown
}

function fault(
  name: string,
  answer: RegExp,
  { takes = [], needs = [] }: { takes?: readonly string[]; needs?: readonly string[] },
  commit: (draft: Draft) => unknown,
): Fault {
  return { name, answer, takes, needs, commit }
}

function inHeader(name: string, answer: RegExp, header: string, value: string | null): Fault {
  return fault(name, answer, { takes: [header] }, ({ headers }) => Object.assign(headers, { [header]: value }))
}

function inDraft(name: string, answer: RegExp, takes: readonly string[], part: Partial<Draft>): Fault {
  return fault(name, answer, { takes }, (draft) => Object.assign(draft, part))
}

function inText(name: string, answer: RegExp, takes: readonly string[], rewrite: (text: string) => string): Fault {
  const needs = takes.includes('body') ? [] : ['body']
  return fault(name, answer, { takes, needs }, ({ rewrites }) => rewrites.push(rewrite))
}

function inField(name: string, answer: RegExp, field: string, value: unknown): Fault {
  return fault(name, answer, { takes: [field], needs: ['body'] }, ({ fields }) =>
    Object.assign(fields, { [field]: value }),
  )
}

/** A fault that consists in further entries of an array. */
function inEntries(name: string, answer: RegExp, field: string, ...entries: unknown[]): Fault {
  return fault(name, answer, { needs: ['body', field] }, ({ fields }) => {
    fields[field] = [...((fields[field] ?? []) as unknown[]), ...entries]
  })
}

const UNKNOWN_PATH = inDraft('an unknown path', /^not_found: There is nothing/, ['route'], { path: '/nothing' })
const WRONG_METHOD = inDraft('a wrong method', /^not_found: The method PUT/, ['route'], { method: 'PUT' })
const NO_KEY = inHeader('no key', /^unauthorized: A valid API key/, 'authorization', null)
const LOW_PLAN = inDraft('a plan below Stone', /^unauthorized: The plan below-stone/, [], { plan: 'below-stone' })
const NO_QUOTA = inDraft('its quota used', /^rate_limited:/, [], { exhausted: true })
const NO_ID = inDraft('no id', /^missing_id:/, ['id'], { id: null })
const UNKNOWN_ID = inDraft('an unknown id', /^not_found: No domain group/, ['id'], { id: '00000000' })
const OTHER_FIELD = inField('an unsupported field', /^unknown_field: The field `notes`/, 'notes', '')
const TAKEN_NAME = inField('the name of another group', /^duplicate_name:/, 'name', 'MARKETING')
const BAD_NAME = inField('an empty name', /^invalid_name:/, 'name', '')

/** What is checked of every request, in order. */
const ADMISSION = [UNKNOWN_PATH, WRONG_METHOD, NO_KEY, LOW_PLAN, NO_QUOTA]

/** What is checked of every body before its fields. */
const BODY = [
  inHeader('no JSON as its type', /^invalid_request_body: The header Content-Type/, 'content-type', 'text/plain'),
  inHeader('a coding', /^invalid_request_body: Request body must be sent without/, 'content-encoding', 'gzip'),
  inText('more than 1 MiB', /^request_too_large: Request body/, ['size'], (text) => text.padEnd(1_048_577)),
  inText('an empty body', /^invalid_request_body: Request body must not be empty/, ['body'], () => ''),
  inText('half a body', /^invalid_json:/, ['syntax'], (text) => text.slice(0, -1)),
  inText('an array', /^invalid_request_body: Request body must be a JSON/, ['syntax'], (text) => `[${text}]`),
  OTHER_FIELD,
]

const UPDATE = { name: 'Support', add_domains: ['one.example'] }

/** Each operation with a request that it accepts and with every fault that it can have, in the order of the checks. */
const OPERATIONS: readonly [operation: string, accepted: Accepted, faults: Fault[]][] = [
  ['listDmarc', { method: 'GET', path: '/dmarc' }, ADMISSION],
  ['listDomains', { method: 'GET', path: '/domains' }, ADMISSION],
  ['listDomainGroups', { method: 'GET', path: '/domaingroups', id: 'Sale0001' }, [...ADMISSION, UNKNOWN_ID]],
  ['deleteDomainGroup', { method: 'DELETE', path: '/domaingroups', id: 'Sale0001' }, [...ADMISSION, NO_ID, UNKNOWN_ID]],
  [
    'addDomains',
    { method: 'POST', path: '/domains', fields: { domains: ['new.example'] } },
    [
      ...ADMISSION,
      ...BODY,
      inField('no domains', /^missing_field:/, 'domains', undefined),
      inEntries('an entry that is a number', /^invalid_field_type:/, 'domains', 5),
      inEntries(
        '51 domains',
        /^request_too_large: The field `domains`/,
        'domains',
        ...Array.from({ length: 50 }, (_, index) => `host-${index}.example`),
      ),
      inEntries('no hostname', /^invalid_domain: .* must be a valid hostname/, 'domains', 'a b'),
      inEntries('a monitored domain', /^invalid_domain: .* is monitored already/, 'domains', 'one.example'),
    ],
  ],
  [
    'deleteDomains',
    { method: 'DELETE', path: '/domains', fields: { domains: ['two.example'] } },
    [
      ...ADMISSION,
      ...BODY,
      inField('no domains', /^missing_field:/, 'domains', []),
      inEntries('an entry that is a number', /^invalid_field_type:/, 'domains', 5),
      inEntries('no hostname', /^invalid_domain: .* must be a valid hostname/, 'domains', 'a b'),
      inEntries('a domain twice', /^invalid_domain: .* is named more than once/, 'domains', 'two.example'),
      inEntries('a domain in use', /^domain_delete_failed:/, 'domains', 'used.example'),
    ],
  ],
  [
    'createDomainGroup',
    { method: 'POST', path: '/domaingroups', fields: { name: 'Support', domains: ['one.example'] } },
    [
      ...ADMISSION,
      ...BODY,
      inField('no name', /^missing_field:/, 'name', undefined),
      inEntries('an entry that is a number', /^invalid_field_type:/, 'domains', 5),
      BAD_NAME,
      inEntries('no hostname', /^invalid_domain:/, 'domains', 'a b'),
      inEntries('an unmonitored domain', /^not_monitored:/, 'domains', 'stranger.example'),
      TAKEN_NAME,
    ],
  ],
  [
    'updateDomainGroup',
    { method: 'PATCH', path: '/domaingroups', id: 'Sale0001', fields: UPDATE },
    [
      ...ADMISSION,
      NO_ID,
      ...BODY,
      fault('no field', /^no_fields_to_update:/, { takes: ['name', 'add_domains'], needs: ['body'] }, (draft) => {
        draft.fields = {}
      }),
      inEntries('an entry that is a number', /^invalid_field_type:/, 'add_domains', 5),
      inField('domains beside add_domains', /^conflicting_fields:/, 'domains', []),
      BAD_NAME,
      inEntries('no hostname', /^invalid_domain:/, 'add_domains', 'a b'),
      UNKNOWN_ID,
      inEntries('an unmonitored domain', /^not_monitored:/, 'add_domains', 'stranger.example'),
      TAKEN_NAME,
    ],
  ],
]

/** Sends the accepted request with these faults, which are given in the order of the checks, in a new quota window. */
async function sendWith(service: TestService, accepted: Accepted, ...faults: readonly Fault[]): Promise<TestResponse> {
  const draft: Draft = { ...accepted, headers: {}, fields: { ...accepted.fields }, rewrites: [] }
  // The later a fault is found, the deeper in the request it lies; so what wraps it comes after it.
  for (const { commit } of faults.toReversed()) commit(draft)
  const { method, path, id, plan = 'stone', headers, fields, rewrites } = draft
  const body = accepted.fields && rewrites.reduce((text, rewrite) => rewrite(text), JSON.stringify(fields))
  await changeAccount(service, (state) => ({ ...state, plan: 'stone' }))
  service.advance(HOUR)
  if (draft.exhausted === true) {
    const exhausted = { bucket: accepted.path.slice(1), remaining: 0 }
    expect((await askControl(service, 'PATCH', '/accounts/default/quotas', exhausted)).status).toBe(200)
  }
  await changeAccount(service, (state) => ({ ...state, plan }))
  return service.send(method, id ? `${path}?id=${id}` : path, body, headers)
}

function answerOf({ body }: TestResponse): string {
  return `${body.error.code}: ${body.error.message}`
}

/** Whether one request can have both. */
function canMeet(one: Fault, other: Fault): boolean {
  const clash = ({ takes }: Fault, second: Fault) =>
    takes.some((part) => second.takes.includes(part) || second.needs.includes(part))
  return !clash(one, other) && !clash(other, one)
}

describe.each(OPERATIONS)('%s', (_, accepted, faults) => {
  // What is refused changes nothing, so that one service is enough.
  let service: TestService
  beforeAll(async () => {
    service = await openService({ fixture: ACCOUNT })
  })
  afterAll(() => service.stop())

  const followed = faults.flatMap((earlier, index) => {
    const later = faults.slice(index + 1).filter((other) => canMeet(earlier, other))
    return later.length === 0 ? [] : [[earlier.name, later.length, earlier, later] as const]
  })

  it.each(followed)('answers %s before each of the %i faults after it', async (_, __, earlier, laterOnes) => {
    for (const later of laterOnes) {
      const response = await sendWith(service, accepted, earlier, later)
      expect(answerOf(response), `${earlier.name} and ${later.name}`).toMatch(earlier.answer)
    }
  })
})
