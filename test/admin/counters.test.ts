import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { budget } from '../support/budget.ts'
import { startControlPlane } from '../support/control-plane.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const KEYS = '/accounts/default/keys'
const WINDOWS = 10

it.each([
  ['memory', budget({ quick: 200, full: 1_000 })],
  ['a folder', budget({ quick: 50, full: 200 })],
])(
  'what was counted in %s is forgotten with its key and its window: %d keys later, it is as much as at the start',
  async (place, keys) => {
    const folder = place === 'memory' ? undefined : temporaryFolder()
    const {
      post,
      delete: remove,
      put,
      ask,
      understudy,
      advance,
      store,
    } = await startControlPlane(folder === undefined ? {} : { data: folder })
    const key = understudy.apiKey ?? ''
    const size = async () => {
      // A change of the account writes what was counted.
      await post('/accounts/default/faults', { respond: { error: 'internal_error' }, times: 1 })
      await remove('/accounts/default/faults')
      return folder === undefined
        ? (await store.counters('default')).quotas.size
        : statSync(join(folder, readdirSync(folder).find((name) => name.includes('default')) ?? '')).size
    }
    await ask(key, 'GET', '/domains')
    const before = await size()
    for (let window = 0; window < WINDOWS; window++) {
      for (let index = 0; index < keys / WINDOWS; index++) {
        const { data } = await post(KEYS, {})
        await ask(data.api_key, 'GET', '/domains')
        // Some keys are not deleted, and are not used in a later window.
        if (index % 10 > 0) await remove(`${KEYS}/${data.key.id}`)
      }
      advance(3_600_000)
      await ask(key, 'GET', '/domains')
    }
    if (folder === undefined) expect(await size()).toBe(before)
    await put('/accounts/default/state', {})
    expect((await post('/accounts/default/reset', {})).status).toBe(200)
    await ask(key, 'GET', '/domains')
    expect(Math.abs((await size()) - before)).toBeLessThan(200)
  },
  60_000,
)
