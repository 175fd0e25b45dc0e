import type { FieldSample } from '../behaviour/operation.ts'
import type { Rehearsal } from '../behaviour/rehearsal.ts'
import type { Operation } from '../contract/api.ts'
import type { Problem } from '../domain/errors.ts'
import { cleanName, cutName } from '../domain/group-names.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { isObject, type Json, stepsOf, valueAt } from '../ground/json.ts'
import type { BodyDraft, DraftVerdict } from './body-draft.ts'
import { hostnameWithin } from './hostname-repair.ts'
import { quoted } from './wording.ts'

/** The request that a body is corrected for. */
export interface CorrectionPurpose {
  operation: Operation
  query: Readonly<Record<string, string>>
  rehearsal: Rehearsal
}

/** Corrects all problems of a kind. */
type BodyRemedy = (draft: BodyDraft, problems: readonly Problem<string>[], purpose: CorrectionPurpose) => void
/** Corrects one problem of the field with this name. */
type FieldRemedy = (draft: BodyDraft, name: string, problem: Problem<string>, purpose: CorrectionPurpose) => void

/**
 * Remedies by kind of problem, in the order of their use. Omitted fields need no correction, so that remedy comes
 * first. The number of entries is known only when each entry is valid, so that remedy comes last.
 */
const REMEDIES: readonly (readonly [wrong: (problem: Problem<string>) => boolean, remedy: BodyRemedy])[] = [
  [({ reason }) => reason === 'additionalProperties', each(placeField)],
  [({ reason, field }) => reason === 'type' && stepsIn(field).length === 1, each(convertField)],
  [({ field }) => stepsIn(field).length === 2, correctEntries],
  [({ code }) => code === 'duplicate_name', each(renameGroup)],
  [({ reason }) => reason === 'maxLength' || reason === 'minLength' || reason === 'pattern', each(correctName)],
  [({ reason }) => CHARACTERS.has(reason ?? ''), each(cleanGroupName)],
  [
    ({ reason }) => reason === 'not',
    (draft) => draft.drop('domains', 'it cannot be combined with changes of single members'),
  ],
  [({ reason }) => reason === 'maxItems', each(keepFirst)],
  [({ reason }) => LACKS.has(reason ?? ''), each(fillIn)],
  [({ reason }) => reason === 'bytes', shrink],
]

/** A field with several problems is corrected once, because the other problems are those of its former value. */
function each(remedy: FieldRemedy): BodyRemedy {
  return (draft, problems, purpose) => {
    const corrected = new Set<string>()
    for (const problem of problems) {
      const name = nameOf(problem)
      if (!corrected.has(name)) remedy(draft, name, problem, purpose)
      corrected.add(name)
    }
  }
}

/** Reasons for forbidden characters in a name. */
const CHARACTERS = new Set(['control', 'surrogate'])
/** Reasons for a missing field or entry: any of them, or a certain one. */
const LACKS_ANY = new Set(['minProperties', 'anyOf'])
const LACKS = new Set(['required', 'minItems', ...LACKS_ANY])

/** Applies the first remedy that fits one of the problems. Returns false if none fits. */
export function correctBody(
  draft: BodyDraft,
  problems: readonly Problem<string>[],
  purpose: CorrectionPurpose,
): boolean {
  for (const [wrong, remedy] of REMEDIES) {
    const fitting = problems.filter(wrong)
    if (fitting.length === 0) continue
    remedy(draft, fitting, purpose)
    return true
  }
  return false
}

function stepsIn(field: string | undefined): string[] {
  return field?.startsWith('/') ? stepsOf(field) : []
}

function nameOf({ field }: Problem<string>): string {
  return stepsIn(field)[0] ?? ''
}

function schemaOf(name: string, { bodySchema }: Operation): Json {
  const properties = valueAt(bodySchema, '/properties')
  const schema = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(schema) ? schema : {}
}

