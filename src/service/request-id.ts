import { rememberWords, scramble } from '../ground/chance.ts'

/**
 * The id of the `ordinal`th request of a source, the same in every run with the same seed. The first word is a
 * permutation of the ordinal, so that the ids of a source differ. The other words distinguish the sources.
 */
export function requestIdOf(source: string, ordinal: number, format: 'uuid' | 'hex'): string {
  const [first, second, third, fourth] = rememberWords(source)
  const a = scramble((first + ordinal) >>> 0)
  const b = scramble(second ^ ordinal)
  const c = scramble(third + Math.imul(ordinal, 0x9e3779b1))
  const d = scramble(fourth ^ Math.imul(ordinal, 0x85ebca6b))
  if (format === 'hex') return hex(a) + hex(b) + hex(c) + hex(d)
  // Version 4 and variant 10 of RFC 9562 §5.4.
  const timed = ((b & 0xffff0fff) | 0x4000) >>> 0
  const varied = ((c & 0x3fffffff) | 0x80000000) >>> 0
  writeHex(a, 0)
  writeHex(timed >>> 16, 9, 4)
  writeHex(timed & 0xffff, 14, 4)
  writeHex(varied >>> 16, 19, 4)
  writeHex(varied & 0xffff, 24, 4)
  writeHex(d, 28)
  return UUID.toString('latin1')
}

/** Ids are written into this buffer, so that each is one string and not twenty joined ones. */
const UUID = Buffer.from('00000000-0000-4000-8000-000000000000')
const DIGITS = Buffer.from('0123456789abcdef')

function writeHex(word: number, at: number, digits = 8): void {
  let rest = word
  for (let place = at + digits - 1; place >= at; place--) {
    UUID[place] = DIGITS[rest & 15] ?? 0
    rest >>>= 4
  }
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0')
}
