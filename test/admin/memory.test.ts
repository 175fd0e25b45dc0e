import { describe, expect, it } from 'vitest'
import { OptionError, startUnderstudy } from '../../src/index.ts'
import { withKey } from '../support/account.ts'
import { askControl, startControlPlane } from '../support/control-plane.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { asks } from '../support/rows.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Not the store of the test, which has no limit. */
const LIMITED = { maxMemory: 32 * 2 ** 20, store: undefined }
/** About 18 MiB by weight, which is more than half of what accounts may have of 32 MiB. */
const LARGE = { domains: Array.from({ length: 30_000 }, (_, index) => `host-${index}.example`) }
/** About 6 MiB. */
const FAIR = { domains: LARGE.domains.slice(0, 9_000) }

describe('Where the memory for accounts is used up', () => {
  it('the control plane answers 507, says who holds what, and changes nothing', async () => {
    const service = await startService({ ...LIMITED, fixture: 'empty' })
    for (const refused of [
      asks('PUT', '/accounts/default/state', LARGE),
      asks('POST', '/accounts', { id: 'other', fixture: LARGE }),
      asks('POST', '/accounts/default/reset', { fixture: LARGE }),
    ]) {
      const refusal = await refused(service)
      expect([refusal.status, refusal.error.code]).toEqual([507, 'insufficient_storage'])
      expect(refusal.error.message).toMatch(
        /would need [\d.]+ MiB more: it holds [\d.]+ MiB, and [\d.]+ of 24 MiB are free\./,
      )
    }
    expect((await askControl(service, 'GET', '/accounts')).data.accounts).toMatchObject([{ id: 'default', domains: 0 }])
  })

  it('an account still reads and removes, and others still change', async () => {
    const service = await startService({ ...LIMITED, fixture: 'empty', enforceQuotas: false })
    await askControl(service, 'PUT', '/accounts/default/state', FAIR)
    const other = await askControl(service, 'POST', '/accounts', { id: 'other' })
    const names = Array.from({ length: 30_000 }, (_, index) => `more-${index}.example`)
    let added = 0
    for (let status = 200; status === 200; added += 50) {
      status = (await service.send('POST', '/domains', { domains: names.slice(added, added + 50) })).status
    }
    const refused = await service.send('POST', '/domains', { domains: names.slice(added, added + 50) })
    expect([refused.status, refused.body.error.code]).toEqual([500, 'internal_error'])
    const { data } = await askControl(service, 'GET', `/explain/${refused.headers['x-request-id']}`)
    expect(data.summary).toMatch(
      /^The stand-in itself failed, .* The account "default" would need 0 MiB more: it holds/,
    )
    expect((await service.send('GET', '/domains')).body.data.domains).toHaveLength(9_000 + added - 50)
    const add = (key?: string) =>
      service.send('POST', '/domains', { domains: names.slice(0, 50) }, key ? withKey(key) : {})
    expect((await add(other.data.api_key)).status).toBe(200)
    expect((await service.send('DELETE', '/domains', { domains: names.slice(0, 1_000) })).status).toBe(200)
    expect((await add()).status).toBe(200)
  })

  it('snapshots of a state that does not change cost next to nothing, and those of changes are refused in the end', async () => {
    const service = await startService({ ...LIMITED, fixture: 'empty' })
    await askControl(service, 'PUT', '/accounts/default/state', FAIR)
    for (let index = 0; index < 16; index++) {
      expect((await askControl(service, 'POST', '/accounts/default/snapshots', { name: `s${index}` })).status).toBe(201)
    }
    const other = { domains: LARGE.domains.slice(0, 13_000).map((name) => `new-${name}`) }
    expect((await askControl(service, 'PUT', '/accounts/default/state', {})).status).toBe(200)
    expect((await askControl(service, 'PUT', '/accounts/default/state', other)).status).toBe(507)
    const restored = await askControl(service, 'POST', '/accounts/default/snapshots/s3/restore')
    expect(restored.data.account.domains).toBe(9_000)
  })

  it('a new sandbox has the room of one that nobody has changed, as often as one is opened', async () => {
    const service = await startService({ ...LIMITED, fixture: { domains: LARGE.domains.slice(0, 2_000) } })
    for (let index = 0; index < 30; index++) {
      const { status } = await service.send('GET', '/domains', undefined, withKey(`sandbox_${index}`))
      expect(status).toBe(200)
    }
    const { count } = (await askControl(service, 'GET', '/accounts')).data
    expect(count).toBeGreaterThan(4)
    expect(count).toBeLessThan(12)
  })

  it('a new sandbox is refused like an unknown key when all were changed', async () => {
    const service = await startService({ ...LIMITED, fixture: { domains: LARGE.domains.slice(0, 2_000) } })
    const statuses = []
    for (let index = 0; index < 30; index++) {
      const added = { domains: ['added.example'] }
      statuses.push((await service.send('POST', '/domains', added, withKey(`sandbox_${index}`))).status)
    }
    expect([...new Set(statuses)]).toEqual([200, 401])
    expect((await service.get('/domains')).status).toBe(200)
  })

  it('a start with kept accounts that do not fit is refused with one line', async () => {
    const data = temporaryFolder()
    const fixture = { domains: LARGE.domains.flatMap((name) => [name, `other-${name}`]) }
    const service = await startUnderstudy({ data, fixture })
    await service.stop()
    const { code, stderr } = await runInProcess(['serve', '--port', '0', '--data', data, '--max-memory', '32MiB'])
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/^dmarc-understudy: The accounts need more than 24 MiB .*--max-memory more\.?\n$/),
    ])
  })

  it('what an account lacks is refused as long as it has no room for it', async () => {
    const plane = await startControlPlane({ store: undefined, maxMemory: 32 * 2 ** 20 })
    const names = (from: number) =>
      Array.from({ length: 50 }, (_, index) => `d${from + index}.${'x'.repeat(60)}.${'y'.repeat(60)}.example`)
    // Smaller and smaller accounts, until there is hardly room for a domain.
    for (const size of [40_000, 4_000, 400]) {
      const fixture = { domains: Array.from({ length: size / 50 }, (_, index) => names(index * 50)).flat() }
      let made = 201
      for (let count = 0; made === 201; count++) {
        made = (await plane.post('/accounts', { id: `of-${size}-${count}`, fixture })).status
      }
      expect(made).toBe(507)
    }
    let status = 201
    for (let count = 0; status === 201 && count < 4_000; count++) {
      status = (await plane.post('/accounts/default/domains', { domains: names(count * 50) })).status
    }
    expect(status).toBe(507)
  })
})

it('The option maxMemory is at most what the heap of Node.js permits', async () => {
  const refusal = await startUnderstudy({ maxMemory: 2 ** 40 }).catch((error) => error)
  expect(refusal).toBeInstanceOf(OptionError)
  expect(refusal.message).toMatch(
    /^maxMemory 1099511627776: must be at most [\d.]+[MG]iB, because the heap of Node\.js ends at .*; NODE_OPTIONS=--max-old-space-size=1747627 gives it more\.$/,
  )
})
