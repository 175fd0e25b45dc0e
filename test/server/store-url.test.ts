import { describe, expect, it } from 'vitest'
import { maskStoreUrl, readStoreUrl } from '../../src/server/store-url.ts'

const tcp = (more: object) => ({
  ...{ host: 'db.example', port: 6379, tls: false, username: undefined, password: undefined, database: 0 },
  ...more,
})

describe('the URL of a store', () => {
  it.each<[written: string, address: object, shown: string]>([
    ['redis://db.example', tcp({}), 'redis://db.example:6379/0'],
    ['redis://db.example:7000/3', tcp({ port: 7000, database: 3 }), 'redis://db.example:7000/3'],
    ['rediss://db.example', tcp({ tls: true }), 'rediss://db.example:6379/0'],
    ['redis://[::1]:7000', tcp({ host: '::1', port: 7000 }), 'redis://[::1]:7000/0'],
    [
      'redis://app:a:b%40%2F@db.example/1',
      tcp({ username: 'app', password: 'a:b@/', database: 1 }),
      'redis://db.example:6379/1',
    ],
  ])('%s is read', (written, address, shown) => {
    expect(readStoreUrl(written)).toEqual({ address, shown })
  })

  it.each<[written: string, shown: string]>([
    ['', ''],
    ['http://db.example', 'http://…'],
    ['redis://db.example:0', 'redis://…'],
    ['redis://default:secret', 'redis://…'],
    ['redis://db.example/one', 'redis://…'],
    ['redis://db.example?db=1', 'redis://…'],
    ['redis://app:se/cret@db.example', 'redis://…'],
    ['redis://app:%zz@db.example', 'redis://…'],
    [`redis://${'x'.repeat(2_000)}`, 'redis://…'],
  ])('%s is refused', (written, shown) => {
    expect(readStoreUrl(written)).toBeUndefined()
    expect(maskStoreUrl(written)).toBe(shown)
  })
})