function placeField(draft: BodyDraft, name: string, _: Problem<string>, { operation }: CorrectionPurpose): void {
  const known = Object.keys((operation.bodySchema?.['properties'] ?? {}) as Json)
  const meant = nearestName(
    name,
    known.filter((other) => !draft.has(other)),
  )
  if (meant === undefined) draft.drop(name, 'there is no such field')
  else draft.rename(name, meant)
}

function convertField(draft: BodyDraft, name: string, _: Problem<string>, { operation }: CorrectionPurpose): void {
  const { type } = schemaOf(name, operation)
  const value = draft.get(name)
  const converted = type === 'array' ? asEntries(value) : type === 'string' ? asText(value) : undefined
  if (converted === undefined) draft.drop(name, `${quoted(value)} is not of type ${String(type)}`)
  else draft.set(name, converted, `\`${name}\` is of type ${String(type)}, which ${quoted(value)} is not.`)
}

function asEntries(value: unknown): string[] | undefined {
  if (typeof value === 'object') {
    const text = asText(value)
    return text === undefined ? undefined : [text]
  }
  const entries = typeof value === 'string' ? value.split(/[\s,;]+/).filter((entry) => entry !== '') : []
  return entries.length === 0 ? undefined : entries
}

/** The text that a value probably means, for example that of `{"domain": "example.com"}`. */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.length === 1 && typeof value[0] === 'string' ? value[0] : undefined
  const text = ['domain', 'name'].map((name) => valueAt(value, `/${name}`)).find((each) => typeof each === 'string')
  return text as string | undefined
}

function correctEntries(draft: BodyDraft, problems: readonly Problem<string>[], purpose: CorrectionPurpose): void {
  const verdicts = new Map<string, Map<number, DraftVerdict>>()
  for (const problem of problems) {
    const [name = '', step] = stepsIn(problem.field)
    const index = Number(step)
    const ofField = verdicts.get(name) ?? new Map<number, DraftVerdict>()
    verdicts.set(name, ofField)
    if (ofField.has(index)) continue
    const entry = (draft.get(name) as unknown[])[index]
    const instead = mendEntry(entry, name, problem, purpose)
    ofField.set(index, instead === undefined ? { why: whyNot(entry, problem) } : { instead })
  }
  for (const [name, ofField] of verdicts) {
    draft.judge(name, ofField)
    if ((draft.get(name) as unknown[]).length > 0) continue
    const emptied = fieldsOf(purpose)[name]?.whenEmptied?.(purpose.query, purpose.rehearsal.state)
    if (emptied !== undefined) draft.set(name, emptied.value, emptied.change)
  }
}

function mendEntry(
  entry: unknown,
  name: string,
  { reason }: Problem<string>,
  purpose: CorrectionPurpose,
): string | undefined {
  if (reason === 'type') return typeof entry === 'object' ? asText(entry) : undefined
  if (reason !== 'format' || typeof entry !== 'string') return undefined
  const { canonicalHostname } = purpose.rehearsal.contract
  // An entry that names an item to remove must be exactly what the client named.
  const liberal = fieldsOf(purpose)[name]?.removes !== true
  return hostnameWithin(entry, (text) => canonicalHostname(text) !== undefined, { liberal })
}

/** By reason or code, what is wrong with an entry. */
const WRONG_ENTRIES: Readonly<Record<string, string>> = {
  type: 'is no string',
  format: 'is no hostname',
  monitored: 'is monitored already',
  repeated: 'is named more than once',
  grouped: 'is a member of another domain group',
  member: 'is a member of a domain group',
  unmonitored: 'is not monitored',
  not_monitored: 'is not monitored',
}

function whyNot(entry: unknown, { code, reason = code, about }: Problem<string>): string {
  const why = reason === 'in-use' ? `is in use by ${about?.['features']}` : (WRONG_ENTRIES[reason] ?? 'is refused')
  return `${quoted(entry)} ${why}`
}

