import type { ReadExchange } from '../exchanges/reading.ts'
import { findDuplicateField, isDeeperThan, isObject, readJson } from '../ground/json.ts'
import { readParameters } from '../ground/target.ts'
import { asciiLowered, comparable } from './names.ts'

/** The fields of a body by their type. A body needs those that are `required`. */
interface BodyForm {
  lists: readonly string[]
  texts: readonly string[]
  required: readonly string[]
}

/** What the specification says of each body, by operation. Other operations read no body. */
export const FORMS: Readonly<Record<string, BodyForm>> = {
  addDomains: { lists: ['domains'], texts: [], required: ['domains'] },
  deleteDomains: { lists: ['domains'], texts: [], required: ['domains'] },
  createDomainGroup: { lists: ['domains'], texts: ['name'], required: ['name'] },
  updateDomainGroup: { lists: ['domains', 'add_domains', 'remove_domains'], texts: ['name'], required: [] },
}

/** The operations with the parameter `id`. */
const WITH_ID: ReadonlySet<string> = new Set(['listDomainGroups', 'updateDomainGroup', 'deleteDomainGroup'])
/** How many different values of `id` are read. No service reads more than one or two. */
const IDS_READ = 20

/** A request as the judge reads it. */
export class AskedRequest {
  /** The id of the operation. */
  readonly call: string
  /** The different values of the parameter `id`, in their order; empty for an operation without it. */
  readonly ids: readonly string[]
  readonly hasUnknownParameter: boolean
  readonly form: BodyForm | undefined
  /** What the body is. It is `ignored` where the operation reads none, and has `fields` only if it is an `object`. */
  readonly body: 'ignored' | 'unknown' | 'empty' | 'not JSON' | 'no object' | 'object'
  readonly fields: ReadonlyMap<string, unknown>
  /** The JSON of the body; `undefined` if it is not read, or is not JSON. */
  readonly value: unknown
  /** Whether services may read the body in different ways because of its type, or of its coding and how it is written. */
  readonly isOddlyTyped: boolean
  readonly isOddlyWritten: boolean
  /** Of the body, in bytes. */
  readonly size: number
  #names: Map<string, ReadonlySet<string>> | undefined

  /** `groupsLike` gives the known ids that some services find equal to an id: databases often compare without case. */
  constructor({ exchange, lenient, query }: ReadExchange, groupsLike: (id: string) => readonly string[] = () => []) {
    const { body, headers } = exchange.request
    this.call = lenient.ok ? lenient.operation.id : ''
    const parameters = query === undefined ? NO_PARAMETERS : readParameters(query)
    const hasId = WITH_ID.has(this.call)
    const ids = hasId ? parameters.filter(([name]) => name === 'id').map(([, value]) => value) : NO_TEXTS
    const asked = ids.length < 2 ? ids : [...new Set(ids)].slice(0, IDS_READ)
    this.ids = asked.length === 0 ? asked : [...new Set(asked.flatMap((id) => [id, ...groupsLike(id)]))]
    this.hasUnknownParameter = parameters.some(([name]) => !hasId || name !== 'id')
    this.form = Object.hasOwn(FORMS, this.call) ? FORMS[this.call] : undefined
    this.size = body.isKnown ? body.size : 0
    const isRead = this.form !== undefined && body.isKnown && body.size > 0
    const text = isRead ? body.text.replace(BYTE_ORDER_MARK, '') : ''
    const value = isRead ? readJson(text) : undefined
    if (this.form === undefined) this.body = 'ignored'
    else if (!isRead) this.body = body.isKnown ? 'empty' : 'unknown'
    else if (value === undefined) this.body = 'not JSON'
    else this.body = isObject(value) ? 'object' : 'no object'
    this.value = value
    this.fields = isObject(value) ? new Map(Object.entries(value)) : NO_FIELDS
    const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers
    const isJson = JSON_TYPE.test(type)
    this.isOddlyTyped = this.size > 0 && !isJson
    this.isOddlyWritten =
      (this.size > 0 && (coding !== 'identity' || (isJson && !USUAL_TYPE.test(type)))) ||
      (isRead && (text.length < body.text.length || !body.isUtf8 || isOddlyWritten(text, value)))
  }

  /** Whether services may read the body in different ways. */
  get isOdd(): boolean {
    return this.isOddlyTyped || this.isOddlyWritten
  }

  /** Whether some service may find the group with this id for the request. */
  asksForGroup(id: string): boolean {
    return this.ids.some((each) => asciiLowered(each) === asciiLowered(id))
  }

  /** Whether it has the field, even with a wrong value. */
  has(field: string): boolean {
    return this.fields.has(field)
  }

  /** Whether it has the field with an empty list. */
  hasEmpty(field: string): boolean {
    const value = this.fields.get(field)
    return Array.isArray(value) && value.length === 0
  }

  /** The value of a field that is a text. */
  text(field: string): string | undefined {
    const value = this.fields.get(field)
    return typeof value === 'string' ? value : undefined
  }

  /** The entries of a field that is a list of texts; empty for any other. */
  list(field: string): readonly string[] {
    const value = this.fields.get(field)
    return areTexts(value) ? value : NO_TEXTS
  }

  /** The entries of a list in comparable form. */
  names(field: string): ReadonlySet<string> {
    this.#names ??= new Map()
    const names = this.#names.get(field) ?? new Set(this.list(field).map(comparable))
    this.#names.set(field, names)
    return names
  }

  /** The entries of all lists in comparable form. */
  get allNames(): ReadonlySet<string> {
    return new Set((this.form?.lists ?? []).flatMap((field) => [...this.names(field)]))
  }
}

const NO_FIELDS: ReadonlyMap<string, unknown> = new Map()
const NO_TEXTS: readonly string[] = []
const NO_PARAMETERS: ReturnType<typeof readParameters> = []
const BYTE_ORDER_MARK = /^\ufeff/
/** Bodies with deeper nesting, or with numbers like these, may be beyond what a parser reads. */
const DEEP = 16
const LARGE_NUMBER = /\d{16}|\de[+-]?\d{3}/i

/** Whether services may read a body in different ways because of how it is written. */
function isOddlyWritten(text: string, value: unknown): boolean {
  if (LARGE_NUMBER.test(text)) return true
  if (value === undefined || isFlat(value, text)) return false
  return isDeeperThan(DEEP, value) || findDuplicateField(text) !== undefined
}

/** Whether an object has nothing but texts and lists of texts, and a colon for each field. Then none is sent twice. */
function isFlat(value: unknown, text: string): boolean {
  if (!isObject(value)) return false
  const fields = Object.values(value)
  return (
    fields.every((each) => typeof each === 'string' || areTexts(each)) && text.split(':').length === fields.length + 1
  )
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i
/** Every service reads a body of such a type as JSON in UTF-8. */
const USUAL_TYPE = /^application\/json\s*(?:;\s*charset="?utf-?8"?\s*)?$/i

export function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
