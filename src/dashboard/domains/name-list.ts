/** A name as it was typed, and the line that it is in, beginning at 1. */
export interface TypedName {
  name: string
  line: number
}

/** About how many bytes of names one request has. The service reads a body of a megabyte. */
const BYTES = 200_000
/** How many names one request has at most, where the service has no limit. */
const NAMES = 1_000

/** The names of a text with one or several in a line, with white space, commas or semicolons between them. */
export function readNames(text: string): TypedName[] {
  return text.split('\n').flatMap((content, index) =>
    content
      .split(/[\s,;]+/u)
      .filter((name) => name !== '')
      .map((name) => ({ name, line: index + 1 })),
  )
}

/** The names in as few parts as the limit of the service, of names in one request, permits. */
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

/** The place in a list that a JSON pointer such as `/domains/3` is about. */
export function placeIn(pointer: string | null | undefined): number | undefined {
  const [, place] = /^\/domains\/(\d+)$/.exec(pointer ?? '') ?? []
  return place === undefined ? undefined : Number(place)
}
