import { describe, expect, it } from 'vitest'
import { ACCOUNT, DAY, HOUR, instant, pathOf, SECOND_KEY, stateOf, withKey } from '../support/account.ts'
import { API_KEY, START, startService, type TestResponse, type TestService } from '../support/service.ts'
import {
  AUTHORIZED,
  Connection,
  chunked,
  codeOf,
  exchange,
  expectLawful,
  type Header,
  JSON_BODY,
  requestBytes,
  type WireResponse,
} from '../support/wire.ts'

const MEBIBYTE = 1_048_576

function hosts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `host-${index}.example`)
}

describe('The number of domains in a request', () => {
  it.each([
    [1, 200],
    [49, 200],
    [50, 200],
    [51, 413],
    [5000, 413],
  ])('to add them: %i are answered %i', async (count, status) => {
    const service = await startService()
    const response = await service.send('POST', '/domains', { domains: hosts(count) })
    expect(response.status).toBe(status)
    expect((await stateOf(service)).domains).toHaveLength(status === 200 ? count : 0)
  })

  it('counts entries before it is asked whether some are the same', async () => {
    const service = await startService()
    const { body } = await service.send('POST', '/domains', { domains: Array(51).fill('one.example') })
    expect(body.error.code).toBe('request_too_large')
  })

  it('does not matter to remove them or to make them members', async () => {
    const service = await startService({ fixture: { domains: hosts(200) } })
    const group = await service.send('POST', '/domaingroups', { name: 'All', domains: hosts(200) })
    expect(group.body.data.group.domains).toHaveLength(200)
    const replaced = await service.send('PATCH', await pathOf(service, 'All'), { domains: hosts(200).reverse() })
    expect(replaced.body.data.group.domains).toHaveLength(200)
    expect((await service.send('DELETE', '/domains', { domains: hosts(200) })).body.data.count).toBe(200)
  })

  it('does not matter in an account, however many there are', async () => {
    const service = await startService({ fixture: { domains: hosts(2000) } })
    expect((await service.get('/domains')).body.data.domains).toEqual(hosts(2000))
    expect((await service.get('/dmarc')).body.data).toHaveLength(2000)
  })
})

describe('The length of a group name', () => {
  it.each([
    ['accepts', 'a name of 1 character', 'x'],
    ['accepts', 'a name of 100 characters', 'x'.repeat(100)],
    ['accepts', 'a name of 1 character beyond the 16-bit range', '😀'],
    ['accepts', 'a name of 100 characters beyond the 16-bit range', '😀'.repeat(100)],
    ['accepts', 'a name of 100 code points that make 50 letters', 'e\u0301'.repeat(50)],
    ['accepts', 'a name with a zero-width joiner', 'a\u200db'],
    ['accepts', 'a name of 1 control character', '\u0007'],
    ['refuses', 'an empty name', ''],
    ['refuses', 'a name of 1 zero-width joiner', '\u200d'],
    ['refuses', 'a name of 1 zero-width space', '\u200b'],
    ['refuses', 'a name with U+0000', 'a\0'],
    ['refuses', 'a name with half of a surrogate pair', 'a\ud83d'],
    ['refuses', 'a name of 101 characters', 'x'.repeat(101)],
    ['refuses', 'a name of 101 characters beyond the 16-bit range', '😀'.repeat(101)],
    ['refuses', 'a name of 102 code points that make 51 letters', 'e\u0301'.repeat(51)],
  ])('%s %s', async (verb, _, name) => {
    const service = await startService({ fixture: ACCOUNT })
    const renamed = await service.send('PATCH', await pathOf(service, 'Sales'), { name })
    await service.send('PATCH', await pathOf(service, verb === 'accepts' ? name : 'Sales'), { name: 'Support' })
    const created = await service.send('POST', '/domaingroups', { name })
    for (const { body } of [renamed, created]) {
      if (verb === 'accepts') expect(body.data.group.name).toBe(name)
      else expect(body.error.code).toBe('invalid_name')
    }
  })
})

