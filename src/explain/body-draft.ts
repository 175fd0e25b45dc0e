import type { Json } from '../ground/json.ts'
import { plural } from '../ground/plural.ts'
import { quoted, spelt } from './wording.ts'

interface DraftField {
  value: unknown
  /** The index of each entry in the sent array. */
  origins: readonly number[]
}

/** The correction of an entry: another one replaces it, or it is removed for a reason. */
export type DraftVerdict = { instead: unknown } | { why: string }

/** For the entries of one field, and for removed fields, this number of changes is listed one by one. */
const TOLD = 10

/** A body that is corrected field by field, with the list of changes. */
export class BodyDraft {
  #fields: Map<string, DraftField>
  readonly #changes: string[] = []
  /** The number of changes, by kind. */
  readonly #counts = new Map<string, number>()

  constructor(body: Json) {
    this.#fields = new Map(Object.entries(body).map(([name, value]) => [name, fieldOf(value)]))
  }

  /** `fromEntries` also creates a property with the name `__proto__`. */
  get body(): Json {
    return Object.fromEntries([...this.#fields].map(([name, { value }]) => [name, value]))
  }

  /** One sentence each. */
  get changes(): string[] {
    const untold = [...this.#counts].filter(([, count]) => count > TOLD)
    return [...this.#changes, ...untold.map(([what, count]) => `The same was done to ${count - TOLD} more ${what}.`)]
  }

  has(name: string): boolean {
    return this.#fields.has(name)
  }

  get(name: string): unknown {
    return this.#fields.get(name)?.value
  }

  set(name: string, value: unknown, change: string): void {
    this.#fields.set(name, fieldOf(value))
    this.#changes.push(change)
  }

  /** Notes a change outside of the body. */
  note(change: string): void {
    this.#changes.push(change)
  }

  drop(name: string, why: string): void {
    if (this.#fields.delete(name)) this.#tell('fields', `${spelt(name)} was left out: ${why}.`)
  }

  /** Gives a field another name, in the same position. */
  rename(name: string, other: string): void {
    this.#fields = new Map([...this.#fields].map(([each, field]) => [each === name ? other : each, field]))
    this.#changes.push(`\`${other}\` is the field that ${spelt(name)} stood for.`)
  }

  /** Replaces entries of an array, or removes them. `verdicts` are by index. */
  judge(name: string, verdicts: ReadonlyMap<number, DraftVerdict>): void {
    const { entries, origins } = this.#array(name)
    const kept: unknown[] = []
    const keptOrigins: number[] = []
    for (const [index, entry] of entries.entries()) {
      const verdict = verdicts.get(index)
      const origin = origins[index] ?? index
      const place = `\`${name}[${origin}]\``
      if (verdict !== undefined && 'why' in verdict) {
        this.#tell(`entries of \`${name}\``, `${place} was left out: ${verdict.why}.`)
        continue
      }
      if (verdict !== undefined) {
        this.#tell(`entries of \`${name}\``, `${place} is ${quoted(verdict.instead)} instead of ${quoted(entry)}.`)
      }
      kept.push(verdict === undefined ? entry : verdict.instead)
      keptOrigins.push(origin)
    }
    this.#fields.set(name, { value: kept, origins: keptOrigins })
  }

  /** Keeps only the first entries. */
  truncate(name: string, count: number, why: string): void {
    const { entries, origins } = this.#array(name)
    const lost = plural(entries.length - count, 'entry at the end was', 'entries at the end were')
    this.#fields.set(name, { value: entries.slice(0, count), origins: origins.slice(0, count) })
    this.#changes.push(`Of \`${name}\`, ${lost} left out: ${why}.`)
  }

  #array(name: string): DraftField & { entries: readonly unknown[] } {
    const field = this.#fields.get(name)
    if (field === undefined || !Array.isArray(field.value)) throw new Error(`The field ${name} is no array.`)
    return { ...field, entries: field.value }
  }

  #tell(what: string, change: string): void {
    const count = (this.#counts.get(what) ?? 0) + 1
    this.#counts.set(what, count)
    if (count <= TOLD) this.#changes.push(change)
  }
}

function fieldOf(value: unknown): DraftField {
  return { value, origins: Array.isArray(value) ? [...value.keys()] : [] }
}
