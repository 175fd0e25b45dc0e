import type { Json } from '../ground/json.ts'
import { plural } from '../ground/plural.ts'
import { quoted, spelt } from './wording.ts'

/** What becomes of an entry of a list: another one replaces it, or it is left out for a reason. */
export type EntryVerdict = { instead: unknown } | { why: string }

interface DraftField {
  value: unknown
  /** The index of each entry in the list as it was sent. */
  origins: readonly number[]
}

/** A body that is corrected field by field. `changes` has a sentence for each correction. */
export class BodyDraft {
  readonly changes: string[] = []
  #fields: Map<string, DraftField>

  constructor(body: Json) {
    this.#fields = new Map(Object.entries(body).map(([name, value]) => [name, fieldOf(value)]))
  }

  /** `fromEntries` also creates a property with the name `__proto__`. */
  get body(): Json {
    return Object.fromEntries([...this.#fields].map(([name, { value }]) => [name, value]))
  }

  get names(): string[] {
    return [...this.#fields.keys()]
  }

  get(name: string): unknown {
    return this.#fields.get(name)?.value
  }

  set(name: string, value: unknown, change: string): void {
    this.#fields.set(name, fieldOf(value))
    this.changes.push(change)
  }

  drop(name: string, why: string): void {
    if (this.#fields.delete(name)) this.changes.push(`${spelt(name)} was left out: ${why}.`)
  }

  /** Gives a field another name, in the same position. */
  rename(name: string, other: string): void {
    this.#fields = new Map([...this.#fields].map(([each, field]) => [each === name ? other : each, field]))
    this.changes.push(`\`${other}\` is the field that ${spelt(name)} stood for.`)
  }

  entriesOf(name: string): readonly unknown[] {
    const value = this.get(name)
    if (!Array.isArray(value)) throw new Error(`The field ${name} is no array.`)
    return value
  }

  /** Replaces entries of a list, or leaves them out. The verdicts are by index. */
  judge(name: string, verdicts: ReadonlyMap<number, EntryVerdict>): void {
    const { origins = [] } = this.#fields.get(name) ?? {}
    const kept: { entry: unknown; origin: number }[] = []
    for (const [index, entry] of this.entriesOf(name).entries()) {
      const verdict = verdicts.get(index)
      const origin = origins[index] ?? index
      const place = `\`${name}[${origin}]\``
      if (verdict === undefined) kept.push({ entry, origin })
      else if ('why' in verdict) this.changes.push(`${place} was left out: ${verdict.why}.`)
      else {
        kept.push({ entry: verdict.instead, origin })
        this.changes.push(`${place} is ${quoted(verdict.instead)} instead of ${quoted(entry)}.`)
      }
    }
    this.#fields.set(name, { value: kept.map(({ entry }) => entry), origins: kept.map(({ origin }) => origin) })
  }

  /** Keeps only the first entries of a list. */
  truncate(name: string, count: number, why: string): void {
    const entries = this.entriesOf(name)
    const { origins = [] } = this.#fields.get(name) ?? {}
    const lost = plural(entries.length - count, 'entry at the end was', 'entries at the end were')
    this.#fields.set(name, { value: entries.slice(0, count), origins: origins.slice(0, count) })
    this.changes.push(`Of \`${name}\`, ${lost} left out: ${why}.`)
  }
}

function fieldOf(value: unknown): DraftField {
  return { value, origins: Array.isArray(value) ? [...value.keys()] : [] }
}
