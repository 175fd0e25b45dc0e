import type { FieldSample } from '../behaviour/operation.ts'
import type { Rehearsal } from '../behaviour/rehearsal.ts'
import type { Operation } from '../contract/api.ts'
import type { Problem } from '../domain/errors.ts'
import { cleanName, cutName } from '../domain/group-names.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { isObject, stepsOf, valueAt } from '../ground/json.ts'
import type { BodyDraft, EntryVerdict } from './body-draft.ts'
import { hostnameWithin } from './hostname-repair.ts'
import { quoted } from './wording.ts'

/** The request that a body is corrected for. */
export interface CorrectionPurpose {
  operation: Operation
  query: Readonly<Record<string, string>>
  rehearsal: Rehearsal
}

/** A field with problems of one kind, which a remedy corrects in the draft. */
interface WrongField {
  name: string
  /** The first of them. The others may be those of the same value. */
  problem: Problem<string>
  problems: readonly Problem<string>[]
}

type Remedy = (draft: BodyDraft, wrong: WrongField, purpose: CorrectionPurpose) => void

/** Reasons for forbidden characters in a name. */
const CHARACTERS = ['control', 'surrogate']
/** Reasons for a missing field or entry: any of them, or a certain one. */
const LACKS_ANY = ['minProperties', 'anyOf']
const LACKS = ['required', 'minItems', ...LACKS_ANY]

/**
 * Remedies by kind of problem, in the order of their use. Fields that are left out need no correction, so that remedy
 * comes first. The number of entries is known only when each entry is valid, so that remedy comes last.
 */
const REMEDIES: readonly (readonly [fits: (problem: Problem<string>, reason: string) => boolean, remedy: Remedy])[] = [
  [(_, reason) => reason === 'additionalProperties', placeField],
  [({ field }, reason) => reason === 'type' && stepsIn(field).length === 1, convertField],
  [({ field }) => stepsIn(field).length === 2, correctEntries],
  [({ code }) => code === 'duplicate_name', renameGroup],
  [(_, reason) => reason === 'maxLength', cutGroupName],
  [(_, reason) => reason === 'minLength' || reason === 'pattern', replaceGroupName],
  [(_, reason) => CHARACTERS.includes(reason), cleanGroupName],
  [
    (_, reason) => reason === 'not',
    (draft) => draft.drop('domains', 'it cannot be combined with changes of single members'),
  ],
  [(_, reason) => reason === 'maxItems', keepFirst],
  [(_, reason) => LACKS.includes(reason), fillIn],
  [(_, reason) => reason === 'bytes', shrink],
]

/** Applies the first remedy that fits one of the problems. Returns false if none fits. */
export function correctBody(
  draft: BodyDraft,
  problems: readonly Problem<string>[],
  purpose: CorrectionPurpose,
): boolean {
  for (const [fits, remedy] of REMEDIES) {
    const wrong = new Map<string, [Problem<string>, ...Problem<string>[]]>()
    for (const problem of problems.filter((each) => fits(each, each.reason ?? ''))) {
      const [name = ''] = stepsIn(problem.field)
      wrong.set(name, [...(wrong.get(name) ?? []), problem] as [Problem<string>, ...Problem<string>[]])
    }
    for (const [name, problems] of wrong) remedy(draft, { name, problem: problems[0], problems }, purpose)
    if (wrong.size > 0) return true
  }
  return false
}

function stepsIn(field: string | undefined): string[] {
  return field?.startsWith('/') ? stepsOf(field) : []
}

/** The samples of the body's fields, from the behaviour of the operation. */
function fieldsOf({ operation, rehearsal }: CorrectionPurpose): Readonly<Record<string, FieldSample>> {
  return rehearsal.contract.behaviourOf(operation).fields ?? {}
}

function placeField(draft: BodyDraft, { name }: WrongField, { operation }: CorrectionPurpose): void {
  const known = Object.keys(operation.bodySchema?.['properties'] ?? {})
  const meant = nearestName(
    name,
    known.filter((other) => !draft.names.includes(other)),
  )
  if (meant === undefined) draft.drop(name, 'there is no such field')
  else draft.rename(name, meant)
}

function convertField(draft: BodyDraft, { name }: WrongField, { operation }: CorrectionPurpose): void {
  const type = valueAt(operation.bodySchema, `/properties/${name}/type`)
  const value = draft.get(name)
  const converted = type === 'array' ? asEntries(value) : type === 'string' ? asText(value) : undefined
  if (converted === undefined) draft.drop(name, `${quoted(value)} is not of type ${type}`)
  else draft.set(name, converted, `\`${name}\` is of type ${type}, which ${quoted(value)} is not.`)
}

