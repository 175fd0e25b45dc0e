import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  entriesOf,
  insertEntry,
  removeEntry,
  replaceSpan,
  respace,
  spanAt,
  textOf,
} from '../../../src/faults/corruption/json-text.ts'
import { define, isObject, type Json } from '../../../src/ground/json.ts'
import { budget } from '../../support/budget.ts'

const SEED = 20260115
const RUNS = budget({ quick: 50, whole: 300, full: 3_000 })

type Step = string | number

const leaf = fc.oneof(
  fc.constantFrom(null, true, false, 0, -0.5, 1e300, 1e-7),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('', '"', '\\', '\\"', '{"a":[', '],:}', '\u2028', 'ü😀', '\ud800'),
)
// Of keys with a backslash in their text there is one alone: V8 13.6 takes such keys for one another, so that after
// `{"\":1}` it reads `{"\"":1}` as the same.
const key = fc.oneof(
  fc.constantFrom('a', 'b', '', '__proto__', 'constructor', '0', '"', 'a/b', ':,'),
  fc.string({ maxLength: 4 }).filter((text) => JSON.stringify(text) === `"${text}"`),
)
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium' },
    leaf,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('json')), { maxLength: 4 }).map((entries) => {
      const object: Json = {}
      for (const [name, value] of entries) define(object, name, value)
      return object
    }),
  ),
}))
const space = fc.constantFrom('', ' ', '\n', '\t\r\n  ')

/** A value written with white space of all kinds, as any server may. */
const written = fc.tuple(json, space, space, space).map(([value, line, comma, colon]) => {
  const text = respace(JSON.stringify(value), { line: () => line, comma, colon })
  return { value, text: line + text + comma }
})

/** Every value in a value, with the steps that lead to it. */
function* valuesIn(value: unknown, steps: Step[] = []): Generator<{ value: unknown; steps: Step[] }> {
  yield { value, steps }
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* valuesIn(item, [...steps, index])
  if (isObject(value)) for (const name of Object.keys(value)) yield* valuesIn(value[name], [...steps, name])
}

/** Keys too must be equal, and in the same order. */
const same = (text: string, value: unknown) => expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(value))

describe('in a text of JSON', () => {
  it(`every value is found by the steps to it (seed ${SEED})`, () => {
    fc.assert(
      fc.property(written, ({ value, text }) => {
        for (const place of valuesIn(value)) same(textOf(text, spanAt(text, place.steps)), place.value)
      }),
      { seed: SEED, numRuns: RUNS },
    )
  })

  it(`any value can be replaced without touching another character (seed ${SEED})`, () => {
    fc.assert(
      fc.property(written, fc.nat(), ({ value, text }, choice) => {
        const places = [...valuesIn(value)]
        const { steps = [] } = places[choice % places.length] ?? {}
        const { start, end } = spanAt(text, steps)
        const replaced = replaceSpan(text, { start, end }, '"new"')
        same(textOf(replaced, spanAt(replaced, steps)), 'new')
        expect(replaced.startsWith(text.slice(0, start)) && replaced.endsWith(text.slice(end))).toBe(true)
      }),
      { seed: SEED, numRuns: RUNS },
    )
  })

  it(`every entry can be removed with its comma (seed ${SEED})`, () => {
    fc.assert(
      fc.property(written, ({ value, text }) => {
        for (const { value: container, steps } of valuesIn(value)) {
          const span = spanAt(text, steps)
          for (const [index, entry] of [...entriesIn(container)].entries()) {
            const rest = [...entriesIn(container)].filter((_, place) => place !== index)
            const removed = removeEntry(text, span, entry[0])
            same(textOf(removed, spanAt(removed, steps)), containerOf(container, rest))
          }
        }
      }),
      { seed: SEED, numRuns: RUNS },
    )
  })

  it(`an entry can be put at every place with its comma (seed ${SEED})`, () => {
    fc.assert(
      fc.property(written, ({ value, text }) => {
        for (const { value: container, steps } of valuesIn(value)) {
          if (typeof container !== 'object' || container === null) continue
          const entries = [...entriesIn(container)]
          for (let index = 0; index <= entries.length + 1; index++) {
            const entry = Array.isArray(container) ? 'true' : '"a new one":true'
            const grown = insertEntry(text, spanAt(text, steps), index, entry)
            const expected = entries.toSpliced(index, 0, ['a new one', true])
            const { start } = spanAt(grown, steps)
            const found = [...entriesOf(grown, { start })].map((each) => textOf(grown, each))
            expect(found.map((each) => JSON.stringify(JSON.parse(each)))).toEqual(
              expected.map(([, each]) => JSON.stringify(each)),
            )
            JSON.parse(grown)
          }
        }
      }),
      { seed: SEED, numRuns: RUNS },
    )
  })

  it(`other white space changes no value (seed ${SEED})`, () => {
    fc.assert(
      fc.property(written, space, space, space, ({ value, text }, line, comma, colon) => {
        same(respace(text, { line: (depth) => line.repeat(depth), comma, colon }), value)
      }),
      { seed: SEED, numRuns: RUNS },
    )
  })

  it.each([0, 1, 2, 4])('white space can be as JSON.stringify writes it with an indentation of %i', (indent) => {
    const value = { a: [], b: {}, c: [{ d: '[1, 2]' }, [3, null]], __proto: { '{': ':' } }
    const line = (depth: number) => (indent === 0 ? '' : `\n${' '.repeat(indent * depth)}`)
    const text = respace(JSON.stringify(value, null, 3), { line, comma: '', colon: indent === 0 ? '' : ' ' })
    expect(text).toBe(JSON.stringify(value, null, indent))
  })

  it.each<[what: string, text: string, steps: Step[]]>([
    ['a property that is not there', '{"a":1}', ['b']],
    ['an item that is not there', '[1]', [1]],
    ['an inherited property', '{"a":1}', ['constructor']],
  ])('looking for %s is a mistake', (_, text, steps) => {
    expect(() => spanAt(text, steps)).toThrow(/^There is nothing at /)
  })

  it.each(['', '[1', '[1,', '{"a":', '{"a":[1', '["a', '{"a" 1}'])('that is none, %j, looking is a mistake', (text) => {
    expect(() => [...entriesOf(text, { start: 0 })].length).toThrow()
  })
})

function* entriesIn(container: unknown): Generator<[step: Step, value: unknown]> {
  if (Array.isArray(container)) yield* container.entries()
  else if (isObject(container)) for (const name of Object.keys(container)) yield [name, container[name]]
}

function containerOf(container: unknown, entries: [Step, unknown][]): unknown {
  if (Array.isArray(container)) return entries.map(([, value]) => value)
  const object: Json = {}
  for (const [name, value] of entries) define(object, String(name), value)
  return object
}
