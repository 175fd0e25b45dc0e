import { rememberWords, scramble } from '../ground/chance.ts'

/** Gives the unique id of the next request of a client that is not known: it has no valid key, or is not HTTP. */
export type AnonymousIds = () => string

/** These ids depend on the source and on the number of earlier ones. Servers that share a store have different sources. */
export function countAnonymousIds(source: string, format: 'uuid' | 'hex'): AnonymousIds {
  let ordinal = 0
  return () => requestIdOf(source, ++ordinal, format)
}

/**
 * The id of the `ordinal`th request of a source, the same in every run with the same seed. The first word is a
 * permutation of the ordinal, so that the ids of a source differ. The other words distinguish the sources.
 */
export function requestIdOf(source: string, ordinal: number, format: 'uuid' | 'hex'): string {
  const [first, second, third, fourth] = rememberWords(source)
  UUID.writeUInt32BE(scramble((first + ordinal) >>> 0), 0)
  UUID.writeUInt32BE(scramble(second ^ ordinal), 4)
  UUID.writeUInt32BE(scramble(third + Math.imul(ordinal, 0x9e3779b1)), 8)
  UUID.writeUInt32BE(scramble(fourth ^ Math.imul(ordinal, 0x85ebca6b)), 12)
  if (format === 'hex') return UUID.toString('hex')
  // Version 4 and variant 10 of RFC 9562 §5.4.
  UUID.writeUInt8((UUID.readUInt8(6) & 0x0f) | 0x40, 6)
  UUID.writeUInt8((UUID.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = UUID.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const UUID = Buffer.alloc(16)
