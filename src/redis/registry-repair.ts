import { type RedisDatabase, readTexts, type ScriptName } from './database.ts'
import { accountKeys, encodeId, registryKeys } from './keys.ts'

/** How many accounts are read at the same time. */
const AT_ONCE = 50
/** In milliseconds, how long a command that reads about all accounts may take. */
const REPAIRING = 5_000

/** An account as described by its own data. */
interface DescribedAccount {
  id: string
  /** 1 or 0. */
  evictable: string
  changed: string
  version: string
  hashes: readonly string[]
}

/**
 * Restores deleted or evicted keys of the registry, from the other keys and from the accounts themselves. Returns their
 * names. The order of creation and of use is lost. Other replicas may do the same meanwhile. `finish` forgets an account
 * whose data is gone.
 */
export async function repairRegistry(
  database: RedisDatabase,
  finish: (incarnation: string) => Promise<unknown>,
): Promise<readonly string[]> {
  const { connection, prefix } = database
  const keys = registryKeys(prefix)
  const run = (name: ScriptName, args: readonly string[]) =>
    database.run<readonly string[]>(name, keys, args, { repeatable: true })
  const lost = await run('lost', [])
  if (lost.length === 0) return []
  const [accounts = '', names = '', , held = '', order = ''] = keys
  const readHash = async (key: string) => readTexts(await database.read(['HGETALL', key], REPAIRING))
  const ids = new Map<string, string>()
  for (const [id, incarnation] of await readHash(accounts)) ids.set(incarnation, id)
  for (const [incarnation, id] of await readHash(names)) ids.set(incarnation, id)
  const known = (await database.read(['ZRANGE', order, '0', '-1'], REPAIRING)) as readonly string[]
  const incarnations = [...new Set([...known, ...ids.keys(), ...(await readHash(held)).map(([each]) => each)])]
  const read = async (incarnation: string) =>
    [incarnation, await describeAccount(incarnation, database)] as [string, DescribedAccount | undefined]
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
    const { evictable = '0', changed = '0', version = '1', hashes = [] } = described ?? {}
    if (id !== undefined) await run('adopt', [incarnation, id, database.now, evictable, changed, version, ...hashes])
    if (described === undefined) await finish(incarnation)
  }
  return lost.map((name) => `${prefix}:{all}:${name}`)
}

async function describeAccount(incarnation: string, database: RedisDatabase): Promise<DescribedAccount | undefined> {
  const [meta = '', parts = ''] = accountKeys(database.prefix, incarnation)
  const [ofMeta, ofParts] = await Promise.all([
    database.read(['HMGET', meta, 'version', 'evictable', 'changed'], REPAIRING),
    database.read(['HMGET', parts, '.id', '.keys'], REPAIRING),
  ])
  const [version, evictable, changed] = ofMeta as readonly (string | null)[]
  const [id, keys] = ofParts as readonly (string | null)[]
  if (typeof version !== 'string' || typeof id !== 'string') return undefined
  const held = JSON.parse(keys ?? '[]') as readonly { hash: string }[]
  const hashes = held.map(({ hash }) => hash)
  return { id: encodeId(JSON.parse(id)), evictable: evictable ?? '0', changed: changed ?? '0', version, hashes }
}
