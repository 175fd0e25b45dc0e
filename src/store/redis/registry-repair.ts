import type { StoreConnection } from './connection.ts'
import { readTexts } from './counter-texts.ts'
import { accountKeys, encodeId, registryKeys } from './keys.ts'
import type { readScripts, ScriptName } from './scripts.ts'

/** How many accounts are read at the same time. */
const AT_ONCE = 50

export interface RepairOptions {
  connection: StoreConnection
  scripts: ReturnType<typeof readScripts>
  prefix: string
  /** The time for scripts: an empty text if they ask the server. */
  now: () => string
  /** Forgets an account whose data is gone. */
  finish(incarnation: string): Promise<unknown>
}

/** An account as described by its own data. */
interface DescribedAccount {
  id: string
  evictable: boolean
  changed: boolean
  version: string
  hashes: readonly string[]
}

/**
 * Restores deleted or evicted keys of the registry, from the other keys and from the accounts themselves. Returns their
 * names. The order of creation and of use is lost. Other replicas may do the same meanwhile.
 */
export async function repairRegistry(options: RepairOptions): Promise<readonly string[]> {
  const { connection, scripts, prefix, now, finish } = options
  const keys = registryKeys(prefix)
  const run = (name: ScriptName, args: readonly string[]) =>
    connection.run(scripts[name], keys, args, { repeatable: true })
  const lost = (await run('lost', [])) as readonly string[]
  if (lost.length === 0) return []
  const [accounts = '', names = '', , held = '', order = ''] = keys
  const readHash = async (key: string) =>
    readTexts(await connection.send(['HGETALL', key], { isReadOnly: true, deadline: REPAIRING }))
  const ids = new Map<string, string>()
  for (const [id, incarnation] of await readHash(accounts)) ids.set(incarnation, id)
  for (const [incarnation, id] of await readHash(names)) ids.set(incarnation, id)
  const known = (await connection.send(['ZRANGE', order, '0', '-1'], {
    isReadOnly: true,
    deadline: REPAIRING,
  })) as readonly string[]
  const incarnations = [...new Set([...known, ...ids.keys(), ...(await readHash(held)).map(([each]) => each)])]
  const read = async (incarnation: string) =>
    [incarnation, await describeAccount(incarnation, options)] as [string, DescribedAccount | undefined]
  const found: [incarnation: string, DescribedAccount | undefined][] = []
  for (let from = 0; from < incarnations.length; from += AT_ONCE) {
    found.push(...(await Promise.all(incarnations.slice(from, from + AT_ONCE).map(read))))
  }
  const given = [...ids.values()].map((id) => Number(/^account-(\d{1,15})$/.exec(id)?.[1] ?? 0))
  // Ids of requests must not repeat. There were fewer requests than milliseconds since the Unix epoch.
  const far = `${connection.clock.now()}`
  const numbers = lost.includes('numbers') ? ['unauthenticated', far, 'malformed', far, 'crowded', far] : []
  await run('renumber', ['ids', `${given.reduce((most, each) => Math.max(most, each), 0)}`, ...numbers])
  // Accounts without a known order are sorted by their ids.
  found.sort(([, one], [, other]) => ((one?.id ?? '') < (other?.id ?? '') ? -1 : 1))
  for (const [incarnation, described] of found) {
    const id = described?.id ?? ids.get(incarnation)
    const { evictable = false, changed = false, version = '1', hashes = [] } = described ?? {}
    const flags = [evictable, changed].map((flag) => (flag ? '1' : '0'))
    if (id !== undefined) await run('adopt', [incarnation, id, now(), ...flags, version, ...hashes])
    if (described === undefined) await finish(incarnation)
  }
  return lost.map((name) => `${prefix}:{all}:${name}`)
}

/** In milliseconds, how long a command that reads about all accounts may take. */
const REPAIRING = 5_000

async function describeAccount(
  incarnation: string,
  { connection, prefix }: RepairOptions,
): Promise<DescribedAccount | undefined> {
  const [meta = '', parts = ''] = accountKeys(prefix, incarnation)
  const ask = (key: string, ...fields: string[]) =>
    connection.send(['HMGET', key, ...fields], { isReadOnly: true, deadline: REPAIRING })
  const [ofMeta, ofParts] = await Promise.all([
    ask(meta, 'version', 'evictable', 'changed'),
    ask(parts, '.id', '.keys'),
  ])
  const [version, evictable, changed] = ofMeta as readonly (string | null)[]
  const [id, keys] = ofParts as readonly (string | null)[]
  if (typeof version !== 'string' || typeof id !== 'string') return undefined
  const held = JSON.parse(keys ?? '[]') as readonly { hash: string }[]
  return {
    id: encodeId(JSON.parse(id) as string),
    evictable: evictable === '1',
    changed: changed === '1',
    version,
    hashes: held.map(({ hash }) => hash),
  }
}
