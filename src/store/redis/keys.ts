/** The keys of one account, in the order in which `step.lua` names them. One hash tag keeps them on one node of a cluster. */
export function accountKeys(prefix: string, incarnation: string): string[] {
  const names = ['meta', 'parts', 'log', 'quotas', 'tallies', 'undo', 'fences']
  return names.map((name) => `${prefix}:{${incarnation}}:${name}`)
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
