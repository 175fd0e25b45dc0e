import type { ServerOptions } from '../../src/server/options.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { freshPrefix, sharedRedis } from '../support/redis-server.ts'

/** The key of the account `default`. */
export const KEY = 'the-key-of-default'

/** Starts two servers that are one service on the Redis of all tests. */
export async function startTwo(options: ServerOptions = {}): Promise<[ControlPlane, ControlPlane]> {
  const { url } = await sharedRedis()
  // The clock is that of Redis.
  const common = { store: url, storePrefix: freshPrefix(), apiKey: KEY, clock: undefined, ...options }
  return [await startControlPlane(common), await startControlPlane(common)]
}
