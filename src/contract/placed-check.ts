import type { ErrorObject } from 'ajv/dist/2020.js'
import { isObject, type Json, pointTo, stepsOf, valueAt } from '../ground/json.ts'
import { type Violation, violationOf } from '../ground/schema.ts'
import type { FindErrors } from './schema-compiler.ts'

/** A violation, and the place in the document of what was expected. */
export interface PlacedViolation extends Violation {
  /** JSON pointer into the document. */
  place: string
}

/** Finds all violations; of a value that is `long`, only the first, because there may be a million. */
export type PlacedCheck = (value: unknown, long?: boolean) => readonly PlacedViolation[]

const NONE: readonly never[] = []

/**
 * The check against a schema that was made from the one at `pointer` of the document. Schemas may have become `anyOf`
 * their versions; the first is the one that the document has. `compile` is called when the first value is checked.
 */
export function createPlacedCheck(
  document: Json,
  pointer: string,
  compile: (findsAll: boolean) => FindErrors,
): PlacedCheck {
  let [findFirst, findAll]: (FindErrors | undefined)[] = []
  /** Who asks again and again gets the same answer, which the reader of exchanges makes one object. */
  let latest: unknown
  const places = new Map<string, string>()
  return (value, long = false) => {
    if (value === latest && latest !== undefined) return NONE
    // Nearly all values are valid, and this shows it in half the time.
    findFirst ??= compile(false)
    const first = findFirst(value)
    if (first.length === 0) {
      latest = value
      return NONE
    }
    if (!long) findAll ??= compile(true)
    return likeliestErrors(long ? first : (findAll?.(value) ?? first)).map((error) => {
      const { schemaPath } = error
      const place = places.get(schemaPath) ?? walkTo(document, pointer, ...stepsOf(decodeURI(schemaPath.slice(1))))
      places.set(schemaPath, place)
      return { ...violationOf(error), place }
    })
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

function likeliestBranch(
  { schemaPath, instancePath }: ErrorObject,
  errors: readonly ErrorObject[],
): readonly ErrorObject[] {
  const branches = new Map<string, ErrorObject[]>()
  for (const error of errors) {
    const [branch = ''] = error.schemaPath.slice(schemaPath.length + 1).split('/')
    const known = branches.get(branch)
    if (known === undefined) branches.set(branch, [error])
    else known.push(error)
  }
  const [first = [], ...others] = branches.values()
  const weigh = (branch: readonly ErrorObject[]) => weightOf(branch, instancePath)
  return others.reduce((best, branch) => (weigh(branch) < weigh(best) ? branch : best), first)
}

/** Missing and unknown fields and wrong types: however many values break a limit, the form decides, first that of the whole. */
const OF_FORM: ReadonlySet<string> = new Set(['required', 'type', 'additionalProperties', 'const'])

function weightOf(errors: readonly ErrorObject[], place: string): number {
  const ofForm = errors.filter(({ keyword }) => OF_FORM.has(keyword))
  const ofWhole = ofForm.filter(({ instancePath }) => instancePath === place).length
  return ofWhole * 1e10 + ofForm.length * 1e5 + errors.length
}

function isWithin(error: ErrorObject, choice: ErrorObject): boolean {
  const { instancePath: place } = choice
  return (
    error.schemaPath.startsWith(`${choice.schemaPath}/`) &&
    (error.instancePath === place || error.instancePath.startsWith(`${place}/`))
  )
}

/** The place in the document as written that a pointer and further steps lead to, as far as it has them. */
export function walkTo(document: Json, pointer: string, ...further: string[]): string {
  const steps = [...stepsOf(pointer), ...further]
  let value: unknown = document
  let place = ''
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index] ?? ''
    while (isObject(value) && typeof value['$ref'] === 'string' && !Object.hasOwn(value, step)) {
      place = value['$ref'].slice(1)
      value = valueAt(document, place)
    }
    if (valueAt(value, pointTo('', step)) === undefined) {
      const ofConstraint = valueAt(value, pointTo('/x-constraints', step))
      if (ofConstraint === undefined) {
        // A choice between versions is not in the document. Continue within the version of our choice.
        if (step !== 'anyOf') break
        index++
        continue
      }
      place = pointTo(place, 'x-constraints')
      value = (value as Json)['x-constraints']
    }
    value = (value as Json)[step]
    place = pointTo(place, step)
  }
  return place
}
