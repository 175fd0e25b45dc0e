import { describe, expect, it } from 'vitest'
import { placeOf, readdress, urlsFor } from '../../src/admin/address.ts'
import { startControlPlane } from '../support/control-plane.ts'
import { sendRequest } from '../support/request.ts'

const OWN = { baseUrl: 'http://127.0.0.1:4010/api/v1', adminUrl: 'http://127.0.0.1:4010/__admin' }

describe('The address of the server is', () => {
  it.each(['localhost:8080', 'dmarc_stand-in', 'balancer.example', '10.0.0.7:80', '[::1]:4010', '[2001:db8::7]'])(
    'that of the Host %s',
    (host) => {
      expect(urlsFor({ host }, OWN)).toEqual({ baseUrl: `http://${host}/api/v1`, adminUrl: `http://${host}/__admin` })
    },
  )

  it.each([
    ...[undefined, '', ':80', 'a:b', 'a:99999', 'a:1:2', 'user@a', 'a/b', 'a?b', 'a#b', 'a b', 'a\n', '1.2.3.4.5'],
    ...[
      '%41',
      "a'b",
      'a"b',
      '$(id)',
      '`id`',
      'a;id',
      'a&b',
      'a|b',
      '$HOME',
      'a*',
      '[::1',
      '[a]',
      '[::1]x',
      '[v1.a]',
      '{a,b}',
    ],
  ])('that at which it listens, for the Host %s', (host) => {
    expect(urlsFor({ host }, OWN)).toBe(OWN)
  })
})

it('The service has the address of a Host only if it answers to it', () => {
  const adminUrl = 'http://10.0.2.2:4010/__admin'
  expect(urlsFor({ host: '10.0.2.2:4010' }, OWN, () => false)).toEqual({ ...OWN, adminUrl })
  expect(urlsFor({ host: '10.0.2.2:4010' }, OWN, () => true)).toEqual({
    baseUrl: 'http://10.0.2.2:4010/api/v1',
    adminUrl,
  })
})

it.each([
  ['/mock', 'http://a.example:80/mock/'],
  ['/a/b%20c', 'http://a.example:80/a/b%20c/'],
  ["/a'b", 'http://a.example:80/'],
  ['//evil.example', 'http://a.example:80/'],
])('The server is below the path %s where an application has mounted it, if that needs no quotes', (baseUrl, root) => {
  const asked = urlsFor(placeOf({ headers: { host: 'a.example:80' }, baseUrl }), OWN)
  expect(asked).toEqual({ baseUrl: `${root}api/v1`, adminUrl: `${root}__admin` })
  expect(readdress('curl http://127.0.0.1:4010/x', OWN, asked)).toBe(`curl ${root}x`)
})

it.each([
  ['a.example:80', 'http://a.example:80/x', 'wherever a command names it'],
  ['[::1]:80', 'http://127.0.0.1:4010/x', 'but not in words that would have to be quoted for it'],
])('A command is changed for the Host %s to %s, %s', (host, url) => {
  const asked = urlsFor({ host }, OWN)
  const written = (address: string) => `curl '${address}' -H 'X: http://127.0.0.1:40100/'`
  expect(readdress(written('http://127.0.0.1:4010/x'), OWN, asked)).toBe(written(url))
})

it('Every command names the server as its caller does, and that of a call of the library names where it listens', async () => {
  const plane = await startControlPlane({ adminToken: 'token', journal: 1, cors: ['https://balancer.example'] })
  const { understudy, ask } = plane
  const { key } = await plane.create({ id: 'spare' })
  const own = new URL(understudy.baseUrl).host

  /** Every address of a server in the answers, after a violation. */
  async function addressesFor(host: string, path: string): Promise<string[]> {
    const { status, text } = await sendRequest('GET', `${new URL(understudy.baseUrl).origin}${path}`, undefined, {
      host,
      authorization: 'Bearer token',
    })
    expect(status).toBe(200)
    return [...new Set([...text.matchAll(/http:\/\/([^/'"\\]+)/g)].map(([, address = '']) => address))]
  }

  const { headers } = await ask(key, 'POST', '/domains', { domain: 1 })
  const [explanation, coverage] = [`/__admin/explain/${headers['x-request-id']}`, '/__admin/accounts/spare/coverage']
  const paths = [explanation, coverage, '/__admin/verdict']
  for (const path of paths)
    expect(await addressesFor('balancer.example:8443', path), path).toEqual(['balancer.example:8443'])
  for (const path of paths) expect(await addressesFor("it's", path), path).toEqual([own])
  expect(await addressesFor('localhost:8443', '/')).toEqual(['localhost:8443'])
  expect((await understudy.verdict()).violations.first[0]?.correction).toContain(`http://${own}/`)
  // Now only the verdict knows the request.
  await plane.delete('/accounts/spare')
  expect(await addressesFor('balancer.example:8443', explanation)).toEqual(['balancer.example:8443'])
  expect(await addressesFor('', explanation)).toEqual([own])
})
