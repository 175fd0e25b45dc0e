// What lives in a server after a collection.
import { fileURLToPath } from 'node:url'
import { printed } from './processes.mjs'

/** What `node` is started with, so that `liveBytes` can ask. */
export const LIVE_MEMORY = [
  '--expose-gc',
  '--import',
  fileURLToPath(new URL('servers/live-bytes.mjs', import.meta.url)),
]

export async function liveBytes(child) {
  const answer = printed(child, /live bytes: (\d+)/)
  child.kill('SIGUSR2')
  return Number(await answer)
}
