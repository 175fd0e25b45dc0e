import type { ServerOptions } from '../../src/start/options.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { freshPrefix, sharedRedis } from '../support/redis-server.ts'

/** The key of the account `default`. */
export const KEY = 'the-key-of-default'

/** Starts two servers that are one service on the Redis of all tests. */
export async function startTwo(options: ServerOptions = {}): Promise<[ControlPlane, ControlPlane]> {
  const { url } = await sharedRedis()
  // The clock is that of Redis.
  const common = { store: url, storePrefix: freshPrefix(), apiKey: KEY, clock: undefined, ...options }
  const first = await startControlPlane(common)
  const second = await startControlPlane(common)
  // The first one learns only later that another one has joined; the third one knows it at once.
  await first.stop()
  return [second, await startControlPlane(common)]
}