function asEntries(value: unknown): string[] | undefined {
  if (isObject(value)) {
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
  const single = Array.isArray(value) && value.length === 1 ? value[0] : undefined
  return [single, valueAt(value, '/domain'), valueAt(value, '/name')].find((each) => typeof each === 'string')
}

function correctEntries(draft: BodyDraft, { name, problems }: WrongField, purpose: CorrectionPurpose): void {
  const verdicts = new Map<number, EntryVerdict>()
  const entries = draft.entriesOf(name)
  for (const problem of problems) {
    const index = Number(stepsIn(problem.field)[1])
    if (verdicts.has(index)) continue
    const instead = mendEntry(entries[index], name, problem, purpose)
    verdicts.set(index, instead === undefined ? { why: whyNot(entries[index], problem) } : { instead })
  }
  draft.judge(name, verdicts)
  if (draft.entriesOf(name).length > 0) return
  const emptied = fieldsOf(purpose)[name]?.whenEmptied?.(purpose.query, purpose.rehearsal.state)
  if (emptied !== undefined) draft.set(name, emptied.value, emptied.change)
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

function renameGroup(draft: BodyDraft, { name }: WrongField, { rehearsal }: CorrectionPurpose): void {
  const taken = draft.get(name)
  const fresh = rehearsal.freshName(String(taken))
  draft.set(name, fresh, `\`${name}\` is ${quoted(fresh)}, because another group is called ${quoted(taken)}.`)
}

function cutGroupName(draft: BodyDraft, { name, problem }: WrongField): void {
  const limit = Number(problem.about?.['limit'])
  draft.set(name, cutName(String(draft.get(name)), limit), `\`${name}\` was cut to ${limit} characters.`)
}

function replaceGroupName(draft: BodyDraft, { name }: WrongField, purpose: CorrectionPurpose): void {
  const present = presentName(purpose)
  const corrected = present ?? purpose.rehearsal.freshName()
  const whose = present === undefined ? '' : ', as it is now'
  draft.set(
    name,
    corrected,
    `\`${name}\` is ${quoted(corrected)}${whose}, because ${quoted(draft.get(name))} is no name.`,
  )
}

function cleanGroupName(draft: BodyDraft, { name }: WrongField, purpose: CorrectionPurpose): void {
  const given = String(draft.get(name))
  const corrected = cleanName(given) || (presentName(purpose) ?? purpose.rehearsal.freshName())
  draft.set(name, corrected, `\`${name}\` is ${quoted(corrected)} instead of ${quoted(given)}.`)
}

/** The name of the group in the query. A correction that needs any name does not change it. */
function presentName({ query, rehearsal }: CorrectionPurpose): string | undefined {
  return rehearsal.state.groups.get(query['id'] ?? '')?.name
}

function keepFirst(draft: BodyDraft, { name, problem }: WrongField): void {
  const limit = Number(problem.about?.['limit'])
  draft.truncate(name, limit, `a request names at most ${limit}`)
}

/** Adds a field that the body needs. An empty list that it does not need is left out. */
function fillIn(draft: BodyDraft, { name: named, problem }: WrongField, purpose: CorrectionPurpose): void {
  const fields = fieldsOf(purpose)
  const required = (purpose.operation.bodySchema?.['required'] ?? []) as string[]
  const needsAny = LACKS_ANY.includes(problem.reason ?? '')
  const name = needsAny ? (Object.keys(fields)[0] ?? '') : named
  const field = needsAny || required.includes(name) ? fields[name] : undefined
  if (field === undefined) {
    draft.drop(name, 'it must name at least one domain')
    return
  }
  const present = name === 'name' ? presentName(purpose) : undefined
  const value = present ?? field.make(purpose.rehearsal)
  const says = typeof value === 'string' ? `is ${quoted(value)}` : `names ${value.map(quoted).join(', ')}`
  const whose = present === undefined ? '' : ', as it is now'
  draft.set(name, value, `\`${name}\` ${says}${whose}, because ${field.because}.`)
}

/** Leaves out entries at the end of the longest list until the body is small enough. */
function shrink(draft: BodyDraft, { problem }: WrongField): void {
  const limit = Number(problem.about?.['limit'])
  const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1
  const [longest] = Object.entries(draft.body)
    .filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]) && entry[1].length > 0)
    .toSorted(([, one], [, other]) => size(other) - size(one))
  if (longest === undefined) return
  const [name, entries] = longest
  let excess = size(draft.body) - 1 - limit
  let count = entries.length
  while (excess > 0 && count > 0) excess -= size(entries[--count])
  draft.truncate(name, count, `a body has at most ${limit} bytes`)
}
