import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { ALL_CORES, freePort, printed, startProgram } from './processes.mjs'

const REDIS = 'redis-server'

/**
 * Redis in its usual form, but without what it would write to disk, which `losses.mjs` measures; `undefined` where there is none.
 * `options` are those of a server that uses it.
 */
export async function startRedis(folder) {
  if (spawnSync(REDIS, ['--version']).status !== 0) {
    console.log(`Left out: --store, because there is no ${REDIS}.\n`)
    return undefined
  }
  mkdirSync(folder)
  const port = await freePort()
  const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
  const child = startProgram(settings, { program: REDIS, cores: ALL_CORES, isHeld: false })
  await printed(child, /(Ready to accept connections)/)
  child.stdout.resume()
  return { pid: child.pid, port, options: ['--store', `redis://127.0.0.1:${port}`] }
}
