import type { Problem } from '../domain/errors.ts'
import { isObject, type Json, stepsOf, valueAt } from '../ground/json.ts'
import type { Prepare, Sent } from './accepted-requests.ts'
import type { LimitEdge } from './limit-edges.ts'
import type { Rehearsal } from './rehearsal.ts'
import { freshDomains, freshNameOfLength } from './samples.ts'

/**
 * What to send to the operation of a limit to be at that edge of it, and what is refused about that beside the
 * schemas; `undefined` where nothing of that size is known.
 */
export function prepareEdge(
  edge: LimitEdge,
  rehearsal: Rehearsal,
  accepted: readonly Prepare[],
): { sent: Sent; problem?: Problem } | undefined {
  const plain = accepted[0]?.(rehearsal) ?? {}
  switch (edge.of) {
    case 'bytes': {
      const sent = { ...plain, padTo: edge.size }
      return edge.side === 'at' ? { sent } : { sent, problem: { code: 'request_too_large', reason: 'bytes' } }
    }
    case 'query':
      return prepareId(edge, rehearsal, plain)
    case 'body': {
      const body = bodyOfSize(edge, rehearsal, accepted, isObject(plain.body) ? plain.body : {})
      return body && { sent: { ...plain, body } }
    }
    case 'quota':
      return undefined
  }
}

function prepareId(
  { operation, field, size }: LimitEdge,
  rehearsal: Rehearsal,
  plain: Sent,
): { sent: Sent; problem?: Problem } {
  const { groupIds } = rehearsal.contract
  const group = rehearsal.groupWithMember()
  if (size === groupIds.length) return { sent: { ...plain, query: { ...plain.query, [field]: group.id }, group } }
  const { group: _, ...rest } = plain
  const sent = { ...rest, query: { ...plain.query, [field]: groupIds.alphabet.slice(0, 1).repeat(size) } }
  const allowed = operation?.checkQuery(sent.query).length === 0
  // No group has an id of another length.
  return allowed ? { sent, problem: { code: 'not_found' } } : { sent }
}

function bodyOfSize(
  edge: LimitEdge,
  rehearsal: Rehearsal,
  accepted: readonly Prepare[],
  plain: Json,
): Json | undefined {
  const [name, ...deeper] = stepsOf(edge.field)
  if (name === undefined) return bodyOfProperties(edge, rehearsal, accepted)
  if (deeper.length > 0) return undefined
  const value = valueOfSize(name, edge, rehearsal)
  return value === undefined ? undefined : { ...plain, [name]: value }
}

/** A body of so many fields. */
function bodyOfProperties(
  { operation, size, side }: LimitEdge,
  rehearsal: Rehearsal,
  accepted: readonly Prepare[],
): Json | undefined {
  if (size === 0) return {}
  const bodies = accepted.map((prepare) => prepare(rehearsal).body).filter(isObject)
  const samples: Json = Object.assign({}, ...bodies)
  const unions = [...bodies, Object.fromEntries(Object.entries(samples).slice(0, size))]
  return unions.find((body) => {
    const fits = Object.keys(body).length === size
    return fits && (side === 'beyond' || operation?.checkBody(body).length === 0)
  })
}

function valueOfSize(
  name: string,
  { operation, size, side }: LimitEdge,
  rehearsal: Rehearsal,
): string | readonly string[] | undefined {
  const schema = valueAt(operation?.bodySchema, `/properties/${name}`)
  const type = isObject(schema) ? schema['type'] : undefined
  if (type === 'string') return freshNameOfLength(rehearsal.state, size, rehearsal.contract.settings)
  if (type !== 'array') return undefined
  // What is refused for its size is never held against the account.
  if (side === 'beyond' || operation?.id === 'addDomains') return freshDomains(rehearsal.state, size)
  return operation?.id === 'deleteDomains' ? rehearsal.removable(size) : rehearsal.monitored(size)
}
