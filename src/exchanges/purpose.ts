import { canonicalHostname, LIBERAL } from '../contract/hostname.ts'
import { isObject, type Json, readJson } from '../ground/json.ts'
import { memoize } from '../ground/memo.ts'
import { readParameters } from '../http/target.ts'
import type { ReadExchange } from './reading.ts'

/** What a request names, independent of how the service reads it. */
export interface RequestPurpose {
  /** The domains of all lists of the body, in comparable form, each once. */
  names: readonly string[]
  /** The first spelling of each name. */
  spellings: ReadonlyMap<string, string>
  /** The same domains in every spelling of the request. */
  entries: ReadonlySet<string>
  /** All values of the parameter `id`. */
  ids: readonly string[]
  /** The name of a group. */
  name: string | undefined
  body: Json | undefined
}

/** How many entries of a list are read. No list of a request may have more. */
const NAMES_LIMIT = 20_000
const LISTS = ['domains', 'add_domains', 'remove_domains']

export function purposeOf({ exchange, query }: ReadExchange): RequestPurpose {
  const { body } = exchange.request
  const parsed = body.isKnown ? readJson(body.bytes.toString().replace(/^\ufeff/, '')) : undefined
  const json = isObject(parsed) ? parsed : undefined
  const spellings = new Map<string, string>()
  const texts = new Set<string>()
  for (const list of LISTS) {
    const entries = json?.[list]
    if (!Array.isArray(entries)) continue
    for (const entry of entries.slice(0, NAMES_LIMIT)) {
      if (typeof entry !== 'string') continue
      texts.add(entry)
      const name = comparable(entry)
      if (!spellings.has(name)) spellings.set(name, entry)
    }
  }
  const ids = query === undefined ? [] : readParameters(query).filter(([name]) => name === 'id')
  const name = json?.['name']
  return {
    names: [...spellings.keys()],
    spellings,
    entries: texts,
    ids: [...new Set(ids.map(([, value]) => value))],
    name: typeof name === 'string' ? name : undefined,
    body: json,
  }
}

/** The same for all spellings of a domain that any service could store. A text that is no hostname is unchanged. */
export const comparable = memoize((name) => canonicalHostname(name, LIBERAL) ?? name, { limit: 20_000, longest: 253 })
