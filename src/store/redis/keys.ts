/** The keys of one account, in the order in which `step.lua` names them. One hash tag keeps them on one node of a cluster. */
export function accountKeys(prefix: string, incarnation: string): string[] {
  const names = ['meta', 'parts', 'log', 'quotas', 'tallies', 'undo', 'fences']
  return names.map((name) => `${prefix}:{${incarnation}}:${name}`)
}

/** The key of the names of an account's snapshots. It outlives the account until all snapshots are deleted. */
export function snapshotKey(prefix: string, incarnation: string): string {
  return `${prefix}:{${incarnation}}:snapshots`
}

/** The keys of the copy of an account that an operation has made. */
export function snapshotKeys(prefix: string, incarnation: string, operation: string): string[] {
  return ['parts', 'quotas', 'tallies'].map((name) => `${prefix}:{${incarnation}}:snapshot:${operation}:${name}`)
}

/** The keys of what an account was before its last large changes, in the order in which the scripts name them. */
export function formerKeys(prefix: string, incarnation: string): string[] {
  return [1, 2, 3, 4].map((slot) => `${prefix}:{${incarnation}}:former${slot}`)
}

/** The keys of what concerns all accounts, in the order in which `registry.lua` names them. */
export function registryKeys(prefix: string): string[] {
  const names = ['accounts', 'names', 'holders', 'held', 'order', 'unchanged', 'changed', 'used', 'doomed', 'dying']
  return [...names, 'numbers'].map((name) => `${prefix}:{all}:${name}`)
}

/** An id as text: it may have half characters, which UTF-8 cannot tell apart. */
export function encodeId(id: string): string {
  return JSON.stringify(id).slice(1, -1)
}

export function decodeId(text: string): string {
  return JSON.parse(`"${text}"`) as string
}
