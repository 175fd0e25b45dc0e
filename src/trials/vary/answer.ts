import { isDeepStrictEqual } from 'node:util'
import { OrderedMap } from 'immutable'
import type { AccountState } from '../../domain/account.ts'
import { bytesOf, type Content } from '../../ground/content.ts'

/** The answer to a request, and its change of the account. */
export interface ReplayedAnswer {
  /** Absent if no response is sent. */
  status: number | undefined
  /** Alternating names and values. */
  headers: readonly (string | number)[]
  body: Content | undefined
  /** The account after the request; absent if the request changes nothing. */
  after: AccountState | undefined
}

/** The names of the parts that differ: `status`, `header` with its name, `body`, `state`. */
export function differencesOf(one: ReplayedAnswer, other: ReplayedAnswer): string[] {
  const parts = namesOfDifferent(one.headers, other.headers)
  if (one.status !== other.status) parts.push('status')
  if (!areSameBodies(one.body, other.body)) parts.push('body')
  if (!areSameStates(one.after, other.after)) parts.push('state')
  return parts
}

function namesOfDifferent(some: ReplayedAnswer['headers'], others: ReplayedAnswer['headers']): string[] {
  if (some.length === others.length && some.every((each, index) => each === others[index])) return []
  // A different content-length adds nothing to a different body.
  const names = differentFieldsOf(some, others).map(([name]) => `header ${name}`)
  return names.length > 0 ? names : ['order of the headers']
}

/** The header fields that differ or that only one answer has: name, first value, second value. */
export function differentFieldsOf(
  some: ReplayedAnswer['headers'],
  others: ReplayedAnswer['headers'],
): [name: string, one: string | undefined, other: string | undefined][] {
  const [one, other] = [fieldsOf(some), fieldsOf(others)]
  return [...new Set([...one.keys(), ...other.keys()])]
    .filter((name) => one.get(name) !== other.get(name) && name !== 'content-length')
    .map((name) => [name, one.get(name), other.get(name)])
}

/** The fields by lower-case name. */
function fieldsOf(headers: ReplayedAnswer['headers']): Map<string, string> {
  const fields = new Map<string, string>()
  for (let index = 0; index < headers.length; index += 2) {
    const name = String(headers[index]).toLowerCase()
    const known = fields.get(name)
    fields.set(name, `${known === undefined ? '' : `${known}, `}${headers[index + 1]}`)
  }
  return fields
}

function areSameBodies(one: Content | undefined, other: Content | undefined): boolean {
  if (one === other) return true
  if (one === undefined || other === undefined || one.size !== other.size) return false
  if (typeof one.held === 'string' && typeof other.held === 'string') return one.held === other.held
  return bytesOf(one).equals(bytesOf(other))
}

/** Whether the journal has recorded this body. It keeps only the beginning of a very long one. */
export function isKeptBody(body: Content | undefined, kept: Content | undefined): boolean {
  const isCut = kept !== undefined && kept.held.length < Math.min(kept.size, body?.size ?? 0)
  return isCut || areSameBodies(body, kept)
}

/** Whether the accounts are equal for all later requests. The comparison is fast if they share parts. */
export function areSameStates(one: AccountState | undefined, other: AccountState | undefined): boolean {
  if (one === other) return true
  if (one === undefined || other === undefined) return false
  const names = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof AccountState>
  for (const name of names) if (!areSameParts(one[name], other[name])) return false
  return true
}

function areSameParts(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (!OrderedMap.isOrderedMap(one) || !OrderedMap.isOrderedMap(other)) return isDeepStrictEqual(one, other)
  if (one.size !== other.size) return false
  const others = other.entries()
  for (const [key, value] of one.entries()) {
    const [otherKey, otherValue] = others.next().value ?? []
    if (key !== otherKey || (value !== otherValue && !isDeepStrictEqual(value, otherValue))) return false
  }
  return true
}
