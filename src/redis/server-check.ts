import { elapsed } from '../ground/clock.ts'
import { pause } from '../ground/timers.ts'
import { StoreError } from '../store/store-error.ts'
import type { StoreConnection } from './connection.ts'
import { baseOf } from './keys.ts'
import { readLibrary } from './library.ts'

/** The first version that has libraries of functions. */
const OLDEST = 7
/** In milliseconds, for how long the start waits for a server that is still loading its data. */
const LOADING = 1_500

/** How many parts the keys of a cluster have. */
const SLOTS = 16_384

export interface StoreServer {
  name: 'Redis' | 'Valkey'
  version: string
  /** Sentences about server settings that may cause the loss of accounts. */
  warnings: readonly string[]
}

/** Commands that are sent as they are. The commands of functions are read from the library. */
const SENT: readonly string[] = [
  ...['fcall', 'function', 'info', 'time', 'zrem', 'zrange', 'unlink', 'hscan', 'scan'],
  ...['xadd', 'xread', 'xrange', 'xrevrange', 'hget', 'hmget', 'hgetall', 'hvals', 'hsetnx', 'hincrby'],
]
/** The arguments of commands whose first argument is not one key. `K` stands for a key. */
const SHAPES: Readonly<Record<string, readonly string[]>> = {
  fcall: ['name', '0'],
  function: ['load', 'text'],
  scan: ['0'],
  info: [],
  hscan: ['K', '0'],
  time: [],
  copy: ['K', 'K'],
  xread: ['STREAMS', 'K', '0'],
  xadd: ['K', '*', 'name', 'value'],
  xrevrange: ['K', '+', '-'],
  xinfo: ['stream', 'K'],
}

/**
 * Checks whether the server can be the store, before any data is written. `prefix` is the beginning of the keys. @throws StoreError `unusable`; its message is the end of a sentence about the server
 */
export async function checkServer(connection: StoreConnection, { prefix }: { prefix: string }): Promise<StoreServer> {
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
  if (facts.get('role') === 'slave') {
    const master = `${facts.get('master_host')}:${facts.get('master_port')}`
    throw unusable(`is a read-only replica of ${master}; give the address of that server`)
  }
  if (facts.get('redis_mode') === 'cluster') await checkCluster(connection)
  await checkRights(connection, prefix)
  return { name, version, warnings: warningsOf(facts) }
}

/** One node with all slots is as good as a server without cluster mode. The client here follows no redirections. */
async function checkCluster(connection: StoreConnection): Promise<void> {
  const text = `${await connection.send(['CLUSTER', 'INFO'], { repeatable: true }).catch(explainRefusal)}`
  const fact = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1])
  if (fact('cluster_size') > 1) {
    throw unusable('is a cluster of several nodes, which is not supported; use one server, or a cluster of one node')
  }
  if (fact('cluster_slots_ok') < SLOTS) throw unusable('is a cluster that does not serve all slots')
}

/** The server's description of itself, once it has loaded its data. */
async function readFacts(connection: StoreConnection): Promise<ReadonlyMap<string, string>> {
  const until = elapsed() + LOADING
  for (;;) {
    const text = await connection.send(['INFO'], { repeatable: true }).catch((error: unknown) => explainRefusal(error))
    const facts = new Map(
      `${text}`.split('\r\n').flatMap((line) => {
        const [, name, value] = /^([a-z_0-9]+):(.*)$/.exec(line) ?? []
        return name === undefined ? [] : [[name, value ?? ''] as const]
      }),
    )
    if (facts.get('loading') !== '1') return facts
    if (elapsed() >= until) throw unusable('is still loading its data; start again when it has')
    await pause(100)
  }
}

async function checkRights(connection: StoreConnection, prefix: string): Promise<void> {
  const commands = new Set([...SENT, ...commandsIn(readLibrary().text)])
  const calls = [...commands].map((command) => [command, ...(SHAPES[command] ?? ['K'])].join(' '))
  const refused = await connection
    .call('rights', baseOf(prefix), calls, { repeatable: true })
    .catch((error: unknown) => explainRefusal(error, prefix))
  const named = (refused as string[]).map((each) => (each === 'function' ? '+function|load' : `+${each}`))
  const missing = [...new Set(named)].toSorted()
  if (missing.length === 0) return
  const hint = missing.length > 8 ? [...missing.slice(0, 8), '…'] : missing
  throw unusable(`does not let its user do what is needed; give it ~${prefix}:* and ${hint.join(' ')}`)
}

/** The names of the commands that a program calls. */
function commandsIn(text: string): string[] {
  return [...text.matchAll(/(?:redis\.p?call|call_with)\(\s*['"](\w+)['"]/g)].map(([, name = '']) => name.toLowerCase())
}

/** If the check itself is not allowed, the server gives the reason. */
function explainRefusal(error: unknown, prefix?: string): never {
  const [, unknown] = /^ERR unknown command '([^']+)'/.exec(error instanceof Error ? error.message : '') ?? []
  if (unknown !== undefined) {
    throw unusable(`does not know the command ${unknown}; give it back its name if rename-command has taken it`)
  }
  if (!(error instanceof StoreError && /NOPERM/.test(error.message))) throw error
  const [, command] = /run the '([^']+)' command/.exec(error.message) ?? []
  const rights = command === 'fcall' ? '+fcall +function|load' : command === undefined ? '' : `+${command}`
  // Before the rights are asked for, nothing else is known.
  const keys = command === undefined || command === 'function|load' ? `~${prefix}:*` : ''
  const missing = [keys, rights].filter((each) => each !== '').join(' and ')
  throw unusable(`does not let its user do what is needed; give it ${missing}`)
}

function warningsOf(facts: ReadonlyMap<string, string>): string[] {
  const policy = facts.get('maxmemory_policy')
  if (policy === undefined || policy === 'noeviction') return []
  const when = facts.get('maxmemory') === '0' ? 'once maxmemory is set' : 'when its memory is full'
  return [
    `The setting maxmemory-policy of the store is ${policy}, so it deletes accounts ${when}; set it to noeviction.`,
  ]
}

function unusable(message: string): StoreError {
  return new StoreError('unusable', message)
}