describe('A name of white space', () => {
  it.each([
    ['a space', ' '],
    ['a tab and a line feed', '\t\n'],
    ['a no-break space', '\u00a0'],
    ['an Ogham space mark', '\u1680'],
    ['an em space', '\u2003'],
    ['a line separator', '\u2028'],
    ['an ideographic space', '\u3000'],
    ['a byte order mark', '\ufeff'],
    ['100 spaces', ' '.repeat(100)],
  ])('is refused when it is %s', async (_, name) => {
    const service = await startService({ fixture: ACCOUNT })
    const created = await service.send('POST', '/domaingroups', { name })
    const renamed = await service.send('PATCH', await pathOf(service, 'Sales'), { name })
    expect([created.body.error.code, renamed.body.error.code]).toEqual(['invalid_name', 'invalid_name'])
  })

  it('is kept around visible characters', async () => {
    const service = await startService()
    const { body } = await service.send('POST', '/domaingroups', { name: '  Sales\u3000' })
    expect(body.data.group.name).toBe('  Sales\u3000')
    expect((await service.send('POST', '/domaingroups', { name: 'Sales' })).status).toBe(200)
  })
})

describe('Two names', () => {
  it.each([
    ['in other case', 'Marketing', 'mARKETING'],
    ['composed and decomposed', 'Caf\u00e9', 'CAFE\u0301'],
    ['with ß and SS', 'Straße', 'STRASSE'],
    ['with both forms of sigma', 'ΟΔΟΣ', 'οδος'],
    ['with both small forms of sigma', 'οδός', 'οδόσ'],
    ['with the ligature fi', '\ufb01ne', 'FINE'],
    ['of Cyrillic letters', 'ПРОДАЖИ', 'продажи'],
    ['of letters beyond the 16-bit range', '\u{10400}', '\u{10428}'],
    ['with the Kelvin sign', '\u212a', 'k'],
  ])('%s are one: %s and %s', async (_, one, other) => {
    const service = await startService()
    expect((await service.send('POST', '/domaingroups', { name: one })).status).toBe(200)
    expect((await service.send('POST', '/domaingroups', { name: other })).body.error.code).toBe('duplicate_name')
  })

  it.each([
    ['with and without an accent', 'Cafe', 'Café'],
    ['with a space more', 'Sales', 'Sales '],
    ['of letters that look alike', 'A', '\u0410'],
    ['in full width', 'A', '\uff21'],
    ['with and without a joiner', 'ab', 'a\u200db'],
  ])('%s are two: %s and %s', async (_, one, other) => {
    const service = await startService()
    expect((await service.send('POST', '/domaingroups', { name: one })).status).toBe(200)
    expect((await service.send('POST', '/domaingroups', { name: other })).status).toBe(200)
  })
})

describe('A renamed group', () => {
  it.each([
    ['in other case', 'SALES'],
    ['to what it is', 'Sales'],
  ])('may be called as before %s', async (_, name) => {
    const service = await startService({ fixture: ACCOUNT })
    const { body } = await service.send('PATCH', await pathOf(service, 'Sales'), { name })
    expect(body.data.group.name).toBe(name)
    expect((await service.send('POST', '/domaingroups', { name: 'sales' })).body.error.code).toBe('duplicate_name')
  })

  it('frees its former name and takes the new one', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await service.send('PATCH', await pathOf(service, 'Sales'), { name: 'Support' })
    expect((await service.send('POST', '/domaingroups', { name: 'SUPPORT' })).body.error.code).toBe('duplicate_name')
    expect((await service.send('POST', '/domaingroups', { name: 'sales' })).status).toBe(200)
  })

  it('may swap names with another in three steps', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const [sales, marketing] = [await pathOf(service, 'Sales'), await pathOf(service, 'Marketing')]
    await service.send('PATCH', sales, { name: 'x' })
    await service.send('PATCH', marketing, { name: 'Sales' })
    await service.send('PATCH', sales, { name: 'Marketing' })
    expect((await service.get(sales)).body.data.group.name).toBe('Marketing')
  })
})

