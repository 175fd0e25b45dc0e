import { domainToASCII } from 'node:url'
import type { Rehearsal } from '../behaviour/rehearsal.ts'
import type { Operation } from '../contract/api.ts'
import type { Problem } from '../domain/errors.ts'
import { cleanName, cutName } from '../domain/groups.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { define, isObject, type Json, stepsOf, valueAt } from '../ground/json.ts'
import { printable, show } from '../ground/show.ts'
import type { Query } from '../ground/target.ts'

/** A body that is corrected field by field, and the request that it belongs to. */
export interface BodyDraft {
  body: Json
  /** A sentence for each correction. */
  readonly changes: string[]
  /** By field, where each entry of a list stood when it was sent. */
  readonly origins: Map<string, number[]>
  readonly operation: Operation
  readonly query: Query
  readonly rehearsal: Rehearsal
}

/** A field of the body, or an entry of it, with one thing that is wrong. */
interface WrongPart {
  name: string
  index: number | undefined
  value: unknown
  problem: Problem<string>
}

/** What stands there instead; `undefined` if nothing does. */
type Remedy = (draft: BodyDraft, part: WrongPart) => unknown

const has =
  (...reasons: string[]) =>
  ({ reason = '' }: Problem<string>) =>
    reasons.includes(reason)

/** The number of entries is known only when each entry is valid, so the last two remedies come last. */
const REMEDIES: readonly (readonly [fits: (problem: Problem<string>) => boolean, remedy: Remedy])[] = [
  [({ field, reason }) => reason === 'type' && stepsIn(field).length === 1, convertField],
  [({ field }) => stepsIn(field).length === 2, mendEntry],
  [({ code }) => code === 'duplicate_name', ({ rehearsal }, { value }) => rehearsal.freshName(String(value))],
  [has('maxLength'), (_, { value, problem }) => cutName(String(value), limitIn(problem))],
  [
    has('minLength', 'pattern', 'control', 'surrogate'),
    (draft, { value }) => cleanName(String(value)) || (presentGroup(draft)?.name ?? draft.rehearsal.freshName()),
  ],
  [has('not'), () => undefined],
  [has('maxItems'), (_, { value, problem }) => (value as unknown[]).slice(0, limitIn(problem))],
  [has('required', 'minItems', 'minProperties', 'anyOf'), fillIn],
]

/** Corrects what is wrong in one way. Returns false if nothing can be corrected. */
export function correctBody(draft: BodyDraft, problems: readonly Problem<string>[]): boolean {
  const unknown = problems.filter(has('additionalProperties'))
  if (unknown.length > 0) {
    placeFields(draft, unknown)
    return true
  }
  const [fits, remedy] = REMEDIES.find(([fits]) => problems.some(fits)) ?? []
  if (fits === undefined || remedy === undefined) return false
  // Of each part, the first problem counts. What is left out moves the entries after it, so the last one is first.
  const byPart = new Map(problems.filter(fits).map((problem) => [problem.field, partOf(draft, problem)] as const))
  const parts = [...byPart.values()].sort((one, other) => (other.index ?? 0) - (one.index ?? 0))
  const changes = parts.map((part) => replace(draft, part, remedy(draft, part)))
  draft.changes.push(...changes.reverse())
  return true
}

function partOf(draft: BodyDraft, problem: Problem<string>): WrongPart {
  const [step, entry] = stepsIn(problem.field)
  // A problem of the whole body names no field.
  const name = step ?? (problem.reason === 'not' ? 'domains' : (Object.keys(samplesOf(draft))[0] ?? ''))
  const index = entry === undefined ? undefined : Number(entry)
  const field = draft.body[name]
  return { name, index, problem, value: index === undefined ? field : (field as unknown[])[index] }
}

/** Puts a value in the place of a wrong part. Returns the sentence about it. */
function replace(draft: BodyDraft, { name, index, problem }: WrongPart, instead: unknown): string {
  const { body, origins } = draft
  if (index === undefined) {
    origins.delete(name)
    if (instead === undefined) delete body[name]
    else define(body, name, instead)
    return sentence(draft, problem, instead, problem.field === '' ? name : undefined)
  }
  const entries = body[name] as unknown[]
  const places = origins.get(name) ?? [...entries.keys()]
  origins.set(name, places)
  const field = `/${name}/${places[index]}`
  if (instead === undefined) for (const list of [entries, places]) list.splice(index, 1)
  else entries[index] = instead
  // "These members" must not become "no members".
  const members = name === 'domains' && entries.length === 0 ? (presentGroup(draft)?.domains ?? []) : []
  entries.push(...members)
  return sentence(draft, { ...problem, field }, members.length > 0 ? members : instead)
}

