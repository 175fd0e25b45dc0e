import type { Event } from 'js-yaml'
import { countBelow } from '../ground/counting.ts'
import { pointTo } from '../ground/json.ts'
import { readPackageFile } from '../ground/package-files.ts'
import { OWN_DOCUMENT } from './document.ts'

/**
 * The line of a YAML text, from 1, with the key or the item that a JSON pointer leads to. An addition of an overlay,
 * for example, is not in the text. Its pointer has the line of its nearest parent in the text.
 */
export type LineOf = (pointer: string) => number

let own: Promise<LineOf> | undefined

/** The lines of the service's OpenAPI document in the package. All callers in a process share the result. */
export function readLines(): Promise<LineOf> {
  own ??= linesOf(readPackageFile(OWN_DOCUMENT).toString())
  return own
}

/** The lines of a text that is valid YAML and one document. */
export async function linesOf(text: string): Promise<LineOf> {
  const lines = await findLines(text)
  return (pointer) => {
    for (let place = pointer; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
      const line = lines.get(place)
      if (line !== undefined) return line
    }
    return 1
  }
}

/** JSON pointer → line of each key and each item. */
async function findLines(text: string): Promise<ReadonlyMap<string, number>> {
  const breaks = [...text.matchAll(/\n/g)].map(({ index }) => index)
  const places = await findPlaces(text)
  return new Map([...places].map(([place, offset]) => [place, countBelow(breaks, offset) + 1]))
}

/** JSON pointer → offset of each key and each item. The target of an alias is written elsewhere, so it is left out. */
async function findPlaces(text: string): Promise<ReadonlyMap<string, number>> {
  const { parseEvents, getScalarValue, EVENT_ID } = await import('js-yaml')
  const places = new Map<string, number>()
  const events = parseEvents(text, {}).values()

  function next(): Event {
    return events.next().value as Event
  }

  /** Reads the value that begins with this event, up to its end. */
  function readValue(event: Event, pointer: string): void {
    if (event.type !== EVENT_ID.MAPPING && event.type !== EVENT_ID.SEQUENCE) return
    let index = 0
    for (let first = next(); first.type !== EVENT_ID.POP; first = next()) {
      const isKey = event.type === EVENT_ID.MAPPING
      const key = first.type === EVENT_ID.SCALAR ? getScalarValue(text, first) : ''
      const place = pointTo(pointer, isKey ? key : index++)
      places.set(place, offsetOf(first))
      readValue(first, place)
      if (isKey) readValue(next(), place)
    }
  }

  // The first event is the beginning of the document.
  next()
  readValue(next(), '')
  return places
}

function offsetOf(event: Event): number {
  if ('valueStart' in event) return event.valueStart
  if ('start' in event) return event.start
  return 'anchorStart' in event ? event.anchorStart : 0
}
