import { describe, expect, it } from 'vitest'
import { deriveKey } from '../../src/ground/secrets.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import { startControlPlane } from '../support/control-plane.ts'
import { recordingLog } from '../support/recording-log.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const OPEN: ServerOptions = { host: '0.0.0.0', adminToken: 'token', seed: 7 }

describe('where other machines reach the server', () => {
  it('the key of the default account is another at each start, and none that derives from the seed', async () => {
    const keys = new Set<string | undefined>()
    for (let start = 0; start < 3; start++) {
      const { understudy, ask } = await startControlPlane(OPEN)
      keys.add(understudy.apiKey)
      expect((await ask(understudy.apiKey ?? '', 'GET', '/domains')).status).toBe(200)
      for (const seed of [7, 42]) {
        expect((await ask(deriveKey(seed, 'default'), 'GET', '/domains')).status).toBe(401)
      }
    }
    expect(keys.size).toBe(3)
    for (const key of keys) expect(key).toMatch(/^key_[0-9A-Za-z]{8}\.[0-9A-Za-z]{48}$/)
  })

  it('an account gets a random key, which only its creation tells, and so does each later key', async () => {
    const { post, get, ask, understudy } = await startControlPlane(OPEN)
    const { data } = await post('/accounts', { id: 'mine' })
    expect(data.api_key).not.toBe(deriveKey(7, 'mine'))
    expect((await ask(data.api_key, 'GET', '/domains')).status).toBe(200)
    expect((await get('/accounts/mine')).data.api_key).toBeNull()
    expect((await understudy.findAccount('mine')).apiKey).toBeUndefined()
    const { data: later } = await post('/accounts/mine/keys')
    expect(later.api_key).not.toBe(deriveKey(7, 'mine 1'))
    expect((await ask(later.api_key, 'GET', '/domains')).status).toBe(200)
    const account = await understudy.createAccount()
    expect((await ask(account.apiKey, 'GET', '/domains')).status).toBe(200)
  })

  it('with a folder, the first key holds, of which only the hash is kept', async () => {
    const data = temporaryFolder()
    const first = await startControlPlane({ ...OPEN, data })
    const key = first.understudy.apiKey ?? ''
    await first.stop()
    const second = await startControlPlane({ ...OPEN, data })
    expect(second.understudy.apiKey).toBeUndefined()
    expect((await second.ask(key, 'GET', '/domains')).status).toBe(200)
    expect(second.understudy.exposed).toEqual([])
  })

  it('with a folder of a start on a loopback address, it says whose keys anybody can compute', async () => {
    const data = temporaryFolder()
    const local = await startControlPlane({ data, seed: 7 })
    await local.create({ id: 'derived' })
    await local.create({ id: 'chosen', api_key: 'a-key-of-ours' })
    await local.create({ id: 'later', api_key: 'another-key' })
    await local.post('/accounts/later/keys')
    await local.post('/accounts/sandbox_x/keys')
    await local.stop()
    const log = recordingLog()
    const { understudy } = await startControlPlane({ ...OPEN, data, log })
    expect(understudy.exposed.toSorted()).toEqual([
      'default',
      'derived',
      'later',
      expect.stringMatching(/^sandbox:[0-9a-f]{8}$/),
    ])
    expect(log.warnings).toEqual([{ accounts: expect.arrayContaining(['derived']), count: 4 }])
  })
})
