import { createRequire } from 'node:module'
import type * as immutable from 'immutable'

// By `import`, Node.js would search the whole text of the library for its exports, which takes a tenth of a start.
const library = createRequire(import.meta.url)('immutable') as typeof immutable

export const ImmutableMap: typeof immutable.Map = library.Map
export type ImmutableMap<Key, Value> = immutable.Map<Key, Value>
export const OrderedMap: typeof immutable.OrderedMap = library.OrderedMap
export type OrderedMap<Key, Value> = immutable.OrderedMap<Key, Value>
