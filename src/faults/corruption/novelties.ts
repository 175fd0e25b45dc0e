import { isObject, pointTo } from '../../ground/json.ts'
import type { Draw } from '../injection.ts'
import {
  type GenuineBody,
  kindOfPlace,
  type Place,
  type PossibleChange,
  placesIn,
  pointerOf,
  shuffle,
  writeWith,
} from './body.ts'

/** Values that a later version of the service could have, by field. They are invented, so no contract contains them. */
const VALUES: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['p', ['monitor', 'report', 'discard']],
  ['sp', ['monitor', 'report', 'discard']],
  ['np', ['monitor', 'report', 'discard']],
  ['testing', ['p', 'partial', 'unknown']],
  ['code', ['maintenance', 'account_suspended', 'try_again_later']],
])

/** Properties that a later version could have. */
const PROPERTIES: Readonly<Record<string, unknown>> = {
  created_at: '2026-01-15T09:00:00Z',
  status: 'active',
  tags: [],
  owner: null,
  version: 2,
  links: { self: '/' },
}

/** New values for a field by its name; none for a field that may hold any text. */
export function newValues({ steps, value }: Place): readonly string[] {
  return typeof value === 'string' ? (VALUES.get(steps.at(-1)) ?? []) : []
}

export function wordNewValue(place: Place, value: unknown): string {
  return `${pointerOf(place)} became the new value ${JSON.stringify(value)} instead of ${JSON.stringify(place.value)}`
}

/** Adds a property to an object that does not have it yet. */
export function* additions(body: GenuineBody, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn({ value: body.value, steps: [] }, draw)) {
    const { value } = place
    if (!isObject(value)) continue
    for (const name of shuffle(Object.keys(PROPERTIES), draw)) {
      if (Object.hasOwn(value, name)) continue
      const entries = Object.entries(value)
      const index = Math.floor(draw() * (entries.length + 1))
      yield {
        about: kindOfPlace(place),
        change: `${pointTo(pointerOf(place), name)} was added.`,
        write: () => writeWith(body, place, Object.fromEntries(entries.toSpliced(index, 0, [name, PROPERTIES[name]]))),
      }
    }
  }
}

/** Leaves out a property. `note` is an addition to the sentence about it. */
export function* omissions(body: GenuineBody, draw: Draw, note = ''): Generator<PossibleChange> {
  for (const place of placesIn({ value: body.value, steps: [] }, draw)) {
    // The fields of the envelope belong to `bad-envelope`.
    if (place.steps.length < 2 || typeof place.steps.at(-1) === 'number') continue
    yield {
      about: kindOfPlace(place),
      change: `${pointerOf(place)}${note} was left out.`,
      write: () => writeWith(body, place, undefined),
    }
  }
}
