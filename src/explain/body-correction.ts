import type { Rehearsal } from '../behaviour/rehearsal.ts'
import type { Operation } from '../contract/api.ts'
import type { Problem } from '../domain/errors.ts'
import { cleanName, cutName } from '../domain/group-names.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { define, isObject, type Json, stepsOf, valueAt } from '../ground/json.ts'
import { plural } from '../ground/plural.ts'
import { hostnameWithin } from './hostname-repair.ts'
import { quoted, spelt } from './wording.ts'

/** A body that is corrected field by field, and the request that it belongs to. */
export interface BodyDraft {
  body: Json
  /** A sentence for each correction. */
  readonly changes: string[]
  /** The index of each entry of a list as it was sent, by field. */
  readonly origins: Map<string, readonly number[]>
  readonly operation: Operation
  readonly query: Readonly<Record<string, string>>
  readonly rehearsal: Rehearsal
}

/** Corrects the field `name`, which has these problems of one kind. */
type Remedy = (draft: BodyDraft, name: string, problems: readonly [Problem<string>, ...Problem<string>[]]) => void

const has =
  (...reasons: string[]) =>
  ({ reason = '' }: Problem<string>) =>
    reasons.includes(reason)

/**
 * Remedies by kind of problem, in the order of their use. Fields that are left out need no correction, so that remedy
 * comes first. The number of entries is known only when each entry is valid, so that remedy comes last.
 */
const REMEDIES: readonly (readonly [fits: (problem: Problem<string>) => boolean, remedy: Remedy])[] = [
  [has('additionalProperties'), placeField],
  [({ field, reason }) => reason === 'type' && stepsIn(field).length === 1, convertField],
  [({ field }) => stepsIn(field).length === 2, correctEntries],
  [({ code }) => code === 'duplicate_name', renameGroup],
  [has('maxLength'), cutGroupName],
  [has('minLength', 'pattern', 'control', 'surrogate'), replaceGroupName],
  [has('not'), (draft) => drop(draft, 'domains', 'it cannot be combined with changes of single members')],
  [has('maxItems'), keepFirst],
  [has('required', 'minItems', 'minProperties', 'anyOf'), fillIn],
]

/** Applies the first remedy that fits one of the problems. Returns false if none fits. */
export function correctBody(draft: BodyDraft, problems: readonly Problem<string>[]): boolean {
  for (const [fits, remedy] of REMEDIES) {
    const wrong = new Map<string, [Problem<string>, ...Problem<string>[]]>()
    for (const problem of problems.filter(fits)) {
      const [name = ''] = stepsIn(problem.field)
      const known = wrong.get(name)
      if (known === undefined) wrong.set(name, [problem])
      else known.push(problem)
    }
    for (const [name, ofField] of wrong) remedy(draft, name, ofField)
    if (wrong.size > 0) return true
  }
  return false
}

function stepsIn(field: string | undefined): string[] {
  return field?.startsWith('/') ? stepsOf(field) : []
}

function set(draft: BodyDraft, name: string, value: unknown, change: string): void {
  define(draft.body, name, value)
  draft.origins.delete(name)
  draft.changes.push(change)
}

function drop(draft: BodyDraft, name: string, why: string): void {
  delete draft.body[name]
  draft.changes.push(`${spelt(name)} was left out: ${why}.`)
}

/** The samples of the body's fields, from the behaviour of the operation. */
function samplesOf({ operation, rehearsal }: BodyDraft) {
  return rehearsal.contract.behaviourOf(operation).fields ?? {}
}

function placeField(draft: BodyDraft, name: string): void {
  const free = Object.keys(draft.operation.bodySchema?.['properties'] ?? {}).filter(
    (each) => !Object.hasOwn(draft.body, each),
  )
  const meant = nearestName(name, free)
  if (meant === undefined) {
    drop(draft, name, 'there is no such field')
    return
  }
  draft.body = Object.fromEntries(
    Object.entries(draft.body).map(([each, value]) => [each === name ? meant : each, value]),
  )
  draft.changes.push(`\`${meant}\` is the field that ${spelt(name)} stood for.`)
}

function convertField(draft: BodyDraft, name: string): void {
  const type = valueAt(draft.operation.bodySchema, `/properties/${name}/type`)
  const value = draft.body[name]
  const text = asText(value)
  const entries = text?.split(isObject(value) ? /$/ : /[\s,;]+/).filter((entry) => entry !== '') ?? []
  const converted = type === 'string' ? text : typeof value !== 'number' && entries.length > 0 ? entries : undefined
  if (converted === undefined) drop(draft, name, `${quoted(value)} is not of type ${type}`)
  else set(draft, name, converted, `\`${name}\` is of type ${type}, which ${quoted(value)} is not.`)
}

