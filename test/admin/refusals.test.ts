import { beforeAll, expect, it } from 'vitest'
import { readLimits } from '../../src/admin/document.ts'
import { type ControlPlane, controlApi, openControlPlane } from '../support/control-plane.ts'

type Row = [body: unknown, code: string, message?: string | RegExp]
type Query = [path: string, query: string, code: string, message: string | RegExp]

const { pageLimit } = readLimits(controlApi)
const beyond = pageLimit + 1
const NOW = 'at 2026-01-15T09:30:00Z'
const OPEN = `to a quota in a window that is still open ${NOW}.`
const UNLISTED =
  '`after` must name something of the list, and "x" is not in it, perhaps because it was deleted meanwhile.'
const AT = '/accounts/default'

/** The rows of one field that is refused with these values. */
function each(code: string, field: string, values: unknown[]): Row[] {
  return values.map((value) => [{ [field]: value }, code])
}

/** What each operation refuses, with which code. */
const BODIES: Readonly<Record<string, Row[]>> = {
  'POST /accounts': [
    [{ id: 'default' }, 'taken', /^There is an account "default" already\.$/],
    [{ api_key: 'taken-key' }, 'taken', /^The key "key_\w{8}" belongs to the account "holder" already\.$/],
    [{ id: '.hidden' }, 'invalid_value', /`id` must be 1 to 100 letters/],
    [{ id: 'a'.repeat(101) }, 'invalid_value', /`id` must be 1 to 100 letters/],
    [{ id: 5 }, 'invalid_field_type', /`id` must be of type string, not number/],
    [{ plan: 'gold' }, 'invalid_value', /`plan` must be one of below-stone, stone, above-stone, not "gold"\.$/],
    [{ seed: -1 }, 'invalid_value', /`seed` must be at least 0/],
    [{ seed: 1.5 }, 'invalid_field_type', /`seed` must be of type integer/],
    [{ now: 'tomorrow' }, 'invalid_value', /`now` must be an instant such as/],
    [{ now: '9999-12-31T12:00:00Z' }, 'invalid_value', /before the last day of the year 9999/],
    [{ api_key: 'a b' }, 'invalid_value', /`api_key` must be 1 to 200 visible ASCII/],
    [{ fixture: 'nobody' }, 'invalid_value', /`fixture` must be one of demo, empty, edge-cases, agency or a fixture/],
    ...each('invalid_value', 'fixture', ['./fixtures/demo.json', 'file:///etc/passwd', ' demo']),
    [{ fixture: { domains: ['no host'] } }, 'invalid_fixture', /^fixture#\/domains\/0: "no host" is not a valid/],
    [{ fixture: { color: 'red' } }, 'invalid_fixture', /^fixture#\/color: .*allowed fields are .*scenes\.$/],
    [{ colour: 'red' }, 'unknown_field', /The field `colour` is unknown/],
    [{ plan: 'stones' }, 'invalid_value', /mean stone\?/],
    [
      { like: 'nobody' },
      'invalid_value',
      /^`like` must be an account that exists, and there is no account "nobody"\.$/,
    ],
    [{ like: 'default', fixture: 'demo' }, 'conflicting_fields', /has its fixture/],
    [{ like: 'default', seed: 1 }, 'conflicting_fields', /and its seed/],
  ],
  [`PATCH ${AT}`]: [
    [{}, 'missing_field'],
    [{ plan: 'stone', id: 'x' }, 'unknown_field'],
    ['{', 'invalid_json'],
    ['', 'invalid_request_body'],
    ['[]', 'invalid_request_body'],
    ['null', 'invalid_request_body'],
  ],
  [`POST ${AT}/reset`]: [
    [{ plan: 'stone' }, 'unknown_field'],
    [{ seed: 'x' }, 'invalid_field_type'],
    ...each('invalid_value', 'fixture', ['x', './fixtures/demo.json']),
    [{ fixture: { keys: [{ key: 'taken-key' }] } }, 'taken'],
  ],
  [`PUT ${AT}/state`]: [
    [{ domains: ['x'] }, 'invalid_fixture'],
    [{ keys: [{ key: 'taken key' }] }, 'invalid_fixture'],
    [{ keys: [{ key: 'taken-key' }] }, 'taken'],
    [{ keys: ['a', 'b'].map((letter) => ({ hash: letter.repeat(64), id: 'one' })) }, 'taken'],
    ['demo', 'invalid_json'],
    ['"demo"', 'invalid_request_body'],
  ],
  [`POST ${AT}/snapshots`]: [...each('invalid_value', 'name', ['', '.', '..', 'a/b', 'a b', 'x'.repeat(101)])],
  [`POST ${AT}/keys`]: [
    [{ key: 'mine' }, 'taken'],
    [{ key: 'taken-key' }, 'taken'],
    ...each('invalid_value', 'key', ['a b', '', 'x'.repeat(201)]),
    [{ key: 'secret with spaces' }, 'invalid_value'],
    [{ label: 'x'.repeat(201) }, 'invalid_value'],
  ],
  [`PUT ${AT}/domains/a.example/features`]: [
    ...each('invalid_value', 'features', [[''], ['a', 'a'], ['x'.repeat(101)]]),
    [{ features: Array.from({ length: 51 }, (_, index) => `f${index}`) }, 'invalid_value'],
  ],
  [`PUT ${AT}/domains/a.example/dmarc`]: [
    [{}, 'missing_field', /at least one field/],
    [{ p: 'maybe' }, 'invalid_value', /`p` must be one of none, quarantine, reject/],
    [{ profile: 'x' }, 'invalid_value', /`profile` must be one of enforced, .*, new, not "x"\.$/],
    [{ pct: 101 }, 'invalid_value', /`pct` must be at most 100/],
    [{ testing: true }, 'invalid_field_type', /`testing`/],
    [{ domain: 'b.example' }, 'unknown_field', /`domain`/],
    [
      { dmarc: 10, dkim: 20 },
      'invalid_value',
      /The record has less dmarc than dkim or spf, of which either suffices\./,
    ],
    [{ dmarc: 100, dkim: 20, spf: 20 }, 'invalid_value', /more dmarc than dkim and spf together/],
    [{ count: 0, spf: 1 }, 'invalid_value', /shares of no mail/],
  ],
  [`PATCH ${AT}/clock`]: [
    [{}, 'missing_field'],
    ...each('invalid_value', 'now', ['2026-01-15T09:29:59Z', '1970-01-01T00:00:00Z', '1969-12-31T23:59:59Z']),
    ...each('invalid_value', 'now', [
      '2026-13-01T00:00:00Z',
      '2026-02-29T00:00:00Z',
      '9999-12-31T00:00:01Z',
      'tomorrow',
    ]),
    [
      { now: 0 },
      'invalid_field_type',
      /^`now` must be of type string, not number: an instant such as 2026-01-15T09:00:00Z\.$/,
    ],
    ...each('invalid_value', 'advance', ['PT', 'P', 'P1M', 'P1Y', '-PT1H', 'PT1.5H', '1h']),
    [
      { advance: 86400 },
      'invalid_field_type',
      /^`advance` must be of type string, not number: an ISO 8601 duration such as PT1H,/,
    ],
    ...each('invalid_value', 'advance', ['P3000000D', 'P99999999999999999999999999D', `PT${'9'.repeat(400)}S`]),
    [{ to: 'window-end' }, 'invalid_value', `\`to\` cannot be "window-end": no request was charged ${OPEN}`],
    [{ to: 'grace-end' }, 'invalid_value', `\`to\` cannot be "grace-end": no key is in its grace period ${NOW}.`],
    [{ to: 'refresh', now: '2026-02-01T00:00:00Z' }, 'conflicting_fields', /to says by itself where the clock moves/],
  ],
  [`PATCH ${AT}/quotas`]: [
    [{}, 'missing_field'],
    [{ bucket: 'dmarc' }, 'missing_field'],
    [{ bucket: '/dmarc', remaining: 1 }, 'invalid_value'],
    [{ bucket: 'domain', remaining: 1 }, 'invalid_value', /mean domains\?/],
    [{ bucket: 'dmarc', remaining: 1e9 }, 'invalid_value'],
    [{ bucket: 'dmarc', remaining: 1, key: 'key_nobody' }, 'not_found'],
  ],
  [`POST ${AT}/requests/verify`]: [
    [{ match: {}, count: 1, at_least: 1 }, 'conflicting_fields'],
    [{ match: {}, count: 1.5 }, 'invalid_field_type'],
    [{ match: { colour: 'red' } }, 'unknown_field'],
    [{ count: 1 }, 'missing_field'],
  ],
}

/** Each list, and whether it is one of requests. */
const LISTS = [
  ['/accounts', false],
  ...['keys', 'snapshots', 'faults', 'domains'].map((name) => [`${AT}/${name}`, false] as const),
  [`${AT}/requests`, true],
  ['/requests', true],
] as const
const DMARC = `${AT}/dmarc`
const CALENDAR = 'must be a day of the calendar, from 1970-01-01 to 9999-12-31, not'
const HOSTNAMES = '`domain` must have hostnames with commas between them, and'
const ONE_DAY = 'from=2026-01-15&to=2026-01-15'

/** What each operation refuses in its query. */
const QUERIES: Query[] = [
  unknownIn('/accounts', 'x'),
  unknownIn('/accounts', '__proto__'),
  unknownIn('/accounts', 'before'),
  unknownIn('/requests', 'after'),
  unknownIn('/fault-sets', 'limit'),
  ['/requests', 'status=abc', 'invalid_value', /status/],
  ['/requests', 'status=200&status=abc', 'invalid_value', 'The query parameter `status` is given more than once.'],
  ['/requests', 'before=0', 'invalid_value', '`before` must be the ordinal of a request, not "0".'],
  ...LISTS.flatMap(([path, isOfRequests]): Query[] => [
    [path, 'limit=0', 'invalid_value', '`limit` must be a whole number, 1 or more, not "0".'],
    [path, `limit=${beyond}`, 'invalid_value', `\`limit\` must be at most ${pageLimit}, not ${beyond}.`],
    ...(isOfRequests ? [] : [[path, 'after=x', 'invalid_value', UNLISTED] as Query]),
  ]),
  ...['0', 'x', '367', '1.5', '007', '9'.repeat(20)].map(
    (days): Query => [
      `${AT}/overview`,
      `days=${days}`,
      'invalid_value',
      `\`days\` must be a whole number from 1 to 366, not "${days}".`,
    ],
  ),
  [DMARC, 'from=2026-01-15', 'missing_field', /`to` is required/],
  [DMARC, 'from=15.1.2026&to=2026-01-15', 'invalid_value', '`from` must be a day such as 2026-01-15, not "15.1.2026".'],
  [DMARC, 'from=2026-02-30&to=2026-03-01', 'invalid_value', `\`from\` ${CALENDAR} "2026-02-30".`],
  [DMARC, 'from=2026-01-15&to=1969-12-31', 'invalid_value', `\`to\` ${CALENDAR} "1969-12-31".`],
  [DMARC, 'from=2026-01-15&to=2026-01-14', 'invalid_value', '`to` must not be before from, which is 2026-01-15.'],
  [
    DMARC,
    'from=2026-01-15&to=2027-01-16',
    'invalid_value',
    'The period must have at most 366 days, not 367; with this from, to can be 2027-01-15 at most.',
  ],
  [DMARC, `${ONE_DAY}&domain=a.example,no%20name`, 'invalid_value', `${HOSTNAMES} "no name" is none.`],
  [DMARC, `${ONE_DAY}&domain=`, 'invalid_value', '`domain` must have at least 1 characters.'],
]

function unknownIn(path: string, name: string): Query {
  return [path, `${name}=1`, 'unknown_field', `The query parameter \`${name}\` is unknown.`]
}

const STATUSES: Readonly<Record<string, number>> = { taken: 409, not_found: 404 }
const like = (message: string | RegExp) => (typeof message === 'string' ? message : expect.stringMatching(message))

let plane: ControlPlane
beforeAll(async () => {
  plane = await openControlPlane({ fixture: { domains: ['a.example'] }, apiKey: 'mine' })
  await plane.create({ id: 'holder', api_key: 'taken-key' })
  return plane.stop
})

it.each(Object.entries(BODIES))('what %s refuses tells no secret and changes nothing', async (operation, rows) => {
  const shown = ['/accounts', ...['keys', 'state', 'clock', 'quotas', 'snapshots'].map((part) => `${AT}/${part}`)]
  const readAll = () => Promise.all(shown.map(async (path) => (await plane.get(path)).data))
  const before = await readAll()
  const [method = '', path = ''] = operation.split(' ')
  for (const [body, code, message = /./] of rows) {
    const { status, error, text } = await plane.send(method, path, body)
    const expected = [STATUSES[code] ?? 400, code, like(message)]
    expect([status, error?.code, error?.message], JSON.stringify(body)).toEqual(expected)
    expect(text).not.toMatch(/taken.key|"a b"|with spaces/)
  }
  expect(await readAll()).toEqual(before)
})

it.each(QUERIES)('GET %s?%s is refused as %s', async (path, query, code, message) => {
  const { status, error } = await plane.get(`${path}?${query}`)
  expect([status, error.code, error.message]).toEqual([400, code, like(message)])
})
