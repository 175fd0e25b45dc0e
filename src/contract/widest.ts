import { isObject, type Json, mergePatch, pointTo, stepsOf, valueAt } from '../ground/json.ts'
import { memoize, memoizeWeakly } from '../ground/memo.ts'
import { type Operation, pointerOf } from './api.ts'
import { type Assumption, assumptionsOf } from './assumptions.ts'
import type { Contract } from './contract.ts'
import { followReferences } from './document.ts'
import { follow } from './extensions.ts'
import { comparableHostname } from './hostname.ts'
import { createPlacedCheck, type PlacedCheck, walkTo } from './placed-check.ts'
import { createCompiler, UUID } from './schema-compiler.ts'
import { demandedKeywords, rewrite } from './widening.ts'

/** What the specification permits a service, as far as the document knows: our choices and all alternatives in one. */
export interface Widest {
  readonly contract: Contract
  /** JSON pointer to the catalogue of errors. */
  readonly errors: string
  /** The check against the schema at a pointer of the document, in which each open schema may be any alternative. */
  checkAt(pointer: string): PlacedCheck
  of(operation: Operation): WidestOperation
  /** The statuses that an operation can answer a code with. */
  statusesOf(code: string): ReadonlySet<number>
  /** Whether a request outside of every operation can be refused like this; without a code, whether with any. */
  isRefusedOutside(status: number, code?: string): boolean
  /**
   * Whether the specification leaves the values at this place of the document open: an assumption decides them, or has
   * the place with `open.success`. If so, a value that no alternative has is another choice, and no failure.
   */
  isOpen(place: string): boolean
}

/** What the specification permits an operation. */
interface WidestOperation {
  /** The statuses of a success. */
  readonly statuses: ReadonlySet<number>
  /** The codes of its refusals. */
  readonly codes: ReadonlySet<string>
  readonly checkBody: PlacedCheck
  /** The check of a success, its place in the document, and whether the specification does not show the data. */
  readonly checkSuccess: PlacedCheck
  readonly content: string
  readonly isOpen: boolean
  /** The header fields that tell of the quota, each with the place of a keyword about it. */
  readonly quota: readonly { name: string; field: string; check: PlacedCheck; placeOf(...steps: string[]): string }[]
}

const QUOTA_FIELDS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** The widest document of a contract with the overlays of the user. All callers in a process share the result. */
export const widestOf = memoizeWeakly((contract: Contract): Widest => {
  const { source } = contract.document
  const assumptions = assumptionsOf(source)
  const errors = '/x-errors'
  const versions = versionsOf(source, assumptions)
  const components = { ...(source['components'] as Json), ...widestComponents(source, versions) }
  // Nearly all versions share these.
  const paths = new Set(versions.map(({ document }) => document['paths']))
  const catalogues = new Set(versions.map(({ document }) => valueAt(document, errors)))
  const refusals = [...catalogues].flatMap(refusalsIn)
  const inside = refusals.filter(({ isOutside }) => !isOutside)
  const outside = refusals.filter(({ isOutside, code }) => isOutside || CHECKED_FIRST.has(code))
  const open = openPlaces(assumptions)
  const compileFirst = createCompiler(FORMATS, { inlineRefs: false, allErrors: false })
  const compileAll = createCompiler(FORMATS, { inlineRefs: false })
  let resolved: unknown
  /** What an overlay has removed from the document permits everything. */
  function schemaAt(pointer: string): Json {
    resolved ??= followReferences({ paths: source['paths'], components })
    return (valueAt(resolved, pointer) ?? {}) as Json
  }
  const checkAt = memoize(
    (pointer) => createPlacedCheck(source, pointer, (all) => (all ? compileAll : compileFirst)(schemaAt(pointer))),
    { limit: Number.POSITIVE_INFINITY },
  )
  function isOpen(place: string): boolean {
    if (open.has(place)) return true
    // What the specification leaves open as a whole, such as the body of a response, has no part that is fixed.
    const parent = place.slice(0, place.lastIndexOf('/'))
    return parent.startsWith('/components/schemas/') && open.has(parent)
  }
  function readOperation(operation: Operation): WidestOperation {
    const statuses = [...paths].flatMap((each) =>
      Object.keys((valueAt({ paths: each }, `${pointerOf(operation)}/responses`) ?? {}) as Json).map(Number),
    )
    const success = pointTo(`${pointerOf(operation)}/responses`, operation.success.status)
    const schema = `${success}/content/application~1json/schema`
    return {
      statuses: new Set(statuses.filter((status) => status < 300)),
      codes: codesOf(source, operation),
      checkBody: checkAt(`${pointerOf(operation)}/requestBody/content/application~1json/schema`),
      checkSuccess: checkAt(schema),
      content: walkTo(source, success, 'content'),
      isOpen: isOpen(walkTo(source, schema, 'properties', 'data', 'type').replace(/\/type$/, '')),
      quota: QUOTA_FIELDS.map((name) => ({
        name,
        field: name.toLowerCase(),
        check: checkAt(`${success}/headers/${name}/schema`),
        placeOf: (...steps) => walkTo(source, success, 'headers', name, ...steps),
      })),
    }
  }
  return {
    contract,
    errors,
    checkAt,
    isOpen,
    of: memoizeWeakly(readOperation),
    statusesOf: memoize((code) => new Set(inside.filter((each) => each.code === code).map(({ status }) => status)), {
      limit: 100,
    }),
    isRefusedOutside: (status, code) =>
      outside.some((each) => each.status === status && (code === undefined || each.code === code)),
  }
})

