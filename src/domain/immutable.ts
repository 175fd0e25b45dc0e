import type { OrderedMap } from 'immutable'

export { Map as ImmutableMap, OrderedMap } from 'immutable'

/** A key, and its value in an older and in a newer map; `undefined` if that map does not have it. */
export type KeyChange<Value> = [key: string, before: Value | undefined, after: Value | undefined]

/**
 * The keys with another value: first those of the older map, then the new ones, each part in the order of its map. It
 * compares values by identity, so it finds what was put in again in an equal form. The cost is the size of the maps,
 * but nothing if they are the same.
 */
export function diffMaps<Value>(
  before: OrderedMap<string, Value>,
  after: OrderedMap<string, Value>,
): KeyChange<Value>[] {
  if (before === after) return []
  const changes: KeyChange<Value>[] = []
  before.forEach((value, key) => {
    const other = after.get(key)
    if (other !== value) changes.push([key, value, other])
  })
  after.forEach((value, key) => {
    if (!before.has(key)) changes.push([key, undefined, value])
  })
  return changes
}