describe('The size of a body', () => {
  const SIZES = [
    ['a byte less than 1 MiB passes', MEBIBYTE - 1, undefined],
    ['exactly 1 MiB passes', MEBIBYTE, undefined],
    ['a byte more than 1 MiB is refused', MEBIBYTE + 1, 'request_too_large'],
    ['4 MiB are refused', 4 * MEBIBYTE, 'request_too_large'],
  ] as const

  it.each(SIZES)('may be announced by Content-Length, and %s', async (_, size, code) => {
    const service = await startService()
    const body = '{"domains":["one.example"]}'.padEnd(size)
    expect(codeOf(await addDomains(service, body, []))).toBe(code)
  })

  it.each(SIZES)('may be unknown until the last chunk, and %s', async (_, size, code) => {
    const service = await startService()
    const body = chunked('{"domains":["one.example"]}'.padEnd(size))
    expect(codeOf(await addDomains(service, body, [['Transfer-Encoding', 'chunked']]))).toBe(code)
  })

  /** Expects the connection to be in order afterwards: what is not read of a body must be read past. */
  async function addDomains(
    service: TestService,
    body: string | Buffer,
    headers: readonly Header[],
  ): Promise<WireResponse> {
    const connection = await Connection.open(service)
    const request = { method: 'POST', target: '/api/v1/domains', headers: [AUTHORIZED, JSON_BODY, ...headers], body }
    await connection.write(requestBytes(request))
    const response = await connection.next()
    expectLawful(service, request, response)
    await connection.write(requestBytes({ target: '/api/v1/domains' }))
    expect((await connection.next()).status).toBe(200)
    await connection.destroy()
    return response
  }

  it('counts bytes, not characters', async () => {
    const service = await startService()
    const name = (letters: number) => JSON.stringify({ name: '😀'.repeat(letters) })
    const fitting = await service.send('POST', '/domaingroups', name((MEBIBYTE - 12) / 4))
    expect(fitting.body.error.code).toBe('invalid_name')
    const larger = await service.send('POST', '/domaingroups', name((MEBIBYTE - 8) / 4))
    expect(larger.body.error.code).toBe('request_too_large')
  })

  it('is no matter on GET and on DELETE /domaingroups, which read no body', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const body = ' '.repeat(MEBIBYTE + 1)
    const read = await exchange(service, { target: '/api/v1/domains', headers: [AUTHORIZED], body })
    expect(read.status).toBe(200)
    expect((await service.send('DELETE', await pathOf(service, 'Sales'), body)).status).toBe(200)
  })
})