/** What was wrong, and what became of it. */
function sentence({ rehearsal }: BodyDraft, problem: Problem<string>, instead: unknown, name?: string): string {
  const why = rehearsal.contract.catalogue.answer(problem).message.replace(/\.$/, '')
  const what = name === undefined ? '' : `\`${name}\` is `
  return printable(`${why}; ${instead === undefined ? 'left out' : `${what}set to ${show(instead)}`}.`)
}

function stepsIn(field: string | undefined): string[] {
  return field?.startsWith('/') ? stepsOf(field) : []
}

function limitIn({ about }: Problem<string>): number {
  return Number(about?.['limit'])
}

/** The samples of the body's fields, from the behaviour of the operation. */
function samplesOf({ operation, rehearsal }: BodyDraft) {
  return rehearsal.contract.behaviourOf(operation).fields ?? {}
}

/** The group that the query names. What has to be anything is what this group has, and so does not change. */
function presentGroup({ operation, query, rehearsal }: BodyDraft) {
  return operation.parameters.has('id') ? rehearsal.state.groups.get(query['id'] ?? '') : undefined
}

/** Gives each unknown field the name that was meant, or leaves it out. There may be a hundred thousand of them. */
function placeFields(draft: BodyDraft, problems: readonly Problem<string>[]): void {
  const known = Object.keys(draft.operation.bodySchema?.['properties'] ?? {})
  const free = new Set(known.filter((each) => !Object.hasOwn(draft.body, each)))
  const meant = new Map<string, string | undefined>()
  for (const problem of problems) {
    const [name = ''] = stepsIn(problem.field)
    const nearest = nearestName(name, [...free])
    if (nearest !== undefined) free.delete(nearest)
    meant.set(name, nearest)
    const why = sentence(draft, problem, undefined)
    draft.changes.push(nearest === undefined ? why : why.replace(/left out\.$/, `\`${nearest}\` is meant.`))
  }
  const fields = Object.entries(draft.body).map(([name, value]) => [meant.has(name) ? meant.get(name) : name, value])
  draft.body = Object.fromEntries(fields.filter(([name]) => name !== undefined))
}

function convertField({ operation }: BodyDraft, { name, value }: WrongPart): unknown {
  const text = asText(value)
  if (valueAt(operation.bodySchema, `/properties/${name}/type`) === 'string') return text
  const entries = text?.split(isObject(value) ? /$/ : /[\s,;]+/).filter((entry) => entry !== '') ?? []
  return typeof value !== 'number' && entries.length > 0 ? entries : undefined
}

/** The text that a value probably means, for example that of `{"domain": "example.com"}`. */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const single = Array.isArray(value) && value.length === 1 ? value[0] : undefined
  return [single, valueAt(value, '/domain'), valueAt(value, '/name')].find((each) => typeof each === 'string')
}

function mendEntry(draft: BodyDraft, { name, value, problem: { reason } }: WrongPart): string | undefined {
  if (reason === 'type') return typeof value === 'object' ? asText(value) : undefined
  if (reason !== 'format' || typeof value !== 'string') return undefined
  const { canonicalHostname } = draft.rehearsal.contract
  // An entry that names an item to remove must be exactly what the client named.
  const liberal = samplesOf(draft)[name]?.removes !== true
  return hostnameWithin(value, (text) => canonicalHostname(text) !== undefined, { liberal })
}

/** A longer text is not a hostname with other text around it. */
const LONGEST = 2048

/**
 * The hostname within a text that is no hostname: without white space, final dots, scheme, port and path. With
 * `liberal`, also the domain of an e-mail address and the parent of a wildcard, although these are different names.
 */
function hostnameWithin(
  text: string,
  isHostname: (text: string) => boolean,
  { liberal }: { liberal: boolean },
): string | undefined {
  if (text.length > LONGEST) return undefined
  const trimmed = text.trim()
  const bare = trimmed.replace(/^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?/i, '').replace(/(?::\d*)?(?:[/?#].*)?$/s, '')
  const undotted = bare.replace(/\.+$/, '')
  const named = undotted.replace(/^[^@]*@/, '').replace(/^(?:\*?\.)+/, '')
  const candidates = new Set([trimmed, bare, undotted, ...(liberal ? [named] : [])])
  const written = [...candidates].find(isHostname)
  // The contract may accept only ASCII, so the A-label forms are tried last.
  return written ?? [...candidates].map((candidate) => domainToASCII(candidate)).find(isHostname)
}

/** A value for a field that the body needs. An empty list that it does not need is left out. */
function fillIn(draft: BodyDraft, { name, problem }: WrongPart): unknown {
  const required = (draft.operation.bodySchema?.['required'] ?? []) as string[]
  if (!has('minProperties', 'anyOf')(problem) && !required.includes(name)) return undefined
  const present = name === 'name' ? presentGroup(draft)?.name : undefined
  return present ?? samplesOf(draft)[name]?.make(draft.rehearsal)
}
