import { StoreError } from '../store-error.ts'
import type { StoreConnection } from './connection.ts'

/** The first version whose scripts may run without memory, and that can be told so. */
const OLDEST = 7

/**
 * Checks whether the server can be the store, before any data is written. Resolves to its name, and to a sentence about a
 * setting that may cause the loss of accounts.
 * @throws StoreError `unusable`; its message is the end of a sentence about the server
 */
export async function checkServer(connection: StoreConnection): Promise<{ name: string; warning: string | undefined }> {
  const text = `${await connection.send(['INFO'], { isRepeatable: true })}`
  const fact = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(text)?.[1]
  const valkey = fact('valkey_version')
  const version = valkey ?? fact('redis_version') ?? ''
  const name = `${valkey === undefined ? 'Redis' : 'Valkey'} ${version || 'of an unknown version'}`
  const mode = fact('redis_mode')
  // Valkey begins with version 7.2.
  if (!(Number.parseInt(version, 10) >= OLDEST)) refuse(`is ${name}; it must be Redis 7 or newer, or Valkey`)
  if (fact('loading') === '1') refuse('is still loading its data; start again when it has')
  if (mode === 'sentinel') refuse('is a Sentinel, which holds no data; give the address of the server that it watches')
  if (mode === 'cluster') refuse('is a node of a cluster, which is not supported; use a server without cluster mode')
  const policy = fact('maxmemory_policy') ?? 'noeviction'
  const when = fact('maxmemory') === '0' ? 'once maxmemory is set' : 'when its memory is full'
  const warning = `The setting maxmemory-policy of the store is ${policy}, so it deletes accounts ${when}; set it to noeviction.`
  return { name, warning: policy === 'noeviction' ? undefined : warning }
}

function refuse(message: string): never {
  throw new StoreError('unusable', message)
}
