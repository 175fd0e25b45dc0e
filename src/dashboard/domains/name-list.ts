/** A name that the user typed, and its line, from 1. */
export interface TypedName {
  name: string
  line: number
}

/** The approximate limit for the names in one request, in bytes. The service accepts a body of one megabyte. */
const BYTES = 200_000
/** The most names in one request if the service has no limit. */
const NAMES = 1_000

/** The names in a text. Line breaks, white space, commas and semicolons separate them. */
export function readNames(text: string): TypedName[] {
  return text.split('\n').flatMap((content, index) =>
    content
      .split(/[\s,;]+/u)
      .filter((name) => name !== '')
      .map((name) => ({ name, line: index + 1 })),
  )
}

/** Divides the names into as few requests as the limit of the service permits. */
export function divideNames<Item>(
  items: readonly Item[],
  limit: number | null,
  nameOf: (item: Item) => string,
): Item[][] {
  const parts: Item[][] = []
  let bytes = 0
  for (const item of items) {
    const size = 4 * nameOf(item).length
    const part = parts.at(-1)
    if (part === undefined || part.length === Math.min(limit ?? NAMES, NAMES) || bytes + size > BYTES) {
      parts.push([item])
      bytes = size
    } else {
      part.push(item)
      bytes += size
    }
  }
  return parts
}

/** The index in the list for a JSON pointer such as `/domains/3`. */
export function placeIn(pointer: string | null | undefined): number | undefined {
  const [, place] = /^\/domains\/(\d+)$/.exec(pointer ?? '') ?? []
  return place === undefined ? undefined : Number(place)
}
