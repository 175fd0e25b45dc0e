import type { ResponseContract } from '../../contract/api.ts'
import { isObject, type Json, pointTo } from '../../ground/json.ts'
import type { Draw } from '../injection.ts'
import { spanAt, type TextSpan } from './json-text.ts'

/** The body of a genuine response, with its contract. */
export interface ParsedResponse {
  text: string
  /** The whole body as a place. */
  root: BodyPlace
  contract: ResponseContract
}

/** A value in a body. */
export interface BodyPlace {
  value: unknown
  shape: Shape
  /** The place in `parent`; both are absent for the whole body. */
  step?: string | number
  parent?: BodyPlace
}

/** The probability that a container is visited before its contents. */
const OWN_SHARE = 1 / 4

export function parseResponse(body: Buffer, contract: ResponseContract): ParsedResponse {
  const text = body.toString()
  return { text, root: { value: JSON.parse(text), shape: new Shape([contract.schema]) }, contract }
}

/**
 * All values of a body, in random order at each step down. All branches are equally likely, and only requested values
 * are visited. With `wanted`, a part of the body is skipped if its shape leads to no wanted shape.
 */
export function* placesIn(place: BodyPlace, draw: Draw, wanted?: (shape: Shape) => boolean): Generator<BodyPlace> {
  const { value, shape } = place
  if (typeof value !== 'object' || value === null || (wanted !== undefined && !shape.leadsTo(wanted))) {
    yield place
    return
  }
  // A container is one place beside all places in it, so it gets a share of its own.
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

export function pointerOf(place: BodyPlace): string {
  return stepsTo(place).reduce<string>(pointTo, '')
}

export function spanOf({ text }: ParsedResponse, place: BodyPlace): TextSpan {
  return spanAt(text, stepsTo(place))
}

function stepsTo({ step, parent }: BodyPlace): (string | number)[] {
  return step === undefined || parent === undefined ? [] : [...stepsTo(parent), step]
}

export function shuffle<Item>(items: readonly Item[], draw: Draw): Item[] {
  const ranked = items.map((item) => ({ item, rank: draw() }))
  return ranked.sort((one, other) => one.rank - other.rank).map(({ item }) => item)
}

/**
 * The combined statements of the schemas that may apply to a place. All alternatives (`oneOf`) count, so the result is
 * a guess. The check of the contract confirms or refutes it.
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

  /** The properties that have a name in a schema. */
  get declared(): string[] {
    return [...new Set(this.#schemas.flatMap((schema) => Object.keys(propertiesOf(schema))))]
  }

  /** Whether a value may have one of these types of JSON Schema. */
  mayBe(...types: string[]): boolean {
    return this.#schemas.some((schema) => [schema['type']].flat().some((type) => types.includes(String(type))))
  }

  /** Whether undeclared properties are forbidden. */
  get isClosed(): boolean {
    return this.#schemas.some(
      ({ additionalProperties, unevaluatedProperties }) =>
        additionalProperties === false || unevaluatedProperties === false,
    )
  }

  /** The allowed values, if they are listed. */
  get values(): readonly unknown[] | undefined {
    const lists = this.#schemas.map((schema) => schema['enum']).filter((list) => Array.isArray(list))
    return lists.length === 0 ? undefined : lists.flat()
  }

  requires(name: string): boolean {
    return this.#schemas.some(({ required }) => Array.isArray(required) && required.includes(name))
  }

  /** Whether this shape, or a shape declared below it, passes the test. */
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

/** The object has no prototype, so that it has no property `constructor`. */
function propertiesOf({ properties }: Json): Json {
  return isObject(properties) ? Object.assign(Object.create(null), properties) : Object.create(null)
}
