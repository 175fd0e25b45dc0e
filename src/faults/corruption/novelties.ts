import { isObject, pointTo } from '../../ground/json.ts'
import type { Draw } from '../injection.ts'
import { type PossibleChange, replacement } from './corruption-kind.ts'
import { insertEntry } from './json-text.ts'
import { type BodyPlace, type ParsedResponse, pointerOf, shuffle, spanOf } from './parsed-response.ts'

/** Values that a later version of the service could have, by field. They are invented, so no contract contains them. */
const VALUES: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['p', ['monitor', 'report', 'discard']],
  ['sp', ['monitor', 'report', 'discard']],
  ['np', ['monitor', 'report', 'discard']],
  ['testing', ['p', 'partial', 'unknown']],
  ['code', ['maintenance', 'account_suspended', 'try_again_later']],
])

/** Properties that a later version could have, with their values as JSON. */
const PROPERTIES: readonly (readonly [name: string, json: string])[] = [
  ['created_at', '"2026-01-15T09:00:00Z"'],
  ['status', '"active"'],
  ['tags', '[]'],
  ['owner', 'null'],
  ['version', '2'],
  ['links', '{"self":"/"}'],
]

/** New values for a field by its name; none for a field that may hold any text. */
export function newValues({ step, value }: BodyPlace): readonly string[] {
  return typeof value === 'string' ? (VALUES.get(step) ?? []) : []
}

export function hasNewValues(field: string): boolean {
  return VALUES.has(field)
}

/** Values outside of the `known` ones: new values, and the present value in other spellings. */
export function unknownValues(place: BodyPlace, known: readonly unknown[]): unknown[] {
  const { value } = place
  if (typeof value === 'number') {
    return [Math.max(value, ...known.filter((each) => typeof each === 'number')) + 1]
  }
  if (typeof value !== 'string') return []
  const values = new Set([...newValues(place), 'unknown', value.toUpperCase(), `${value}_v2`])
  return [...values].filter((each) => !known.includes(each))
}

/** Replaces the value at a place by a new value. */
export function newValue(response: ParsedResponse, place: BodyPlace, value: unknown): PossibleChange {
  return replacement(response, place, () => JSON.stringify(value), `${wordNewValue(place, value)}.`)
}

export function wordNewValue(place: BodyPlace, value: unknown): string {
  return `${pointerOf(place)} became the new value ${JSON.stringify(value)} instead of ${JSON.stringify(place.value)}`
}

/** Adds properties that the object at a place does not have yet; none if the place has no object. */
export function* additions(response: ParsedResponse, place: BodyPlace, draw: Draw): Generator<PossibleChange> {
  const { value } = place
  if (!isObject(value)) return
  for (const [name, json] of shuffle(PROPERTIES, draw)) {
    if (Object.hasOwn(value, name)) continue
    const index = Math.floor(draw() * (Object.keys(value).length + 1))
    yield {
      about: place.shape,
      make: () => ({
        text: insertEntry(response.text, spanOf(response, place), index, `"${name}":${json}`),
        change: `${pointTo(pointerOf(place), name)} was added.`,
      }),
    }
  }
}
