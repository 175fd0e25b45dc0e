import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maskStoreUrl, readStoreUrl, STORE_REMEDY } from '../../src/server/store-url.ts'

const tcp = (more: object) => ({
  ...{ kind: 'tcp', host: 'db.example', port: 6379, tls: false, username: undefined, password: undefined, database: 0 },
  ...more,
})
const socket = (more: object) => ({ kind: 'unix', username: undefined, password: undefined, database: 0, ...more })

describe('the URL of a store', () => {
  it.each<[written: string, address: object, shown: string]>([
    ['redis://db.example', tcp({}), 'redis://db.example:6379/0'],
    ['redis://db.example:7000/3', tcp({ port: 7000, database: 3 }), 'redis://db.example:7000/3'],
    ['rediss://db.example', tcp({ tls: true }), 'rediss://db.example:6379/0'],
    ['valkeys://db.example', tcp({ tls: true }), 'valkeys://db.example:6379/0'],
    ['redis://[::1]:7000', tcp({ host: '::1', port: 7000 }), 'redis://[::1]:7000/0'],
    ['redis://:secret@db.example', tcp({ password: 'secret' }), 'redis://db.example:6379/0'],
    [
      'redis://app:a:b%40%2F@db.example/1',
      tcp({ username: 'app', password: 'a:b@/', database: 1 }),
      'redis://db.example:6379/1',
    ],
    ['unix:/run/redis.sock', socket({ path: '/run/redis.sock' }), 'unix:/run/redis.sock'],
    ['unix:///run/my%20redis@1.sock', socket({ path: '/run/my redis@1.sock' }), 'unix:/run/my redis@1.sock'],
    [
      'unix://app:secret@/run/redis.sock?db=2',
      socket({ path: '/run/redis.sock', username: 'app', password: 'secret', database: 2 }),
      'unix:/run/redis.sock?db=2',
    ],
  ])('%s is read', (written, address, shown) => {
    expect(readStoreUrl(written)).toEqual({ address, shown })
  })

  it.each<[written: string, remedy: string | RegExp, shown: string]>([
    ['', STORE_REMEDY, ''],
    ['6379', STORE_REMEDY, '6379'],
    ['http://db.example', STORE_REMEDY, 'http://db.example'],
    ['redis:db.example', STORE_REMEDY, 'redis:…'],
    ['redis://', 'must name a host, such as redis://127.0.0.1:6379', 'redis://'],
    ['redis://db.example:0', 'must have a port from 1 to 65535', 'redis://db.example:…'],
    ['redis://default:secret', 'must have a port from 1 to 65535', 'redis://default:…'],
    ['redis://app:secret@db.example:port', 'must have a port from 1 to 65535', 'redis://…@db.example:…'],
    ['redis://db.example/one', /^must have the number of a database from 0 to /, 'redis://db.example/…'],
    ['redis://db.example/99999', /^must have the number of a database from 0 to /, 'redis://db.example/99999'],
    ['redis://db.example?db=1', /^must end after the database, /, 'redis://db.example?…'],
    ['redis://db.example#secret', /^must end after the database, /, 'redis://db.example?…'],
    ['redis://app:se/cret@db.example', /^must have percent-encoding in user and password: /, 'redis://…@db.example'],
    ['redis://app:se@cret@db.example', /^must have percent-encoding in user and password: /, 'redis://…@db.example'],
    ['redis://a,b.example', 'must name a host by its name or address, such as redis://127.0.0.1:6379', 'redis://…'],
    ['redis://db.example ', 'must be a URL without spaces; write %20 for a space', 'redis://…'],
    ['unix:redis.sock', 'must be the whole path of a socket, such as unix:/run/redis.sock', 'unix:…'],
    [`unix:/${'x'.repeat(107)}`, 'must have a path of at most 107 bytes', `unix:/${'x'.repeat(107)}`],
    [`redis://${'x'.repeat(2_000)}`, 'must be a URL of at most 2000 characters', '…'],
  ])('%s is refused', (written, remedy, shown) => {
    const reading = readStoreUrl(written)
    expect(reading).toEqual({ remedy: typeof remedy === 'string' ? remedy : expect.stringMatching(remedy) })
    expect(maskStoreUrl(written)).toBe(shown)
  })

  it('is never shown with its password, wherever it goes wrong', () => {
    // What no other part of a URL can be mistaken for.
    const secret = fc.stringMatching(/^[G-Z!-~]{6,12}$/).map((text) => `Q${text}Q`)
    const scheme = fc.constantFrom('redis://', 'rediss://', 'valkey://', 'redis:', 'unix://', 'unix:', 'http://', '')
    const user = fc.constantFrom(':', 'app:', 'app: ', '')
    const rest = fc.constantFrom(
      '@db.example',
      '@db.example:x',
      '@db.example/y',
      '@/run/redis.sock',
      '@',
      '@db.example:6379/0',
    )
    fc.assert(
      fc.property(scheme, user, secret, rest, (...parts) => {
        const [, , hidden] = parts
        const reading = readStoreUrl(parts.join(''))
        expect('remedy' in reading ? reading.remedy : reading.shown).not.toContain(hidden)
        expect(maskStoreUrl(parts.join(''))).not.toContain(hidden)
      }),
      { seed: 5, numRuns: 300 },
    )
  })
})
