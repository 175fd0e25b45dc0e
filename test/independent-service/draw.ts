/** What a seed decides, one after the other. */
export interface Draw {
  number(): number
  chance(probability: number): boolean
  one<const T>(from: readonly T[]): T
  shuffled<T>(items: readonly T[]): T[]
}

export function draws(seed: number): Draw {
  let state = (seed * 2_654_435_761 + 1_013_904_223) >>> 0
  function number() {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const one = <const T>(from: readonly T[]): T => from[Math.floor(number() * from.length)] as T
  return {
    number,
    chance: (probability) => number() < probability,
    one,
    shuffled(items) {
      return items
        .map((item) => ({ item, place: number() }))
        .toSorted((a, b) => a.place - b.place)
        .map(({ item }) => item)
    },
  }
}

/** A number below 2³² that follows from the text alone. */
export function hash(text: string): number {
  let value = 2_166_136_261
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 16_777_619) >>> 0
  return Math.imul(value ^ (value >>> 13), 2_246_822_519) >>> 0
}
