import type { ResponseContract } from '../../contract/api.ts'
import { isObject, type Json, pointTo } from '../../ground/json.ts'
import { type Span, spanAt } from './json-text.ts'

/** Numbers from 0 up to 1, exclusive. */
export type Draw = () => number

/** A genuine answer with what the contract says of it. */
export interface Answer {
  text: string
  /** The whole answer as a place. */
  root: Place
  response: ResponseContract
}

/** A value in an answer. */
export interface Place {
  value: unknown
  shape: Shape
  /** Where it stands in `parent`; both are absent for the whole answer. */
  step?: string | number
  parent?: Place
}

/** A change that somebody could make; whether it does what it should is yet to be proved. */
export interface Candidate {
  /** Candidates of the same kind of place are likely to share their fate. */
  about: unknown
  make(): { text: string; change: string }
}

/** How often a container is visited before what it holds. */
const OWN_SHARE = 1 / 4

export function readAnswer(body: Buffer, response: ResponseContract): Answer {
  const text = body.toString()
  return { text, root: { value: JSON.parse(text), shape: new Shape([response.schema]) }, response }
}

/**
 * Every value of an answer in an order that chance decides at each step down, so that all branches are as likely and
 * only what is asked for is visited. With `wanted`, what lies below a shape that leads to no such one is left out.
 */
export function* placesIn(place: Place, draw: Draw, wanted?: (shape: Shape) => boolean): Generator<Place> {
  const { value, shape } = place
  if (typeof value !== 'object' || value === null || (wanted !== undefined && !shape.leadsTo(wanted))) {
    yield place
    return
  }
  // A container is one place beside all those in it, so it gets a share of its own.
  const first = draw() < OWN_SHARE
  if (first) yield place
  for (const step of stepsInto(value, draw)) {
    const child = typeof step === 'number' ? shape.items : shape.property(step)
    yield* placesIn({ value: (value as Json)[step], shape: child, step, parent: place }, draw, wanted)
  }
  if (!first) yield place
}

/** All items from a random one on, or all properties in random order. */
function* stepsInto(value: unknown, draw: Draw): Generator<string | number> {
  if (Array.isArray(value)) {
    const start = Math.floor(draw() * value.length)
    for (let passed = 0; passed < value.length; passed++) yield (start + passed) % value.length
  } else if (isObject(value)) {
    yield* shuffle(Object.keys(value), draw)
  }
}

export function pointerOf({ step, parent }: Place): string {
  return step === undefined || parent === undefined ? '' : pointTo(pointerOf(parent), step)
}

export function spanOf({ text }: Answer, place: Place): Span {
  return spanAt(text, stepsTo(place))
}

function stepsTo({ step, parent }: Place): (string | number)[] {
  return step === undefined || parent === undefined ? [] : [...stepsTo(parent), step]
}

export function shuffle<Item>(items: readonly Item[], draw: Draw): Item[] {
  const ranked = items.map((item) => ({ item, rank: draw() }))
  return ranked.sort((one, other) => one.rank - other.rank).map(({ item }) => item)
}

/**
 * What the schemas that may apply to a place say of it together. Of alternatives (`oneOf`) all are heard, so what it
 * says is a guess, which the contract's check proves or refutes.
 */
export class Shape {
  readonly #schemas: readonly Json[]
  readonly #properties = new Map<string, Shape>()
  readonly #leads = new Map<(shape: Shape) => boolean, boolean>()
  #items: Shape | undefined

  constructor(schemas: readonly unknown[]) {
    this.#schemas = schemas.flatMap(withAlternatives)
  }

  property(name: string): Shape {
    let shape = this.#properties.get(name)
    if (shape === undefined) {
      shape = new Shape(this.#schemas.map((schema) => propertiesOf(schema)[name] ?? schema['additionalProperties']))
      this.#properties.set(name, shape)
    }
    return shape
  }

  get items(): Shape {
    this.#items ??= new Shape(this.#schemas.map((schema) => schema['items']))
    return this.#items
  }

  /** The properties that are named. */
  get declared(): string[] {
    return [...new Set(this.#schemas.flatMap((schema) => Object.keys(propertiesOf(schema))))]
  }

  /** Whether a value of one of these types of JSON Schema is provided for. */
  mayBe(...types: string[]): boolean {
    return this.#schemas.some((schema) => [schema['type']].flat().some((type) => types.includes(String(type))))
  }

  /** Whether properties that are not named are forbidden. */
  get isClosed(): boolean {
    return this.#schemas.some(
      ({ additionalProperties, unevaluatedProperties }) =>
        additionalProperties === false || unevaluatedProperties === false,
    )
  }

  /** The values that it may have, where they are listed. */
  get values(): readonly unknown[] | undefined {
    const lists = this.#schemas.map((schema) => schema['enum']).filter((list) => Array.isArray(list))
    return lists.length === 0 ? undefined : lists.flat()
  }

  requires(name: string): boolean {
    return this.#schemas.some(({ required }) => Array.isArray(required) && required.includes(name))
  }

  /** Whether it, or a shape that is declared below it, passes the test. */
  leadsTo(test: (shape: Shape) => boolean): boolean {
    if (this.#schemas.length === 0) return false
    let leads = this.#leads.get(test)
    if (leads === undefined) {
      const below = () => [this.items, ...this.declared.map((name) => this.property(name))]
      leads = test(this) || below().some((shape) => shape.leadsTo(test))
      this.#leads.set(test, leads)
    }
    return leads
  }
}

function withAlternatives(schema: unknown): Json[] {
  if (!isObject(schema)) return []
  const { allOf, anyOf, oneOf } = schema
  return [schema, ...[allOf, anyOf, oneOf].flat().flatMap(withAlternatives)]
}

/** Without a prototype, so that a name such as `constructor` finds nothing. */
function propertiesOf({ properties }: Json): Json {
  return isObject(properties) ? Object.assign(Object.create(null), properties) : Object.create(null)
}
