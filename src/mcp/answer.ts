import { isObject, type Json, mapValues, pointTo, stepsOf, writeJson } from '../ground/json.ts'
import { shorten, show } from '../ground/show.ts'
import { refuseArgument } from '../library/control-error.ts'
import { writeOutline } from './outline.ts'

/** What a tool answers: the same data for a program, and as a text that is short to read. */
export interface ToolAnswer {
  data: Json
  text: string
}

/** Which part of the data is wanted, and how much of it at most. */
export interface AnswerExtent {
  /** JSON pointer; by default all. */
  part: string
  /** Characters of the text, and about as many of the data. */
  characters: number
}

export const CHARACTERS = { usual: 16_000, least: 1_000, most: 200_000 }

/** Something that an answer does not show. */
interface Omission {
  at: string
  left_out: string
}

const ALL_OF_IT = 'all'
/** All of it, until `part` asks for it. */
const ASIDE = 'all, by default'

/** How much of each array, text and level is shown. */
interface Measure {
  items: number
  text: number
  depth: number
}

/** Characters of a text in an answer of which much is left out. */
const BRIEF = 300
const ALL: Measure = {
  items: Number.POSITIVE_INFINITY,
  text: Number.POSITIVE_INFINITY,
  depth: Number.POSITIVE_INFINITY,
}
/** From the most generous to one of which the size of the data hardly matters. */
const MEASURES: readonly Measure[] = [
  ALL,
  ...[2_000, 500, BRIEF].map((text) => ({ ...ALL, text })),
  ...[200, 100, 50, 20, 10, 5, 2, 1].map((items) => ({ ...ALL, items, text: BRIEF })),
  ...[6, 4, 3, 2].map((depth) => ({ items: 1, text: 100, depth })),
]

/** What a tool knows of its answers. */
export interface AnswerTerms {
  /** JSON pointers to what is only shown if `part` asks for it; `*` stands for each item of a list. */
  aside?: readonly string[]
  /** Further arguments with which the same data is asked for again; absent if the tool takes no extent. */
  again?: Json
}

/**
 * The answer with this data. What is too long is left out, longest texts and lists first, and the answer says where.
 * @throws ControlError if the data has no such part
 */
export function writeAnswer(
  whole: unknown,
  { part, characters }: AnswerExtent,
  { aside = [], again }: AnswerTerms,
): ToolAnswer {
  const wanted = findPart(whole, part)
  const hidden = part === '' ? aside : []
  for (const measure of MEASURES) {
    const omissions: Omission[] = []
    const value = shown(wanted, part, { measure, hidden, omissions })
    const isLast = measure === MEASURES.at(-1)
    const size = writeJson(value)?.length ?? Number.POSITIVE_INFINITY
    if (size > characters && !isLast) continue
    const text = writeText(value, omissions, again)
    if (text.length > characters && !isLast) continue
    const data = isObject(value) && part === '' ? value : { part, value }
    return {
      data: size > characters ? {} : { ...data, ...(omissions.length > 0 && { left_out: omissions }) },
      text: shorten(text, characters),
    }
  }
  throw new Error('The last measure takes everything.')
}

function findPart(whole: unknown, part: string): unknown {
  if (part === '') return whole
  let value = whole
  let pointer = ''
  for (const step of stepsOf(part.startsWith('/') ? part : `/${part}`)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) {
      const names = typeof value === 'object' && value !== null ? Object.keys(value) : []
      const place = pointer === '' ? 'The answer' : `${pointer} of the answer`
      const there =
        names.length === 0
          ? 'has no parts'
          : `has ${shorten(names.map((name) => pointTo(pointer, name)).join(', '), 300)}`
      throw refuseArgument(
        '/part',
        `/part is ${show(part)}, but must be a JSON pointer into the answer. ${place} ${there}.`,
      )
    }
    value = (value as Json)[step]
    pointer = pointTo(pointer, step)
  }
  return value
}

/** A copy of which long texts, long lists and deep levels are shortened. */
function shown(
  value: unknown,
  at: string,
  context: { measure: Measure; hidden: readonly string[]; omissions: Omission[] },
  depth = 0,
): unknown {
  const { measure, hidden, omissions } = context
  if (typeof value === 'string' && value.length > measure.text) {
    omissions.push({ at, left_out: `${value.length - measure.text} of ${value.length} characters` })
    return `${value.slice(0, measure.text)}…`
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth >= measure.depth && Object.keys(value).length > 0) {
    omissions.push({ at, left_out: ALL_OF_IT })
    return Array.isArray(value) ? '[…]' : '{…}'
  }
  if (!Array.isArray(value)) {
    const there = Object.entries(value).filter(([key, each]) => {
      const place = pointTo(at, key).replaceAll(/\/\d+(?=\/)/g, '/*')
      if (!hidden.includes(place)) return true
      const isNews = each !== null && omissions.every((known) => known.at !== place)
      if (isNews) omissions.push({ at: place, left_out: ASIDE })
      return false
    })
    return mapValues(Object.fromEntries(there), (each, key) => shown(each, pointTo(at, key), context, depth + 1))
  }
  const few = value.slice(0, measure.items)
  if (few.length < value.length) {
    omissions.push({ at, left_out: `${value.length - few.length} of ${value.length} items` })
  }
  return few.map((each, index) => shown(each, pointTo(at, index), context, depth + 1))
}

/** How many omissions a text names. */
const NAMED = 8

function writeText(value: unknown, omissions: readonly Omission[], again: Json | undefined): string {
  const body = typeof value === 'string' ? value : writeOutline(value)
  const [first] = omissions
  if (first === undefined) return body
  const isCut = omissions.some(({ left_out }) => left_out !== ASIDE)
  const named = omissions
    .slice(0, NAMED)
    .map(({ at, left_out }) =>
      left_out === ALL_OF_IT || left_out === ASIDE ? at : `${left_out} at ${at || 'the top'}`,
    )
  const more = omissions.length > NAMED ? [`and ${omissions.length - NAMED} more`] : []
  const args = Object.entries({ ...again, part: first.at.replaceAll('*', '0') }).map(
    ([name, each]) => `${name}: ${each}`,
  )
  const remedy =
    again === undefined
      ? 'A tool that begins with get_ or list_ shows the rest.'
      : `Ask again with ${args.join(' and ')}${isCut ? `, or with max_characters up to ${CHARACTERS.most}` : ''}.`
  return `${body}\n\nLeft out: ${[...named, ...more].join('; ')}. ${remedy}`
}

/** The length of the text with all items of this data, if each text in it is brief. */
export function measureBriefly(data: unknown, hidden: readonly string[] = []): number {
  const brief = shown(data, '', { measure: { ...ALL, text: BRIEF }, hidden, omissions: [] })
  return writeOutline(brief).length + NOTE
}

/** Room for the line that says what is left out. */
const NOTE = 800
