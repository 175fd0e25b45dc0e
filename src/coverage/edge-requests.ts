import type { OperationBehaviour, SampleRequest } from '../behaviour/operation.ts'
import type { Rehearsal } from '../behaviour/rehearsal.ts'
import { LIMITS } from '../domain/limits.ts'
import { isObject, type Json, stepsOf, valueAt } from '../ground/json.ts'
import type { LimitEdge } from './limit-edges.ts'

/** A request at that edge of a limit; `undefined` if no request of that size is known. */
export function requestAtEdge(
  edge: LimitEdge,
  rehearsal: Rehearsal,
  behaviour: OperationBehaviour,
): SampleRequest | undefined {
  const plain = behaviour.accepted[0]?.(rehearsal) ?? {}
  // An overlay may permit more than a user would want to send.
  if (edge.of !== 'bytes' && edge.size > LIMITS.sample) return undefined
  switch (edge.of) {
    case 'bytes':
      return { ...plain, padTo: edge.size }
    case 'query':
      return { ...plain, query: { ...plain.query, [edge.field]: idOfLength(edge.size, rehearsal) } }
    case 'body': {
      const body = bodyOfSize(edge, rehearsal, behaviour, isObject(plain.body) ? plain.body : {})
      return body && { ...plain, body }
    }
    case 'quota':
      return undefined
  }
}

/** The id of a group, or a text of another length, which is no group's id. */
function idOfLength(length: number, rehearsal: Rehearsal): string {
  const { groupIds } = rehearsal.contract
  return length === groupIds.length ? rehearsal.groupWithMember().id : groupIds.alphabet.slice(0, 1).repeat(length)
}

function bodyOfSize(
  edge: LimitEdge,
  rehearsal: Rehearsal,
  behaviour: OperationBehaviour,
  plain: Json,
): Json | undefined {
  const [name, ...deeper] = stepsOf(edge.field)
  if (name === undefined) return bodyOfProperties(edge, rehearsal, behaviour)
  if (deeper.length > 0) return undefined
  const value = valueOfSize(name, edge, rehearsal, behaviour)
  return value === undefined ? undefined : { ...plain, [name]: value }
}

/** A body with this number of fields. */
function bodyOfProperties(
  { operation, size, side }: LimitEdge,
  rehearsal: Rehearsal,
  { accepted }: OperationBehaviour,
): Json | undefined {
  if (size === 0) return {}
  const bodies = accepted.map((sample) => sample(rehearsal).body).filter(isObject)
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
  { fields }: OperationBehaviour,
): unknown {
  // A list that is refused for its size is never compared with the account, so it needs no preparation.
  const isList = valueAt(operation?.bodySchema, `/properties/${name}/type`) === 'array'
  if (isList && size === 0) return []
  return isList && side === 'beyond' ? rehearsal.unmonitored(size) : fields?.[name]?.make(rehearsal, size)
}
