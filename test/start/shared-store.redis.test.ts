import { describe, expect, it } from 'vitest'
import { listenOn, tlsBefore } from '../support/listening.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { recordingLog } from '../support/recording-log.ts'
import { freshPrefix, HAS_REDIS, sharedRedis, startRedis } from '../support/redis-server.ts'
import { refusalOf, startUntilTestEnd } from '../support/refused-start.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

it.skipIf(!HAS_REDIS)(
  'A store that speaks TLS where the URL does not, or the other way round, is named with what helps',
  async () => {
    const plain = await sharedRedis()
    const port = await listenOn(tlsBefore(plain))
    expect(await refusalOf({ store: `redis://127.0.0.1:${port}` })).toMatch(/If it speaks TLS, write rediss:\/\/$/)
    expect(await refusalOf({ store: `rediss://127.0.0.1:${plain.port}` }, 0.1)).toMatch(
      /If it does not speak TLS, write redis:\/\/$/,
    )
    expect(await refusalOf({ store: `rediss://127.0.0.1:${port}` })).toMatch(
      /certificate; name the file of its authority in NODE_EXTRA_CA_CERTS$/,
    )
  },
)

describe.skipIf(!HAS_REDIS)('a store that others use, or have used', () => {
  async function shared(): Promise<{ store: string; storePrefix: string }> {
    return { store: (await sharedRedis()).url, storePrefix: freshPrefix() }
  }

  /** The same overlay in a file of its own, with this value of a setting. */
  const withNames = (value: string) => ({
    overlays: [
      writeOverlay(temporaryFolder(), [{ target: "$['x-settings']['international-names']", update: { value } }]),
    ],
  })

  it('is taken over by another contract when nobody uses it, as long as it can serve every account', async () => {
    const where = await shared()
    const first = await startUntilTestEnd({ ...where, ...withNames('u-label') })
    await first.account?.domains.add(['one.example'])
    await first.stop()
    const second = await startUntilTestEnd(where)
    expect(await second.account?.domains.list()).toMatchObject([{ domain: 'one.example' }])
    await second.stop()
    const third = await startUntilTestEnd({ ...where, ...withNames('u-label') })
    await third.account?.domains.add(['bücher.example'])
    await third.stop()
    expect(await refusalOf({ ...where, ...withNames('refused') })).toMatch(
      /was used with other contents of the overlays .+, and the account default cannot be served here: \/account\/domains\/1\/name is "bücher\.example" .+; start with the same overlays, or with another --store-prefix$/,
    )
    await startUntilTestEnd({ ...where, ...withNames('u-label') })
  })

  it('warns of a server that evicts', async () => {
    const redis = await startRedis({ 'maxmemory-policy': 'volatile-ttl', maxmemory: '100mb' })
    const said: string[] = []
    const log = { ...recordingLog(), warn: (_: object, message: string) => void said.push(message) }
    await startUntilTestEnd({ store: redis.url, log })
    expect(said).toEqual([
      'The setting maxmemory-policy of the store is volatile-ttl, so it deletes accounts when its memory is full; set it to noeviction.',
    ])
  })
})
