import type { Operation } from '../../contract/api.ts'
import { isObject, readJson } from '../../ground/json.ts'
import { nameSome } from '../../ground/plural.ts'
import { shorten } from '../../ground/show.ts'
import { type Entry, isUnread, textOf } from '../../journal/entry.ts'
import type { ObservedRequest } from './observation.ts'

/**
 * A request that a fault can meet. A fault rule can address it as the n-th request to the operation, and by the key if
 * the command uses several.
 */
export interface Point {
  operation: Operation
  /** The id of the key; absent if the command uses only one. */
  key: string | undefined
  /** The number of earlier requests that match the same operation and key. */
  occurrence: number
  /** The names of the domains or of the group in the request; empty if it names none. */
  about: string
  entry: Entry
  /** The index among all requests of the run. */
  index: number
}

/** The points of a run in the order of its requests. */
export function pointsOf(requests: readonly ObservedRequest[]): Point[] {
  const keyed = new Set(requests.flatMap(({ entry }) => entry.key ?? [])).size > 1
  const occurrences = new Map<string, number>()
  return requests.flatMap(({ entry, operation }, index) => {
    const { key } = entry
    if (operation === undefined || key === undefined || !meetsFaults(entry)) return []
    const place = keyed ? `${operation.id} ${key}` : operation.id
    const occurrence = occurrences.get(place) ?? 0
    occurrences.set(place, occurrence + 1)
    const point: Point = {
      operation,
      key: keyed ? key : undefined,
      occurrence,
      about: aboutOf(entry),
      entry,
      index,
    }
    return [point]
  })
}

/** Whether fault rules applied. They do not if key, plan or quota refuse the request, or if it prefers a fault. */
function meetsFaults({ allowance, code, injected, injection, decided, operation }: Entry): boolean {
  if (injection?.source === 'prefer') return false
  if (injection !== undefined || injected || decided !== undefined) return true
  if (allowance?.allowed === false) return false
  return code !== 'unauthorized' || operation === undefined
}

/** The most names in a text. */
const TOLD = 3

/** The subject of a request, by names and not by ids. */
export function aboutOf({ group, body }: Pick<Entry, 'group' | 'body'>): string {
  if (group !== undefined) return shorten(group.name)
  if (body === undefined || isUnread(body) || body.isCut) return ''
  const value = readJson(textOf(body))
  if (!isObject(value)) return ''
  if (typeof value['name'] === 'string') return shorten(value['name'])
  const names = Object.values(value).find((each) => Array.isArray(each))
  if (!Array.isArray(names)) return ''
  return nameSome(
    names.map((name) => shorten(String(name))),
    TOLD,
  )
}

/** Names a point: `the 2nd createDomainGroup (Retail)`. */
export function namePoint({ operation, occurrence, about }: Pick<Point, 'operation' | 'occurrence' | 'about'>): string {
  return `the ${ordinal(occurrence + 1)} ${operation.id}${about === '' ? '' : ` (${about})`}`
}

function ordinal(number: number): string {
  const ending = new Intl.PluralRules('en', { type: 'ordinal' }).select(number)
  return `${number}${{ one: 'st', two: 'nd', few: 'rd' }[ending as string] ?? 'th'}`
}
