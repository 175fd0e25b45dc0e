import { type Operation, operationOf } from '../../contract/api.ts'
import { isObject, readJson } from '../../ground/json.ts'
import { nameSome, shorten } from '../../ground/show.ts'
import { type Entry, isUnread, textOf } from '../../journal/entry.ts'
import { type Effects, effectsOf } from '../effects.ts'
import type { TrialResult } from '../trial.ts'

export interface RunObservation extends Pick<TrialResult, 'end' | 'accounts' | 'lost'> {
  /** In the order of arrival. */
  requests: readonly ObservedRequest[]
  effects: Effects
}

export interface ObservedRequest {
  entry: Entry
  operation: Operation | undefined
  /** The arrival of the request and the end of its response, in milliseconds of real time. */
  started: number
  ended: number
}

type ObservedTrial = Pick<TrialResult, 'end' | 'exchanges' | 'ended' | 'lost' | 'accounts' | 'contract'>

/** `refusalDelay` is that of the trial. */
export function observe(
  { end, exchanges, ended, lost, accounts, contract }: ObservedTrial,
  refusalDelay = 0,
): RunObservation {
  const requests = exchanges.map((entry, index): ObservedRequest => {
    const ready = ended[index] ?? 0
    const operation = operationOf(contract, entry.operation)
    return { entry, operation, started: ready - entry.duration, ended: ready + (isLimited(entry) ? refusalDelay : 0) }
  })
  return {
    ...{ end, accounts, lost },
    requests: requests.toSorted((one, other) => one.started - other.started),
    effects: effectsOf(accounts.values(), exchanges),
  }
}

/** Whether the quota was used up. An overlay may give this refusal another status than 429. */
export function isLimited({ code }: Pick<Entry, 'code'>): boolean {
  return code === 'rate_limited'
}

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
  const hasKeys = new Set(requests.flatMap(({ entry }) => entry.key ?? [])).size > 1
  const occurrences = new Map<string, number>()
  return requests.flatMap(({ entry, operation }, index) => {
    if (operation === undefined || entry.key === undefined || !meetsFaults(entry)) return []
    const key = hasKeys ? entry.key : undefined
    const place = `${operation.id} ${key}`
    const occurrence = occurrences.get(place) ?? 0
    occurrences.set(place, occurrence + 1)
    return [{ operation, key, occurrence, about: aboutOf(entry), entry, index }]
  })
}

/** Whether fault rules applied. They do not if key, plan or quota refuse the request, or if it prefers a fault. */
function meetsFaults({ allowance, code, injected, injection, decided, operation }: Entry): boolean {
  if (injection?.source === 'prefer') return false
  if (injection !== undefined || injected || decided !== undefined) return true
  if (allowance?.allowed === false) return false
  return code !== 'unauthorized' || operation === undefined
}

const TOLD = 3

/** The subject of a request, by names and not by ids. */
export function aboutOf({ group, body }: Pick<Entry, 'group' | 'body'>): string {
  if (group !== undefined) return shorten(group.name)
  const value = body === undefined || isUnread(body) || body.isCut ? undefined : readJson(textOf(body))
  if (!isObject(value)) return ''
  if (typeof value['name'] === 'string') return shorten(value['name'])
  const names = Object.values(value).find((each) => Array.isArray(each)) ?? []
  return nameSome(
    (names as unknown[]).map((name) => shorten(String(name))),
    TOLD,
  )
}

/** Names a point: `the 2nd createDomainGroup (Retail)`. */
export function namePoint({ operation, occurrence, about }: Pick<Point, 'operation' | 'occurrence' | 'about'>): string {
  const ending = new Intl.PluralRules('en', { type: 'ordinal' }).select(occurrence + 1)
  const number = `${occurrence + 1}${{ one: 'st', two: 'nd', few: 'rd' }[ending as string] ?? 'th'}`
  return `the ${number} ${operation.id}${about === '' ? '' : ` (${about})`}`
}