describe('A hostname', () => {
  const LABEL = 'a'.repeat(63)
  const LONGEST = `${`${LABEL}.`.repeat(3)}${'b'.repeat(61)}`

  it.each([
    ['in lower case', 'one.example', 'one.example'],
    ['in upper case', 'ONE.Example', 'one.example'],
    ['with a final dot', 'one.example.', 'one.example'],
    ['of a digit and a letter', '1.a', '1.a'],
    ['with inner hyphens', 'a--b.ex-ample', 'a--b.ex-ample'],
    ['with a label of 63 characters', `${LABEL}.example`, `${LABEL}.example`],
    ['of 253 characters', LONGEST, LONGEST],
    ['of 253 characters and a final dot', `${LONGEST}.`, LONGEST],
    ['in U-labels', 'bücher.example', 'xn--bcher-kva.example'],
    ['in upper-case U-labels', 'BÜCHER.example', 'xn--bcher-kva.example'],
    ['in decomposed U-labels', 'bu\u0308cher.example', 'xn--bcher-kva.example'],
    ['in A-labels', 'XN--bcher-KVA.example', 'xn--bcher-kva.example'],
    ['with an ideographic full stop', '例え。テスト', 'xn--r8jz45g.xn--zckzah'],
    ['in full width', 'ｏｎｅ.example', 'one.example'],
    ['with ß', 'straße.example', 'xn--strae-oqa.example'],
    ['with a last label that has a letter', '192.0.2.1a', '192.0.2.1a'],
  ])('%s is kept and answered in canonical form', async (_, given, canonical) => {
    const service = await startService()
    const added = await service.send('POST', '/domains', { domains: [given] })
    expect(added.body.data.domains).toEqual([canonical])
    expect((await service.get('/domains')).body.data.domains).toEqual([canonical])
    expect((await service.get('/dmarc')).body.data).toMatchObject([{ domain: canonical }])
    const group = await service.send('POST', '/domaingroups', { name: 'x', domains: [given] })
    expect(group.body.data.group.domains).toEqual([canonical])
    const update = await service.send('PATCH', await pathOf(service, 'x'), { remove_domains: [given] })
    expect(update.body.data.group.domains).toEqual([])
    const deleted = await service.send('DELETE', '/domains', { domains: [given] })
    expect(deleted.body.data.domains).toEqual([canonical])
  })

  it.each([
    ['an empty text', ''],
    ['a dot', '.'],
    ['one label', 'localhost'],
    ['one label with a final dot', 'example.'],
    ['two final dots', 'one.example..'],
    ['an empty label', 'one..example'],
    ['a dot before it', '.one.example'],
    ['a label of 64 characters', `${'a'.repeat(64)}.example`],
    ['254 characters', `${LONGEST}b`],
    ['a label that is too long as an A-label', `${'ü'.repeat(60)}.example`],
    ['a hyphen at the start of a label', '-one.example'],
    ['a hyphen at the end of a label', 'one-.example'],
    ['an underscore', '_dmarc.one.example'],
    ['a wildcard', '*.one.example'],
    ['a last label of digits', 'one.123'],
    ['an IPv4 address', '192.0.2.1'],
    ['an IPv4 address in hexadecimal', '0xc0.0.2.1'],
    ['an IPv4 address in full-width digits', '１９２.0.2.1'],
    ['an IPv6 address', '2001:db8::1'],
    ['an IPv6 address in brackets', '[2001:db8::1]'],
    ['a URL', 'https://one.example'],
    ['a path', 'one.example/'],
    ['a port', 'one.example:25'],
    ['a query', 'one.example?x'],
    ['a fragment', 'one.example#x'],
    ['a mailbox', 'user@one.example'],
    ['a percent-encoded letter', '%6fne.example'],
    ['a space before it', ' one.example'],
    ['a space after it', 'one.example '],
    ['a space in it', 'o ne.example'],
    ['a tab', 'one\t.example'],
    ['a line feed after it', 'one.example\n'],
    ['NUL', 'one\0.example'],
    ['a no-break space', 'one\u00a0.example'],
    ['a soft hyphen alone in a label', '\u00ad.example'],
    ['a bogus A-label', 'xn--a.example'],
    ['an A-label of ASCII', 'xn--one-.example'],
    ['a lone surrogate', '\ud800.example'],
    ['mixed directions in a label', 'a\u05d0b.example'],
    ['a backslash', 'one\\.example'],
  ])('is not %s', async (_, text) => {
    const service = await startService({ fixture: ACCOUNT })
    for (const [method, path, body] of [
      ['POST', '/domains', { domains: [text] }],
      ['DELETE', '/domains', { domains: [text] }],
      ['POST', '/domaingroups', { name: 'x', domains: [text] }],
      ['PATCH', await pathOf(service, 'Sales'), { domains: [text] }],
      ['PATCH', await pathOf(service, 'Sales'), { add_domains: [text] }],
    ] as const) {
      expect((await service.send(method, path, body)).body.error?.code).toBe('invalid_domain')
    }
    const ignored = await service.send('PATCH', await pathOf(service, 'Sales'), { remove_domains: [text] })
    expect(ignored.status).toBe(200)
  })

  it('is found as a member in every spelling, and repeats of it are stored once', async () => {
    const service = await startService({ fixture: { domains: ['xn--bcher-kva.example', 'one.example'] } })
    const domains = ['BÜCHER.example', 'one.example.', 'bücher.example', 'ONE.example']
    const { body } = await service.send('POST', '/domaingroups', { name: 'x', domains })
    expect(body.data.group.domains).toEqual(['xn--bcher-kva.example', 'one.example'])
  })
})

