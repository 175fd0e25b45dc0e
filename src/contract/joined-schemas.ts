import type { ErrorObject } from 'ajv/dist/2020.js'
import { isObject, type Json, pointTo, stepsOf, valueAt } from '../ground/json.ts'
import { memoize } from '../ground/memo.ts'
import { type Violation, violationOf } from '../ground/schema.ts'
import type { Validate } from './bounded-check.ts'
import { followReferences } from './document.ts'
import { canonicalHostname, LIBERAL } from './hostname.ts'
import { createKeepingCompiler, type KeptValidators, nameOf, UUID } from './schema-compiler.ts'

/** A violation, and the place in the document of what was expected. */
export interface PlacedViolation extends Violation {
  /** JSON pointer into the document. */
  place: string
}

export type PlacedCheck = (value: unknown) => readonly PlacedViolation[]

/** The versions of a component schema under the alternatives. The first is our choice. */
export type SchemaVersions = ReadonlyMap<string, readonly Json[]>

/**
 * Checks values against the schemas of a document in which each component schema may be any of its versions, wherever
 * it is used. So two deviations in one value are judged separately.
 */
export interface JoinedSchemas {
  /** The check against the schema at the pointer. */
  checkAt(pointer: string): PlacedCheck
  /** The same check, except that the schema `name` has only this version. It returns only whether a value passes. */
  validityAt(pointer: string, only: { name: string; version: Json }): (value: unknown) => boolean
}

/** Cached, because each response names the same domains again. */
const liberalHostname = memoize((name) => canonicalHostname(name, LIBERAL), { limit: 20_000, longest: 253 })
const isHostname = (name: string) => liberalHostname(name) !== undefined
const FORMATS = { hostname: isHostname, 'idn-hostname': isHostname, uuid: UUID }

const NONE: readonly never[] = []

export function joinSchemas(document: Json, versions: SchemaVersions, kept: KeptValidators): JoinedSchemas {
  const compile = createKeepingCompiler(FORMATS, kept)

  function resolve(pointer: string, only: { name: string; version: Json } | undefined): Json {
    const schemas = Object.fromEntries(
      [...versions].map(([name, all]) => {
        const allowed = name === only?.name ? [only.version] : all
        return [name, allowed.length === 1 ? allowed[0] : { anyOf: allowed }]
      }),
    )
    const walk = new Walk(document)
    if (!stepsOf(pointer).every((step) => walk.enter(step))) throw new Error(`The document has nothing at ${pointer}.`)
    const components = { ...(document['components'] as Json), schemas }
    return (followReferences({ components, root: walk.value }) as { root: Json }).root
  }

  return {
    checkAt(pointer) {
      // The schema is compiled on first use: few sessions need all of them.
      let [isValid, validate]: (Validate | undefined)[] = []
      const places = new Map<string, string>()
      return (value) => {
        // Nearly all values are valid, and this shows it in half the time.
        isValid ??= compile('validity', `any ${pointer}`, () => resolve(pointer, undefined))
        if (isValid(value)) return NONE
        validate ??= compile('errors', `any ${pointer}`, () => resolve(pointer, undefined))
        if (validate(value)) return NONE
        return likeliestErrors(validate.errors ?? []).map((error) => {
          const place = places.get(error.schemaPath) ?? placeOf(document, pointer, error)
          places.set(error.schemaPath, place)
          return { ...violationOf(error), place }
        })
      }
    },
    validityAt(pointer, only) {
      let validate: Validate | undefined
      const compileOnce = () =>
        compile('validity', `${only.name} ${nameOf(only.version)} ${pointer}`, () => resolve(pointer, only))
      return (value) => {
        validate ??= compileOnce()
        return validate(value)
      }
    },
  }
}

/**
 * If all schemas of a choice fail, only the errors of the one that fails least: it is the most probable. The errors of
 * a choice come right before its own error. So one pass is enough, however many errors there are.
 */
function likeliestErrors(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const kept: ErrorObject[] = []
  for (const error of errors) {
    const { keyword, params } = error
    let start = kept.length
    if (keyword === 'anyOf' || (keyword === 'oneOf' && !params['passingSchemas'])) {
      while (start > 0 && isWithin(kept[start - 1] as ErrorObject, error)) start--
    }
    if (start === kept.length) kept.push(error)
    else kept.push(...likeliestBranch(error, kept.splice(start)))
  }
  return kept
}

function likeliestBranch({ schemaPath }: ErrorObject, errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const branches = new Map<string, ErrorObject[]>()
  for (const error of errors) {
    const [branch = ''] = error.schemaPath.slice(schemaPath.length + 1).split('/')
    const known = branches.get(branch)
    if (known === undefined) branches.set(branch, [error])
    else known.push(error)
  }
  const [first = [], ...others] = branches.values()
  return others.reduce((best, branch) => (weightOf(branch) < weightOf(best) ? branch : best), first)
}

/** Missing and unknown fields and wrong types: however many values break a limit, the form of the value decides. */
const OF_FORM: ReadonlySet<string> = new Set(['required', 'type', 'additionalProperties', 'const'])

function weightOf(errors: readonly ErrorObject[]): number {
  const ofForm = errors.filter(({ keyword }) => OF_FORM.has(keyword)).length
  return ofForm * 1_000_000 + errors.length
}

function isWithin(error: ErrorObject, choice: ErrorObject): boolean {
  const { instancePath: place } = choice
  return (
    error.schemaPath.startsWith(`${choice.schemaPath}/`) &&
    (error.instancePath === place || error.instancePath.startsWith(`${place}/`))
  )
}

/** The place in the document of the keyword that an error is about, or the nearest object that contains it. */
function placeOf(document: Json, pointer: string, { schemaPath }: ErrorObject): string {
  const walk = new Walk(document)
  for (const step of stepsOf(pointer)) walk.enter(step)
  const steps = stepsOf(decodeURI(schemaPath.slice(1)))
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index] ?? ''
    if (walk.enter(step)) continue
    // This is a choice between versions, which the document does not have. Continue within the version of our choice.
    if (step !== 'anyOf') break
    index++
  }
  return walk.place
}

/** A path through a document that follows its references. */
export class Walk {
  /** JSON pointer to the present place, in the document as written. */
  place = ''
  value: unknown
  readonly #document: Json

  constructor(document: Json) {
    this.#document = document
    this.value = document
  }

  /** Takes one step, if the document has it. */
  enter(step: string): boolean {
    this.#follow(step)
    const constraints = isObject(this.value) && !Object.hasOwn(this.value, step) && this.value['x-constraints']
    if (isObject(constraints) && Object.hasOwn(constraints, step)) {
      this.value = constraints
      this.place = pointTo(this.place, 'x-constraints')
    }
    if (typeof this.value !== 'object' || this.value === null || !Object.hasOwn(this.value, step)) return false
    this.value = (this.value as Json)[step]
    this.place = pointTo(this.place, step)
    return true
  }

  #follow(step: string): void {
    while (isObject(this.value) && typeof this.value['$ref'] === 'string' && !Object.hasOwn(this.value, step)) {
      const reference = this.value['$ref']
      this.place = reference.slice(1)
      this.value = valueAt(this.#document, this.place)
    }
  }
}
