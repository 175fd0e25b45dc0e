import type { ResponseContract } from '../contract/api.ts'
import { isObject, type Json, pointTo } from '../ground/json.ts'
import type { Draw } from './injection.ts'

/** The body of a genuine response, with its contract. */
export interface GenuineBody {
  text: string
  value: unknown
  contract: ResponseContract
}

/** A value in a body, and the steps from the whole body to it. */
export interface Place {
  value: unknown
  steps: readonly (string | number)[]
}

/** A possible change; it must still be checked whether it keeps the promise of its kind. */
export interface PossibleChange {
  /** "/data/domains was left out." */
  change: string
  /** The changed body. */
  write(): string
}

export type Candidates = (body: GenuineBody, draw: Draw) => Iterable<PossibleChange>

/** The items of an array are so alike that a few of them stand for all. */
const VISITED = 20

/** One place of each kind, in random order: what is allowed at one place is allowed at all of its kind. */
export function placesIn({ value: body }: GenuineBody, draw: Draw, fits = (_: Place) => true): Place[] {
  const kinds = new Map<string, Place[]>()
  function visit(place: Place): void {
    const { value, steps } = place
    const kind = kindOfPlace(place)
    if (fits(place)) kinds.set(kind, [...(kinds.get(kind) ?? []), place])
    for (const step of stepsInto(value, draw)) visit({ value: (value as Json)[step], steps: [...steps, step] })
  }
  visit({ value: body, steps: [] })
  return shuffle([...kinds.values()], draw).map((alike) => pick(alike, draw))
}

/** Some items from a random one on, or all properties. */
function stepsInto(value: unknown, draw: Draw): (string | number)[] {
  if (isObject(value)) return Object.keys(value)
  if (!Array.isArray(value)) return []
  const start = Math.floor(draw() * value.length)
  return Array.from({ length: Math.min(VISITED, value.length) }, (_, passed) => (start + passed) % value.length)
}

export function pick<Item>(items: readonly Item[], draw: Draw): Item {
  return items[Math.floor(draw() * items.length)] as Item
}

export function shuffle<Item>(items: readonly Item[], draw: Draw): Item[] {
  const ranked = items.map((item) => ({ item, rank: draw() }))
  return ranked.sort((one, other) => one.rank - other.rank).map(({ item }) => item)
}

export function pointerOf({ steps }: Place): string {
  return steps.reduce<string>(pointTo, '')
}

/** The pointer without the positions of items. */
export function kindOfPlace({ steps }: Place): string {
  return steps.map((step) => (typeof step === 'number' ? '*' : step)).join('/')
}

/** The text of the body with another value at a place; `undefined` leaves the value out. */
export function writeWith({ value, contract }: GenuineBody, { steps }: Place, changed: unknown): string {
  return contract.write(withValueAt(value, steps, changed))
}

function withValueAt(value: unknown, [step, ...rest]: Place['steps'], changed: unknown): unknown {
  if (step === undefined) return changed
  const inner = withValueAt((value as Json)[step], rest, changed)
  return Array.isArray(value) ? value.with(Number(step), inner) : { ...(value as Json), [step]: inner }
}
