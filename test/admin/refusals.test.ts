import { beforeAll, expect, it } from 'vitest'
import { type ControlPlane, openControlPlane } from '../support/control-plane.ts'

type Row = [body: unknown, code: string, message?: string | RegExp]
type Query = [path: string, query: string, code: string, message: string | RegExp]

const AT = '/accounts/default'

/** What each operation refuses, with which code. What a schema refuses is here once for each kind. */
const BODIES: Readonly<Record<string, Row[]>> = {
  'POST /accounts': [
    [{ id: 'default' }, 'taken', /^There is an account "default" already\.$/],
    [{ api_key: 'taken-key' }, 'taken', /^The key "key_\w{8}" belongs to the account "holder" already\.$/],
    [{ id: '.hidden' }, 'invalid_value', /`id` must be 1 to 100 letters/],
    [{ plan: 'stones' }, 'invalid_value', /mean stone\?/],
    [{ now: '9999-12-31T12:00:00Z' }, 'invalid_value', /before the last day of the year 9999/],
    [{ api_key: 'a b' }, 'invalid_value', /`api_key` must be 1 to 200 visible ASCII/],
    [
      { fixture: 'file:///etc/passwd' },
      'invalid_value',
      /`fixture` must be one of demo, empty, edge-cases, agency or a/,
    ],
    [
      { fixture: { color: 'red' } },
      'invalid_fixture',
      /^fixture#\/color: .*allowed fields are .*scenes, former_domains\.$/,
    ],
  ],
  [`PATCH ${AT}`]: [
    [{}, 'missing_field'],
    ['{', 'invalid_json'],
    ['', 'invalid_request_body'],
  ],
  [`POST ${AT}/reset`]: [
    [{ plan: 'stone' }, 'unknown_field'],
    [{ fixture: { keys: [{ key: 'taken-key' }] } }, 'taken'],
  ],
  [`PUT ${AT}/state`]: [
    [{ keys: [{ key: 'taken key' }] }, 'invalid_fixture'],
    [{ keys: [{ key: 'taken-key' }] }, 'taken'],
    [{ keys: ['a', 'b'].map((letter) => ({ hash: letter.repeat(64), id: 'one' })) }, 'taken'],
  ],
  [`POST ${AT}/snapshots`]: ['..', 'x'.repeat(101)].map((name): Row => [{ name }, 'invalid_value']),
  [`POST ${AT}/keys`]: [
    [{ key: 'mine' }, 'taken'],
    [{ key: 'taken-key' }, 'taken'],
  ],
  [`PUT ${AT}/domains/a.example/features`]: [[{ features: ['a', 'a'] }, 'invalid_value']],
  [`PUT ${AT}/domains/a.example/dmarc`]: [
    [{}, 'missing_field', /at least one field/],
    [{ dmarc: 10, dkim: 20 }, 'invalid_value', /has less dmarc than dkim or spf, of which either suffices\./],
    [{ dmarc: 100, dkim: 20, spf: 20 }, 'invalid_value', /more dmarc than dkim and spf together/],
    [{ count: 0, spf: 1 }, 'invalid_value', /shares of no mail/],
  ],
  [`PATCH ${AT}/clock`]: [
    [{}, 'missing_field'],
    ...['2026-01-15T09:29:59Z', '2026-02-29T00:00:00Z', '9999-12-31T00:00:01Z'].map(
      (now): Row => [{ now }, 'invalid_value'],
    ),
    [{ now: 0 }, 'invalid_field_type', /not number: an instant such as 2026-01-15T09:00:00Z\.$/],
    ...['P1M', '-PT1H', 'P3000000D', `PT${'9'.repeat(400)}S`].map((advance): Row => [{ advance }, 'invalid_value']),
    [
      { to: 'window-end' },
      'invalid_value',
      /cannot be "window-end": no request was charged to a quota in a window that/,
    ],
    [{ to: 'refresh', now: '2026-02-01T00:00:00Z' }, 'conflicting_fields', /to says by itself where the clock moves/],
  ],
  [`PATCH ${AT}/quotas`]: [
    [{ bucket: 'dmarc' }, 'missing_field'],
    [{ bucket: 'domain', remaining: 1 }, 'invalid_value', /mean domains\?/],
    [{ bucket: 'dmarc', remaining: 1e9 }, 'invalid_value'],
    [{ bucket: 'dmarc', remaining: 1, key: 'key_nobody' }, 'not_found'],
  ],
  [`POST ${AT}/requests/verify`]: [
    [{ match: {}, count: 1, at_least: 1 }, 'conflicting_fields'],
    [{ count: 1 }, 'missing_field'],
  ],
}

const DMARC = `${AT}/dmarc`
const CALENDAR = 'must be a day of the calendar, from 1970-01-01 to 9999-12-31, not'
const ONE_DAY = 'from=2026-01-15&to=2026-01-15'

/** What each operation refuses in its query. */
const QUERIES: Query[] = [
  ['/accounts', '__proto__=1', 'unknown_field', 'The query parameter `__proto__` is unknown.'],
  ['/requests', 'status=200&status=abc', 'invalid_value', 'The query parameter `status` is given more than once.'],
  ['/requests', 'before=0', 'invalid_value', '`before` must be the ordinal of a request, not "0".'],
  ['/accounts', 'limit=0', 'invalid_value', '`limit` must be a whole number, 1 or more, not "0".'],
  ['/requests', 'limit=1001', 'invalid_value', '`limit` must be at most 1000, not 1001.'],
  ['/accounts', 'after=x', 'invalid_value', '`after` must name something of the list, and "x" is not in it.'],
  ...['0', '367'].map(
    (days): Query => [
      ...([`${AT}/overview`, `days=${days}`, 'invalid_value'] as const),
      `\`days\` must be a whole number from 1 to 366, not "${days}".`,
    ],
  ),
  [DMARC, 'from=2026-01-15', 'missing_field', /`to` is required/],
  [DMARC, 'from=15.1.2026&to=2026-01-15', 'invalid_value', '`from` must be a day such as 2026-01-15, not "15.1.2026".'],
  [DMARC, 'from=2026-02-30&to=2026-03-01', 'invalid_value', `\`from\` ${CALENDAR} "2026-02-30".`],
  [DMARC, 'from=2026-01-15&to=2026-01-14', 'invalid_value', '`to` must not be before from, which is 2026-01-15.'],
  [
    DMARC,
    'from=2026-01-15&to=2027-01-16',
    'invalid_value',
    /at most 366 days, not 367; .* to can be 2027-01-15 at most/,
  ],
  [
    DMARC,
    `${ONE_DAY}&domain=a.example,no%20name`,
    'invalid_value',
    /hostnames with commas .* and "no name" is none\.$/,
  ],
]

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
