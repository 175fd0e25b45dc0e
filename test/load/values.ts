import { isObject, type Json } from '../../src/ground/json.ts'
import { createRandom } from '../support/random.ts'

/** Numbers that look like chance and are the same at every run of a seed. */
export class Chance {
  /** From 0 up to, not including, 1. */
  readonly next: () => number

  constructor(seed: number) {
    this.next = createRandom(seed)
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  happens(probability: number): boolean {
    return this.next() < probability
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('There is nothing to pick from.')
    return item
  }
}

/** What is no value of any schema here, or of few. */
const ODD: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 2 ** 53, 1e308, '', ' ', '\0', '\ud800', '🎉', '__proto__', '../..', '%00'],
  ...[[], {}, [[]], [null], { a: { b: {} } }, 'x'.repeat(300), 'x'.repeat(20_000)],
]
const NAMES = ['constructor', '__proto__', 'toString', 'id', 'domains', 'name', '', 'a/b~c', '0', 'x'.repeat(200)]
const HOSTNAMES = [
  ...['example.com', 'EXAMPLE.com.', 'bücher.example', 'xn--bcher-kva.example', 'a.b', 'p-reject.understudy.test'],
  ...['locked.understudy.test', 'fail-not-found.understudy.test', 'dkim-95x5.count-1200.understudy.test'],
  ...[`${'a'.repeat(63)}.example`, `${'a'.repeat(64)}.example`, `${'a.'.repeat(125)}com`, `${'a.'.repeat(127)}com`],
  ...['localhost', '127.0.0.1', '*.example.com', '_dmarc.example.com', 'http://example.com', 'xn--a.example', '-a.b'],
]
const INSTANTS = ['2026-01-15T09:30:00Z', '2026-02-30T00:00:00Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z', 'now']
const DURATIONS = ['PT1H', 'P1D', 'PT0S', 'P400Y', 'PT1.5S', '-P1D', 'P', 'PT999999999H']

/** Makes values for a schema: mostly lawful ones, at the edge of a limit or just beyond it, and sometimes odd ones. */
export class Values {
  readonly #chance: Chance
  /** What the answers so far have named: ids, domains, keys. */
  readonly #known: readonly string[]

  constructor(chance: Chance, known: readonly string[]) {
    this.#chance = chance
    this.#known = known
  }

  of(schema: unknown, depth = 0): unknown {
    const chance = this.#chance
    if (chance.happens(0.04)) return chance.pick(ODD)
    if (!isObject(schema) || depth > 6) return chance.pick(ODD)
    if (schema['const'] !== undefined) return schema['const']
    if (Array.isArray(schema['enum'])) return chance.pick(schema['enum'])
    if (schema['example'] !== undefined && chance.happens(0.2)) return schema['example']
    for (const choice of ['oneOf', 'anyOf', 'allOf']) {
      const branches = schema[choice]
      if (!Array.isArray(branches)) continue
      const branch = chance.pick(branches)
      return this.of({ ...schema, [choice]: undefined, ...(isObject(branch) ? branch : {}) }, depth + 1)
    }
    const type = Array.isArray(schema['type']) ? chance.pick(schema['type']) : schema['type']
    return this.#ofType(String(type), schema, depth)
  }

  #ofType(type: string, schema: Json, depth: number): unknown {
    const chance = this.#chance
    switch (type) {
      case 'object':
        return this.#object(schema, depth)
      case 'array': {
        const length = this.#size(schema['minItems'], schema['maxItems'], chance.below(4))
        return Array.from({ length: Math.min(length, 200) }, () => this.of(schema['items'], depth + 1))
      }
      case 'string':
        return this.#text(schema)
      case 'integer':
      case 'number': {
        const size = this.#size(schema['minimum'], schema['maximum'], chance.below(100))
        return type === 'number' && chance.happens(0.3) ? size + 0.05 : size
      }
      case 'boolean':
        return chance.happens(0.5)
      case 'null':
        return null
      default:
        return 'properties' in schema ? this.#object(schema, depth) : chance.pick(ODD)
    }
  }

  #object({ properties, required, additionalProperties }: Json, depth: number): Json {
    const chance = this.#chance
    const needed = Array.isArray(required) ? required : []
    const fields: [string, unknown][] = []
    for (const [name, schema] of Object.entries(isObject(properties) ? properties : {})) {
      if (chance.happens(needed.includes(name) ? 0.97 : 0.4)) fields.push([name, this.of(schema, depth + 1)])
    }
    if (isObject(additionalProperties) || chance.happens(0.03)) {
      fields.push([chance.pick(NAMES), this.of(additionalProperties, depth + 1)])
    }
    // JSON.stringify writes a field of that name only where it is defined as one's own.
    return Object.defineProperties(
      {},
      Object.fromEntries(fields.map(([name, value]) => [name, { value, enumerable: true, configurable: true }])),
    )
  }

  #text(schema: Json): string {
    const chance = this.#chance
    if (this.#known.length > 0 && chance.happens(0.5)) return chance.pick(this.#known)
    if (schema['format'] === 'date-time') return chance.pick(INSTANTS)
    if (schema['format'] === 'duration') return chance.pick(DURATIONS)
    if (schema['format'] !== undefined || chance.happens(0.3)) {
      return chance.happens(0.5) ? chance.pick(HOSTNAMES) : `d${chance.below(500)}.example`
    }
    if (chance.happens(0.2)) return chance.pick(NAMES)
    const size = Math.min(this.#size(schema['minLength'], schema['maxLength'], 1 + chance.below(12)), 70_000)
    return chance.pick(['x', 'Ä', '🎉', 'a1']).repeat(size)
  }

  /** A size within the limits, at one, or just beyond. */
  #size(least: unknown, most: unknown, usual: number): number {
    const limits = [least, most].filter((limit) => typeof limit === 'number')
    if (limits.length === 0 || this.#chance.happens(0.5)) return Math.max(usual, Number(least ?? 0))
    return Math.max(0, this.#chance.pick(limits) + this.#chance.pick([-1, 0, 1]))
  }
}
