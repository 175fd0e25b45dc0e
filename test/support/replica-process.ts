import { setTimeout as pause } from 'node:timers/promises'
import { spawnProgram } from './program-process.ts'
import type { Replica, ReplicaOptions } from './replicas.ts'
import { type RunningProgram, ready } from './running-program.ts'
import { API_KEY } from './service.ts'

/** Starts the built program as a process of its own. */
export async function startReplicaProcess({ store, prefix }: ReplicaOptions): Promise<Replica> {
  const shared = ['--store', store, '--store-prefix', prefix]
  const args = ['serve', '--port', '0', ...shared, '--fixture', 'empty', '--api-key', API_KEY]
  let running: RunningProgram | undefined
  const replica: Replica = {
    baseUrl: undefined,
    async start() {
      running = spawnProgram([...args, '--log-level', 'warn'])
      replica.baseUrl = (await ready(running)).baseUrl
    },
    async kill() {
      replica.baseUrl = undefined
      running?.stop('SIGKILL')
      await running?.ended
    },
    pause: () => running?.stop('SIGSTOP'),
    resume: () => running?.stop('SIGCONT'),
    async stop() {
      replica.baseUrl = undefined
      running?.stop('SIGCONT')
      running?.stop()
      await Promise.race([running?.ended, pause(5000, undefined, { ref: false })])
      running?.stop('SIGKILL')
      await running?.ended
    },
    stderr: () => running?.stderr() ?? '',
  }
  await replica.start()
  return replica
}
