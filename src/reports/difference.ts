/** A text, divided at the part that differs from another text: `[same, different, same]`. */
export type Parts = readonly [before: string, middle: string, after: string]

/** Divides two texts at their difference. The outer parts are the same in both. Surrogate pairs are not split. */
export function findDifference(one: string, other: string): readonly [Parts, Parts] {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  if (isHighHalf(one.charCodeAt(start - 1))) start--
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  if (end > 0 && isLowHalf(one.charCodeAt(one.length - end))) end--
  const cut = (text: string): Parts => [
    text.slice(0, start),
    text.slice(start, text.length - end),
    text.slice(text.length - end),
  ]
  return [cut(one), cut(other)]
}

function isHighHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