/** The text that a value probably means, for example that of `{"domain": "example.com"}`. */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const single = Array.isArray(value) && value.length === 1 ? value[0] : undefined
  return [single, valueAt(value, '/domain'), valueAt(value, '/name')].find((each) => typeof each === 'string')
}

/** Replaces wrong entries of a list, or leaves them out. */
function correctEntries(draft: BodyDraft, name: string, problems: readonly Problem<string>[]): void {
  const entries = draft.body[name] as unknown[]
  const origins = draft.origins.get(name) ?? [...entries.keys()]
  const wrong = new Map(problems.toReversed().map((problem) => [Number(stepsIn(problem.field)[1]), problem]))
  const kept: { entry: unknown; origin: number }[] = []
  for (const [index, entry] of entries.entries()) {
    const problem = wrong.get(index)
    const origin = origins[index] ?? index
    const instead = problem === undefined ? entry : mendEntry(draft, name, entry, problem)
    if (instead !== undefined) kept.push({ entry: instead, origin })
    if (problem === undefined) continue
    const place = `\`${name}[${origin}]\``
    const change =
      instead === undefined
        ? `was left out: ${whyNot(entry, problem)}`
        : `is ${quoted(instead)} instead of ${quoted(entry)}`
    draft.changes.push(`${place} ${change}.`)
  }
  draft.body[name] = kept.map(({ entry }) => entry)
  draft.origins.set(
    name,
    kept.map(({ origin }) => origin),
  )
  const emptied =
    kept.length > 0 ? undefined : samplesOf(draft)[name]?.whenEmptied?.(draft.query, draft.rehearsal.state)
  if (emptied !== undefined) set(draft, name, emptied.value, emptied.change)
}

function mendEntry(draft: BodyDraft, name: string, entry: unknown, { reason }: Problem<string>): string | undefined {
  if (reason === 'type') return typeof entry === 'object' ? asText(entry) : undefined
  if (reason !== 'format' || typeof entry !== 'string') return undefined
  const { canonicalHostname } = draft.rehearsal.contract
  // An entry that names an item to remove must be exactly what the client named.
  const liberal = samplesOf(draft)[name]?.removes !== true
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

function renameGroup(draft: BodyDraft, name: string): void {
  const taken = draft.body[name]
  const fresh = draft.rehearsal.freshName(String(taken))
  set(draft, name, fresh, `\`${name}\` is ${quoted(fresh)}, because another group is called ${quoted(taken)}.`)
}

function cutGroupName(draft: BodyDraft, name: string, [{ about }]: Parameters<Remedy>[2]): void {
  const limit = Number(about?.['limit'])
  set(draft, name, cutName(String(draft.body[name]), limit), `\`${name}\` was cut to ${limit} characters.`)
}

function replaceGroupName(draft: BodyDraft, name: string): void {
  const given = draft.body[name]
  const [cleaned, present] = [cleanName(String(given)), presentName(draft)]
  const corrected = cleaned || (present ?? draft.rehearsal.freshName())
  const whose = corrected === present ? ', as it is now' : ''
  set(draft, name, corrected, `\`${name}\` is ${quoted(corrected)}${whose}, because ${quoted(given)} is no name.`)
}

/** The name of the group in the query. A correction that needs any name does not change it. */
function presentName({ query, rehearsal }: BodyDraft): string | undefined {
  return rehearsal.state.groups.get(query['id'] ?? '')?.name
}

function keepFirst(draft: BodyDraft, name: string, [{ about }]: Parameters<Remedy>[2]): void {
  const limit = Number(about?.['limit'])
  const entries = draft.body[name] as unknown[]
  const lost = plural(entries.length - limit, 'entry at the end was', 'entries at the end were')
  set(draft, name, entries.slice(0, limit), `Of \`${name}\`, ${lost} left out: a request names at most ${limit}.`)
}

/** Adds a field that the body needs. An empty list that it does not need is left out. */
function fillIn(draft: BodyDraft, named: string, [{ reason }]: Parameters<Remedy>[2]): void {
  const samples = samplesOf(draft)
  const required = (draft.operation.bodySchema?.['required'] ?? []) as string[]
  const needsAny = has('minProperties', 'anyOf')({ code: '', reason: reason ?? '' })
  const name = needsAny ? (Object.keys(samples)[0] ?? '') : named
  const sample = needsAny || required.includes(name) ? samples[name] : undefined
  if (sample === undefined) {
    drop(draft, name, 'it must name at least one domain')
    return
  }
  const present = name === 'name' ? presentName(draft) : undefined
  const value = present ?? sample.make(draft.rehearsal)
  const says = typeof value === 'string' ? `is ${quoted(value)}` : `names ${value.map(quoted).join(', ')}`
  const whose = present === undefined ? '' : ', as it is now'
  set(draft, name, value, `\`${name}\` ${says}${whose}, because ${sample.because}.`)
}
