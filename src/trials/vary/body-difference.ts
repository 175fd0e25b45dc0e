import { isDeepStrictEqual } from 'node:util'
import { isObject, pointTo, readJson } from '../../ground/json.ts'
import { plural } from '../../ground/plural.ts'
import { shorten, show } from '../../ground/show.ts'
import { findDifference } from '../../reports/difference.ts'

/** The longest value in a sentence, in characters. */
const LONGEST = 60
/** How many items of a list are shown. */
const ITEMS = 3
/** How many characters before a difference in a text are shown at most. */
const BEFORE = 30

/**
 * The first difference between the bodies of two responses, as the rest of the sentence `The service answers …`: `with
 * "reject" instead of "none" at /data/0/p`. A list with the same items is in another order.
 */
export function wordBodies(expected: string | undefined, received: string | undefined): string {
  if (received === undefined || received === '') return 'without a body'
  if (expected === undefined || expected === '') return `with the body ${shorten(received, LONGEST)}`
  const [one, other] = [readJson(expected), readJson(received)]
  const isJson = one !== undefined && other !== undefined
  return (isJson ? wordValues(one, other, '') : undefined) ?? wordTexts(expected, received)
}

/** `undefined` if both values are equal. */
function wordValues(expected: unknown, received: unknown, pointer: string): string | undefined {
  if (isDeepStrictEqual(expected, received)) return undefined
  if (Array.isArray(expected) && Array.isArray(received)) return wordLists(expected, received, pointer)
  if (isObject(expected) && isObject(received)) return wordObjects(expected, received, pointer)
  return `with ${write(received)} instead of ${write(expected)}${at(pointer)}`
}

function wordLists(expected: readonly unknown[], received: readonly unknown[], pointer: string): string | undefined {
  if (expected.length !== received.length) {
    return `with ${plural(received.length, 'item')} instead of ${expected.length}${at(pointer)}`
  }
  if (isDeepStrictEqual(sorted(expected), sorted(received))) {
    const start = expected.findIndex((each, index) => !isDeepStrictEqual(each, received[index]))
    const [one, other] = [expected, received].map((list) => writeItems(list, start))
    return `with another order${at(pointer)}: ${other} instead of ${one}`
  }
  return firstOf(expected.keys(), (index) => wordValues(expected[index], received[index], pointTo(pointer, index)))
}

function wordObjects(
  expected: Readonly<Record<string, unknown>>,
  received: Readonly<Record<string, unknown>>,
  pointer: string,
): string | undefined {
  const names = new Set([...Object.keys(expected), ...Object.keys(received)])
  return firstOf(names, (name) => {
    const place = pointTo(pointer, name)
    if (!Object.hasOwn(received, name)) return `without ${place}, which was ${write(expected[name])}`
    if (!Object.hasOwn(expected, name)) return `with ${write(received[name])} at ${place}, where nothing was`
    return wordValues(expected[name], received[name], place)
  })
}

function firstOf<Item>(items: Iterable<Item>, word: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const words = word(item)
    if (words !== undefined) return words
  }
  return undefined
}

/** Texts that have the same meaning as JSON, such as `100.0` and `100`, or that are no JSON. */
function wordTexts(expected: string, received: string): string {
  const [[same]] = findDifference(expected, received)
  const start = /[^,{[]*$/.exec(same.slice(-BEFORE))?.[0] ?? ''
  const [one, other] = [expected, received].map((text) => start + /^[^,}\]]*/.exec(text.slice(same.length))?.[0])
  return `with ${shorten(other ?? '', LONGEST)} instead of ${shorten(one ?? '', LONGEST)}`
}

function sorted(list: readonly unknown[]): string[] {
  return list.map((item) => JSON.stringify(item)).toSorted()
}

/** The items from the first one that is elsewhere. */
function writeItems(list: readonly unknown[], start: number): string {
  const shown = list.slice(start, start + ITEMS).map(write)
  return `${shown.join(', ')}${list.length > start + ITEMS ? ', …' : ''}`
}

function write(value: unknown): string {
  return shorten(show(value), LONGEST)
}

function at(pointer: string): string {
  return pointer === '' ? '' : ` at ${pointer}`
}