/** A name of letters, digits, hyphens and underscores, which some service may take for a hostname. */
const LIKE_A_HOSTNAME =
  /^(?=.{1,254}$)(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i
/** Cached, because each response names the same domains again. */
const otherHostname = memoize(comparableHostname, { limit: 20_000, longest: 253 })
const isHostname = (name: string) => LIKE_A_HOSTNAME.test(name) || otherHostname(name) !== undefined
const FORMATS = { hostname: isHostname, 'idn-hostname': isHostname, uuid: UUID }

/** Codes that a service can answer with before it looks for the operation. */
const CHECKED_FIRST: ReadonlySet<string> = new Set(['unauthorized', 'rate_limited', 'internal_error'])

/** The document under one alternative, or as written. */
interface Version {
  place: string
  document: Json
}

/** The document as written, then under each single alternative. The versions share all that is equal. */
function versionsOf(source: Json, assumptions: readonly Assumption[]): Version[] {
  const changed = assumptions.flatMap(({ place, alternatives }) =>
    alternatives.map((patch): Version => {
      const whole = stepsOf(place).reduceRight<unknown>((inner, step) => ({ [step]: inner }), patch)
      return { place, document: mergePatch(source, whole) as Json }
    }),
  )
  return [{ place: '', document: source }, ...changed]
}

/** The schemas and headers of the components, in which each open schema is `anyOf` its alternatives. */
function widestComponents(source: Json, versions: readonly Version[]): Json {
  const demanded = demandedKeywords(source)
  const { schemas = {}, headers = {} } = source['components'] as Record<string, Json>
  // An alternative of something around the schemas can change several of them.
  const above = versions.filter(({ place }) => !place.startsWith('/components/schemas/'))
  const others = [...new Set(above.map(({ document }) => valueAt(document, '/components/schemas')))] as Json[]
  const open = Object.entries(schemas).map(([name, schema]) => [
    name,
    anyOf([schema, ...others.flatMap((each) => each[name] ?? [])]),
  ])
  const change = (object: Json) => withAlternatives(withoutOpenLimits(object, demanded.get(object)))
  return rewrite({ schemas: Object.fromEntries(open), headers }, change) as Json
}

/** Whether a request may have an empty list, or a name without a visible character, is open unless a rule forbids it. */
function withoutOpenLimits(schema: Json, demanded: ReadonlySet<string> | undefined): Json {
  if (demanded === undefined) return schema
  const open = ['minItems', 'pattern'].filter((keyword) => schema[keyword] !== undefined && !demanded.has(keyword))
  return open.length === 0 ? schema : Object.fromEntries(Object.entries(schema).filter(([key]) => !open.includes(key)))
}

function withAlternatives(schema: Json): Json {
  const { 'x-assumption': assumption, ...chosen } = schema
  const alternatives = valueAt(assumption, '/alternatives')
  if (!Array.isArray(alternatives)) return schema
  return anyOf([chosen, ...alternatives.map((patch) => mergePatch(chosen, patch))])
}

function anyOf(schemas: readonly unknown[]): Json {
  // Most are the same object, and their meaning takes long to write.
  const objects = [...new Set(schemas)]
  if (objects.length === 1) return schemas[0] as Json
  const different = [...new Map(objects.map((schema) => [meaningOf(schema), schema])).values()]
  return different.length === 1 ? (schemas[0] as Json) : { anyOf: different }
}

/** What a schema says about values, as a text. */
function meaningOf(schema: unknown): string {
  return JSON.stringify(schema, (key, value) => {
    if (key === 'default' || key === 'description' || key === 'example') return undefined
    return key.startsWith('x-') && key !== 'x-constraints' ? undefined : value
  })
}

interface Refusal {
  code: string
  status: number
  isOutside: boolean
}

/** All refusals that a catalogue of errors describes. */
function refusalsIn(catalogue: unknown): Refusal[] {
  return Object.entries((catalogue ?? {}) as Record<string, Json>)
    .filter(([code]) => !code.startsWith('x-'))
    .flatMap(([code, entry]) => {
      const reasons = (entry['reasons'] ?? {}) as Record<string, Json>
      const refusals = Object.values(reasons).map(({ status, as, outside, code: other }) => ({
        code: (other ?? code) as string,
        status: (status ?? reasons[String(as)]?.['status'] ?? entry['status']) as number,
        isOutside: outside === true,
      }))
      return [{ code, status: entry['status'] as number, isOutside: false }, ...refusals]
    })
}

/** The codes of an operation: declared ones, those of settings, and those that its schemas have under alternatives. */
function codesOf(source: Json, operation: Operation): ReadonlySet<string> {
  const written = valueAt(source, pointerOf(operation)) as Json
  const codes = new Set([...operation.responses.values()].flatMap((response) => [...response.codes]))
  for (const settings of [source, written].map((holder) => holder['x-codes-by-setting'])) {
    for (const byValue of Object.values((settings ?? {}) as Json)) addTexts(byValue)
  }
  const seen = new Set<unknown>()
  function addTexts(value: unknown): void {
    if (typeof value === 'string') codes.add(value)
    else if (isObject(value) || Array.isArray(value)) for (const each of Object.values(value)) addTexts(each)
  }
  function visit(reference: unknown): void {
    const value = follow(source, reference)
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    for (const [key, item] of Object.entries(value)) {
      if (key === 'x-error') addTexts(item)
      if (key === 'open') addTexts(valueAt(item, '/codes'))
      visit(item)
    }
  }
  visit(written['parameters'])
  visit(written['requestBody'])
  return codes
}

/** The keywords about values. The specification never leaves open the fields of an object and their types. */
const OF_VALUES = new Set(['pattern', 'format', 'enum', 'minLength', 'maxLength', 'multipleOf'])

function openPlaces(assumptions: readonly Assumption[]): ReadonlySet<string> {
  const places = new Set<string>()
  function visit(value: unknown, place: string): void {
    if (!isObject(value)) return
    for (const [key, item] of Object.entries(value)) {
      // Constraints on values count as part of the schema that has them.
      if (OF_VALUES.has(key)) places.add(pointTo(place, key)).add(pointTo(place.replace(/\/x-constraints$/, ''), key))
      if (key === 'status') places.add(place)
      visit(item, pointTo(place, key))
    }
  }
  for (const { place, choice, open } of assumptions) {
    visit(choice, place)
    if (open?.success === true) places.add(place)
  }
  return places
}
