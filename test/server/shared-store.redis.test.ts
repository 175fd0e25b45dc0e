import { expect, it } from 'vitest'
import { listenOn, tlsBefore } from '../support/listening.ts'
import { recordingLog } from '../support/recording-log.ts'
import { HAS_REDIS, sharedRedis, startRedis } from '../support/redis-server.ts'
import { refusalOf, startUntilTestEnd } from '../support/refused-start.ts'

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

it.skipIf(!HAS_REDIS)('A store that evicts is warned of', async () => {
  const redis = await startRedis({ 'maxmemory-policy': 'volatile-ttl', maxmemory: '100mb' })
  const said: string[] = []
  const log = { ...recordingLog(), warn: (_: object, message: string) => void said.push(message) }
  await startUntilTestEnd({ store: redis.url, log })
  expect(said).toEqual([
    'The setting maxmemory-policy of the store is volatile-ttl, so it deletes accounts when its memory is full; set it to noeviction.',
  ])
})
