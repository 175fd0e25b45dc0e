/** The keys of one account, in the order of `step.lua`. One hash tag keeps them on one node of a cluster. */
export function accountKeys(prefix: string, incarnation: string): string[] {
  const names = ['meta', 'parts', 'log', 'quotas', 'tallies', 'undo', 'fences']
  return names.map((name) => `${prefix}:{${incarnation}}:${name}`)
}

/** The key of the names of an account's snapshots. It remains after the account until all snapshots are deleted. */
export function snapshotKey(prefix: string, incarnation: string): string {
  return `${prefix}:{${incarnation}}:snapshots`
}

/** The keys of the copy of an account that the operation has made. */
export function snapshotKeys(prefix: string, incarnation: string, operation: string): string[] {
  return ['parts', 'quotas', 'tallies'].map((name) => `${prefix}:{${incarnation}}:snapshot:${operation}:${name}`)
}

/** The keys of the copies of an account before its last large changes, in the order of the scripts. */
export function formerKeys(prefix: string, incarnation: string): string[] {
  return [1, 2, 3, 4].map((slot) => `${prefix}:{${incarnation}}:former${slot}`)
}

/** The keys for data about all accounts, in the order of `registry.lua`. */
export function registryKeys(prefix: string): string[] {
  const names = ['accounts', 'names', 'holders', 'held', 'order', 'unchanged', 'changed', 'used', 'doomed', 'dying']
  return [...names, 'numbers'].map((name) => `${prefix}:{all}:${name}`)
}

/** An id as text. An id may contain lone surrogates, which UTF-8 cannot distinguish. */
export function encodeId(id: string): string {
  return JSON.stringify(id).slice(1, -1)
}

export function decodeId(text: string): string {
  return JSON.parse(`"${text}"`) as string
}