describe('A quota', () => {
  const UNTIL_END = HOUR / 2

  it('begins anew exactly at the end of the hour and not a millisecond before', async () => {
    const service = await startService()
    for (let request = 0; request < 10; request++) await service.get('/dmarc')
    service.advance(UNTIL_END - 1)
    const late = await service.get('/dmarc')
    expect([late.status, reset(late)]).toEqual([429, START / 1000 + 1800])
    service.advance(1)
    const fresh = await service.get('/dmarc')
    expect([fresh.status, remaining(fresh), reset(fresh)]).toEqual([200, 9, START / 1000 + 5400])
  })

  it('begins with the hour and not with the first request in it', async () => {
    const service = await startService()
    service.advance(UNTIL_END - 1)
    for (let request = 0; request < 10; request++) await service.get('/dmarc')
    service.advance(1)
    for (let request = 0; request < 10; request++) expect((await service.get('/dmarc')).status).toBe(200)
  })

  it.each([
    ['/dmarc', 10],
    ['/domains', 30],
    ['/domaingroups', 100],
  ])('of %s counts down from %i to 0 and stays there', async (path, limit) => {
    const service = await startService()
    for (let left = limit - 1; left >= 0; left--) {
      const response = await service.get(path)
      expect([response.status, remaining(response), limitOf(response)]).toEqual([200, left, limit])
    }
    for (let over = 0; over < 3; over++) {
      const response = await service.get(path)
      expect([response.status, remaining(response), limitOf(response)]).toEqual([429, 0, limit])
    }
  })

  it('remembers nothing of what it refused once the hour is over', async () => {
    const service = await startService()
    for (let request = 0; request < 35; request++) await service.get('/domains')
    service.advance(UNTIL_END)
    expect(remaining(await service.get('/domains'))).toBe(29)
  })

  it.each<[what: string, charged: number, method: string, path: string, body?: unknown, headers?: object]>([
    ['no key', 0, 'GET', '/domains', undefined, { authorization: null }],
    ['an unknown key', 0, 'GET', '/domains', undefined, { authorization: 'Bearer unknown' }],
    ['an unknown path', 0, 'GET', '/domains/x'],
    ['a wrong method', 0, 'PUT', '/domains', { domains: ['new.example'] }],
    ['another path', 0, 'GET', '/dmarc'],
    ['HEAD', 1, 'HEAD', '/domains'],
    ['a change', 1, 'POST', '/domains', { domains: ['new.example'] }],
    ['another Content-Type', 1, 'POST', '/domains', '{}', { 'content-type': 'text/plain' }],
    ['a body that is no JSON', 1, 'POST', '/domains', '{'],
    ['a body that is too large', 1, 'POST', '/domains', ' '.repeat(MEBIBYTE + 1)],
    ['an unsupported field', 1, 'POST', '/domains', { x: 1 }],
    ['a domain that is none', 1, 'POST', '/domains', { domains: ['x'] }],
    ['a domain in use', 1, 'DELETE', '/domains', { domains: ['used.example'] }],
  ])('is charged for a request with %s by %i', async (_, charged, method, path, body, headers) => {
    const service = await startService({ fixture: ACCOUNT })
    await service.send(method, path, body, { ...headers })
    expect(remaining(await service.get('/domains'))).toBe(29 - charged)
  })

  it('is charged for a group that is not found', async () => {
    const service = await startService()
    await service.get('/domaingroups?id=00000000')
    expect(remaining(await service.get('/domaingroups'))).toBe(98)
  })

  it('is not charged by an account whose plan is below Stone', async () => {
    const service = await startService({ plan: 'below-stone' })
    const { headers } = await service.get('/domains')
    expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([])
  })

  it('is one for all methods of a path', async () => {
    const service = await startService({ fixture: ACCOUNT })
    expect(remaining(await service.get('/domains'))).toBe(29)
    expect(remaining(await service.send('POST', '/domains', { domains: ['new.example'] }))).toBe(28)
    expect(remaining(await service.send('DELETE', '/domains', { domains: ['new.example'] }))).toBe(27)
    const sales = await pathOf(service, 'Sales')
    expect(remaining(await service.get('/domaingroups'))).toBe(99)
    expect(remaining(await service.get(sales))).toBe(98)
    expect(remaining(await service.send('POST', '/domaingroups', { name: 'x' }))).toBe(97)
    expect(remaining(await service.send('PATCH', sales, { name: 'y' }))).toBe(96)
    expect(remaining(await service.send('DELETE', sales))).toBe(95)
  })

  it('is another for each path', async () => {
    const service = await startService()
    for (let request = 0; request < 11; request++) await service.get('/dmarc')
    expect(remaining(await service.get('/domains'))).toBe(29)
    expect(remaining(await service.get('/domaingroups'))).toBe(99)
  })

  it('is another for each key', async () => {
    const service = await startService({ fixture: ACCOUNT })
    for (let request = 0; request < 11; request++) await service.get('/dmarc')
    const second = await service.send('GET', '/dmarc', undefined, withKey(SECOND_KEY))
    expect([second.status, remaining(second)]).toEqual([200, 9])
  })

  it('is counted on but refuses nothing where it is not enforced', async () => {
    const service = await startService({ enforceQuotas: false })
    for (let request = 0; request < 12; request++) await service.get('/dmarc')
    const response = await service.get('/dmarc')
    expect([response.status, remaining(response), limitOf(response)]).toEqual([200, 0, 10])
  })
})

