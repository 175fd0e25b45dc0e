import { readFile } from 'node:fs/promises'
import type { Event } from 'js-yaml'
import { pointTo } from '../ground/json.ts'
import { OWN_DOCUMENT } from './document.ts'

/**
 * The line of a YAML text, from 1, with the key or the item that a JSON pointer leads to. An addition of an overlay,
 * for example, is not in the text. Its pointer has the line of its nearest parent in the text.
 */
export type LineOf = (pointer: string) => number

/** The lines of the service's OpenAPI document in the package. */
export async function readLines(): Promise<LineOf> {
  return linesOf(await readFile(OWN_DOCUMENT, 'utf8'))
}

/** The lines of a text that is valid YAML and one document. */
export async function linesOf(text: string): Promise<LineOf> {
  const places = await findPlaces(text)
  const breaks = [...text.matchAll(/\n/g)].map(({ index }) => index)
  return (pointer) => {
    for (let place = pointer; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
      const offset = places.get(place)
      if (offset !== undefined) return countBelow(breaks, offset) + 1
    }
    return 1
  }
}

/** The number of the sorted numbers below the limit. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}

/** A mapping or a sequence that is still open. */
interface OpenCollection {
  readonly pointer: string
  /** In a sequence, the number of items so far; undefined in a mapping. */
  items: number | undefined
  /** In a mapping, the pointer of the next value. If it is undefined, a key comes next. */
  next: string | undefined
}

/** JSON pointer → offset of each key and each item. The target of an alias is written elsewhere, so it is left out. */
async function findPlaces(text: string): Promise<ReadonlyMap<string, number>> {
  const { parseEvents, getScalarValue, EVENT_ID } = await import('js-yaml')
  const places = new Map<string, number>()
  const open: OpenCollection[] = []

  /** The pointer of the value that begins with this event; `undefined` for a key. */
  function enter(event: Event, offset: number): string | undefined {
    const holder = open.at(-1)
    if (holder === undefined) return ''
    if (holder.items !== undefined) {
      const pointer = pointTo(holder.pointer, holder.items++)
      places.set(pointer, offset)
      return pointer
    }
    if (holder.next !== undefined) {
      const pointer = holder.next
      holder.next = undefined
      return pointer
    }
    holder.next = pointTo(holder.pointer, event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : '')
    places.set(holder.next, offset)
    return undefined
  }

  for (const event of parseEvents(text, {})) {
    if (event.type === EVENT_ID.SCALAR) enter(event, event.valueStart)
    else if (event.type === EVENT_ID.ALIAS) enter(event, event.anchorStart)
    else if (event.type === EVENT_ID.MAPPING)
      open.push({ pointer: enter(event, event.start) ?? '', items: undefined, next: undefined })
    else if (event.type === EVENT_ID.SEQUENCE)
      open.push({ pointer: enter(event, event.start) ?? '', items: 0, next: undefined })
    else if (event.type === EVENT_ID.POP) open.pop()
  }
  return places
}
