import { scramble, type Words, wordsOf } from '../seeding/chance.ts'

/** Sources whose words are remembered; a server has few that are busy. */
const REMEMBERED = 1_000
const remembered = new Map<string, Words>()
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Names the `ordinal`th request of a source, the same at every run of the same seed. The first word is a permutation
 * of the ordinal, so no two requests of one source share an id; the others keep sources apart.
 */
export function requestIdOf(source: string, ordinal: number, format: 'uuid' | 'hex'): string {
  const [first, second, third, fourth] = rememberWords(source)
  const a = hex(scramble((first + ordinal) >>> 0))
  const b = hex(scramble(second ^ ordinal))
  const c = hex(scramble(third + Math.imul(ordinal, 0x9e3779b1)))
  const d = hex(scramble(fourth ^ Math.imul(ordinal, 0x85ebca6b)))
  if (format === 'hex') return a + b + c + d
  // Version 4 and variant 10 of RFC 9562 §5.4.
  const variant = '89ab'[Number.parseInt(c.charAt(0), 16) % 4]
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`
}

function rememberWords(source: string): Words {
  const known = remembered.get(source)
  if (known !== undefined) return known
  if (remembered.size >= REMEMBERED) remembered.clear()
  const words = wordsOf(source)
  remembered.set(source, words)
  return words
}

/** Eight digits; by table, which takes a third of the time of `toString`. */
function hex(word: number): string {
  return `${HEX[word >>> 24]}${HEX[(word >>> 16) & 255]}${HEX[(word >>> 8) & 255]}${HEX[word & 255]}`
}
