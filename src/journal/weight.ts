import type { DomainGroup } from '../domain/account.ts'
import type { Content } from '../http/content.ts'
import { weighRule } from '../store/weight.ts'
import type { Entry } from './entry.ts'

/** Approximate bytes of an entry, a header field, a problem and an error, without their texts and bodies. */
const ENTRY = 1_000
const FIELD = 32
const PROBLEM = 300
const FAILURE = 4_000
/** The data that a request found, and the versions of the counters from there to the present. */
const PAST = 400
/** Approximate bytes of a member of a group. */
const MEMBER = 16

/**
 * The approximate bytes that an entry keeps in memory. The rule may contain a whole response, and the group any number
 * of members. Both count only if the entry before does not keep the same object.
 */
export function weightOf(entry: Entry, last: Entry | undefined): number {
  const { body, responseBody, target, headers, problems, violations, failure, injection, group, before } = entry
  const bodies = weightOfBody(body) + weightOfBody(responseBody)
  let weight = ENTRY + bodies + target.length + weightOfHeader(headers)
  for (const { value } of problems) weight += PROBLEM + (typeof value === 'string' ? value.length : 0)
  if (violations.length > 0) weight += violations.length * PROBLEM
  if (failure !== undefined) weight += FAILURE
  if (before !== undefined) weight += PAST
  const rule = injection?.rule
  if (rule !== undefined && rule !== last?.injection?.rule) weight += weighRule(rule)
  if (group !== undefined && group !== last?.group) weight += weightOfGroup(group)
  return weight
}

/** The bytes that only `oldest` keeps in memory after the entry before it is dropped. */
export function weightInherited(oldest: Entry, dropped: Entry): number {
  const { injection, group } = oldest
  const rule = injection?.rule
  const ofRule = rule !== undefined && rule === dropped.injection?.rule ? weighRule(rule) : 0
  return ofRule + (group !== undefined && group === dropped.group ? weightOfGroup(group) : 0)
}

/** Most members share their text with the names of the domains. Those of removed domains do not. */
function weightOfGroup({ name, domains }: DomainGroup): number {
  return 100 + 2 * name.length + MEMBER * domains.length
}

/** A text with a character beyond Latin-1 takes two bytes for each character. */
function weightOfBody(body: Content | undefined): number {
  if (body === undefined) return 0
  const { held, size } = body
  return typeof held === 'string' && size > held.length ? 2 * held.length : held.length
}

/** The last weighed header. Most entries share the header of the entry before. */
let weighed: { headers: readonly string[]; weight: number } = { headers: [], weight: 0 }

function weightOfHeader(headers: readonly string[]): number {
  if (headers === weighed.headers) return weighed.weight
  let weight = 0
  for (const text of headers) weight += text.length + FIELD
  weighed = { headers, weight }
  return weight
}
