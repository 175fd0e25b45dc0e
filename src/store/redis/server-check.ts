import { elapsed } from '../../ground/clock.ts'
import { pause } from '../../ground/timers.ts'
import { StoreError } from '../store-error.ts'
import type { StoreConnection } from './connection.ts'

/** The first version whose scripts may run without memory, and that can be told so. */
const OLDEST = 7
/** In milliseconds, for how long the start waits for a server that is still loading its data. */
const LOADING = 1_500

export interface StoreServer {
  name: 'Redis' | 'Valkey'
  version: string
  /** A sentence about a setting of the server that may cause the loss of accounts. */
  warning: string | undefined
}

/**
 * Checks whether the server can be the store, before any data is written.
 * @throws StoreError `unusable`; its message is the end of a sentence about the server
 */
export async function checkServer(connection: StoreConnection): Promise<StoreServer> {
  const facts = await readFacts(connection)
  const [name, version] = facts.has('valkey_version')
    ? (['Valkey', facts.get('valkey_version') ?? ''] as const)
    : (['Redis', facts.get('redis_version') ?? ''] as const)
  // Valkey begins with version 7.2.
  if (!(Number.parseInt(version, 10) >= OLDEST)) {
    throw unusable(`is ${name} ${version || 'of an unknown version'}; it must be Redis 7 or newer, or Valkey`)
  }
  if (facts.get('redis_mode') === 'sentinel') {
    throw unusable('is a Sentinel, which holds no data; give the address of the server that it watches')
  }
  if (facts.get('redis_mode') === 'cluster') {
    throw unusable('is a node of a cluster, which is not supported; use a server without cluster mode')
  }
  if (facts.get('role') === 'slave') {
    const master = `${facts.get('master_host')}:${facts.get('master_port')}`
    throw unusable(`is a read-only replica of ${master}; give the address of that server`)
  }
  return { name, version, warning: warningOf(facts) }
}

/** The server's description of itself, once it has loaded its data. */
async function readFacts(connection: StoreConnection): Promise<ReadonlyMap<string, string>> {
  const until = elapsed() + LOADING
  for (;;) {
    const text = `${await connection.send(['INFO'], { isRepeatable: true })}`
    const facts = new Map(
      [...text.matchAll(/^([a-z_0-9]+):(.*?)\r?$/gm)].map(([, name = '', value = '']): [string, string] => [
        name,
        value,
      ]),
    )
    if (facts.get('loading') !== '1') return facts
    if (elapsed() >= until) throw unusable('is still loading its data; start again when it has')
    await pause(100)
  }
}

function warningOf(facts: ReadonlyMap<string, string>): string | undefined {
  const policy = facts.get('maxmemory_policy')
  if (policy === undefined || policy === 'noeviction') return undefined
  const when = facts.get('maxmemory') === '0' ? 'once maxmemory is set' : 'when its memory is full'
  return `The setting maxmemory-policy of the store is ${policy}, so it deletes accounts ${when}; set it to noeviction.`
}

function unusable(message: string): StoreError {
  return new StoreError('unusable', message)
}