describe('The grace period of a new key', () => {
  const AT_START = instant(0)

  it.each([
    ['/dmarc', 100, 10],
    ['/domains', 300, 30],
    ['/domaingroups', 1000, 100],
  ])('multiplies the limit of %s by ten, to %i, until 7 days after its creation', async (path, higher, ordinary) => {
    const service = await startService({ fixture: { keys: [{ key: SECOND_KEY, created_at: AT_START }] } })
    const ask = () => service.send('GET', path, undefined, withKey(SECOND_KEY))
    expect(limitOf(await ask())).toBe(higher)
    service.advance(7 * DAY - 1)
    expect(limitOf(await ask())).toBe(higher)
    service.advance(1)
    expect(limitOf(await ask())).toBe(ordinary)
  })

  it('lets 100 requests for /dmarc pass in an hour and no more', async () => {
    const service = await startService({ fixture: { keys: [{ key: SECOND_KEY, created_at: AT_START }] } })
    for (let left = 99; left >= 0; left--) {
      const response = await service.send('GET', '/dmarc', undefined, withKey(SECOND_KEY))
      expect([response.status, remaining(response)]).toEqual([200, left])
    }
    expect((await service.send('GET', '/dmarc', undefined, withKey(SECOND_KEY))).status).toBe(429)
  })

  it('ends for the hour that has begun, too: what was used counts against the ordinary limit', async () => {
    const service = await startService({ fixture: { keys: [{ key: SECOND_KEY, created_at: instant(1 - 7 * DAY) }] } })
    const ask = () => service.send('GET', '/dmarc', undefined, withKey(SECOND_KEY))
    for (let request = 0; request < 20; request++) expect((await ask()).status).toBe(200)
    service.advance(1)
    const refused = await ask()
    expect([refused.status, remaining(refused), limitOf(refused)]).toEqual([429, 0, 10])
  })

  it('is over for the key of an account that says nothing else', async () => {
    const service = await startService()
    expect(limitOf(await service.get('/dmarc'))).toBe(10)
  })

  it('belongs to the key and not to the account', async () => {
    const service = await startService({ fixture: { keys: [{ key: SECOND_KEY, created_at: AT_START }] } })
    expect(limitOf(await service.send('GET', '/dmarc', undefined, withKey(SECOND_KEY)))).toBe(100)
    expect(limitOf(await service.send('GET', '/dmarc', undefined, withKey(API_KEY)))).toBe(10)
  })
})

function limitOf({ headers }: TestResponse): number {
  return Number(headers['x-ratelimit-limit'])
}

function remaining({ headers }: TestResponse): number {
  return Number(headers['x-ratelimit-remaining'])
}

function reset({ headers }: TestResponse): number {
  return Number(headers['x-ratelimit-reset'])
}