/** The samples of the body's fields, from the behaviour of the operation. */
function fieldsOf({ operation, rehearsal }: CorrectionPurpose): Readonly<Record<string, FieldSample>> {
  return rehearsal.contract.behaviourOf(operation).fields ?? {}
}

function renameGroup(draft: BodyDraft, name: string, _: Problem<string>, { rehearsal }: CorrectionPurpose): void {
  const taken = draft.get(name)
  const fresh = rehearsal.freshName(String(taken))
  draft.set(name, fresh, `\`${name}\` is ${quoted(fresh)}, because another group is called ${quoted(taken)}.`)
}

function correctName(
  draft: BodyDraft,
  name: string,
  { reason, about }: Problem<string>,
  purpose: CorrectionPurpose,
): void {
  const { rehearsal } = purpose
  const given = draft.get(name)
  if (reason === 'maxLength') {
    const corrected = cutName(String(given), Number(about?.['limit']))
    draft.set(name, corrected, `\`${name}\` was cut to ${about?.['limit']} characters.`)
  } else {
    const present = presentName(purpose)
    const corrected = present ?? rehearsal.freshName()
    const whose = present === undefined ? '' : ', as it is now'
    draft.set(name, corrected, `\`${name}\` is ${quoted(corrected)}${whose}, because ${quoted(given)} is no name.`)
  }
}

/** The name of the group in the query. A correction that needs any name does not change it. */
function presentName({ query, rehearsal }: CorrectionPurpose): string | undefined {
  return rehearsal.state.groups.get(query['id'] ?? '')?.name
}

function cleanGroupName(draft: BodyDraft, name: string, _: Problem<string>, purpose: CorrectionPurpose): void {
  const { rehearsal } = purpose
  const given = String(draft.get(name))
  const corrected = cleanName(given) || (presentName(purpose) ?? rehearsal.freshName())
  draft.set(name, corrected, `\`${name}\` is ${quoted(corrected)} instead of ${quoted(given)}.`)
}

function keepFirst(draft: BodyDraft, name: string, { about }: Problem<string>): void {
  const limit = Number(about?.['limit'])
  draft.truncate(name, limit, `a request names at most ${limit}`)
}

/** Adds a field that the body needs. An empty list that it does not need is removed. */
function fillIn(draft: BodyDraft, named: string, { reason = '' }: Problem<string>, purpose: CorrectionPurpose): void {
  const fields = fieldsOf(purpose)
  const required = (purpose.operation.bodySchema?.['required'] ?? []) as string[]
  const anyField = LACKS_ANY.has(reason)
  const name = anyField ? (Object.keys(fields)[0] ?? '') : named
  const field = anyField || required.includes(name) ? fields[name] : undefined
  const present = name === 'name' ? presentName(purpose) : undefined
  const value = present ?? field?.make(purpose.rehearsal)
  if (field === undefined || value === undefined) {
    draft.drop(name, 'it must name at least one domain')
    return
  }
  const says = typeof value === 'string' ? `is ${quoted(value)}` : `names ${value.map(quoted).join(', ')}`
  const whose = present === undefined ? '' : ', as it is now'
  draft.set(name, value, `\`${name}\` ${says}${whose}, because ${field.because}.`)
}

/** Removes entries at the end of the longest array until the body is small enough. */
function shrink(draft: BodyDraft, problems: readonly Problem<string>[]): void {
  const limit = Number(problems[0]?.about?.['limit'])
  const body = draft.body
  const excess = Buffer.byteLength(JSON.stringify(body)) - limit
  const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1
  const [longest] = Object.entries(body)
    .filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]) && entry[1].length > 0)
    .toSorted(([, one], [, other]) => size(other) - size(one))
  if (longest === undefined) return
  const [name, entries] = longest
  let count = entries.length
  for (let saved = 0; saved < excess && count > 0; saved += size(entries[count])) count--
  draft.truncate(name, count, `a body has at most ${limit} bytes`)
}
