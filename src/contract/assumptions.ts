import { isObject, type Json, mergePatch, stepsOf, valueAt } from '../ground/json.ts'
import type { Extension } from './extensions.ts'
import type { Overlay } from './overlay.ts'

/** A choice that was made because the specification leaves it open. */
export interface Assumption {
  id: string
  /** JSON pointer of the object that the choice is part of. */
  place: string
  /** What the specification says about it, or that it says nothing. */
  spec: string
  /** The values that the document has now for the keys that the alternatives change. */
  choice: Json
  /** Other values that the specification permits. Each is a merge patch of the object at `place`. Can be empty. */
  alternatives: readonly Json[]
  /** Why there is no alternative, where there is none. */
  reason?: string
  /**
   * Why exchanges of one client with the service cannot show that it behaves as an alternative: for all of them, or by
   * the number of the alternative for some.
   */
  unobservable?: string | Readonly<Record<string, string>>
}

export function assumptionsOf(document: Json, extensions: readonly Extension[]): Assumption[] {
  return extensions
    .filter(({ key }) => key === 'x-assumption')
    .map(({ value, holder }) => {
      const { id, spec, alternatives, reason, unobservable } = value as Omit<Assumption, 'place' | 'choice'>
      return {
        id,
        place: holder,
        spec,
        alternatives,
        choice: choiceOf(valueAt(document, holder) as Json, alternatives),
        ...(reason !== undefined && { reason }),
        ...(unobservable !== undefined && { unobservable }),
      }
    })
}

/**
 * An overlay that replaces our choice by `alternative`. It changes nothing beside that, so it can be applied before or
 * after that of any other assumption.
 */
export function overlayFor(
  { id, place }: Assumption,
  alternative: Json,
  document: Json,
): Overlay & { actions: Json[] } {
  const target = pathTo(document, place)
  const removals: string[] = []
  const update = divide(valueAt(document, place), alternative, target, removals)
  return {
    name: id,
    actions: [
      ...removals.map((each) => ({ target: each, remove: true })),
      ...(update === undefined ? [] : [{ target, update }]),
    ] as never,
  }
}

/**
 * What a merge patch of `holder` is as an update of the Overlay Specification, which takes nothing away and adds to arrays;
 * `removals` gets the paths of what must be removed before. `undefined` where nothing is to be updated.
 */
function divide(holder: unknown, patch: Json, path: string, removals: string[]): Json | undefined {
  const update: [name: string, value: unknown][] = []
  for (const [name, change] of Object.entries(patch)) {
    const isThere = isObject(holder) && Object.hasOwn(holder, name)
    const value = isThere ? holder[name] : undefined
    const place = `${path}[${quote(name)}]`
    if (isObject(change) && isObject(value)) {
      const inner = divide(value, change, place, removals)
      if (inner !== undefined) update.push([name, inner])
      continue
    }
    if (isThere && (change === null || Array.isArray(value))) removals.push(place)
    if (change !== null) update.push([name, mergePatch(undefined, change)])
  }
  return update.length === 0 ? undefined : Object.fromEntries(update)
}

function choiceOf(holder: Json, alternatives: readonly Json[]): Json {
  if (alternatives.length > 0) return alternatives.map((patch) => touched(holder, patch)).reduce(joinObjects)
  return Object.fromEntries(Object.entries(holder).filter(([key, value]) => key !== 'x-assumption' && !isObject(value)))
}

/** The values of `holder` that `patch` would change; null for a key that it does not have. */
function touched(holder: Json, patch: Json): Json {
  return Object.fromEntries(
    Object.entries(patch).map(([key, change]) => {
      const value = holder[key] ?? null
      return [key, isObject(change) && isObject(value) ? touched(value, change) : value]
    }),
  )
}

/** The fields of both, at every depth. */
function joinObjects(one: Json, other: Json): Json {
  const joined = { ...one }
  for (const [key, value] of Object.entries(other)) {
    const known = joined[key]
    joined[key] = isObject(known) && isObject(value) ? joinObjects(known, value) : value
  }
  return joined
}

/** A JSON pointer as a normalized JSONPath (RFC 9535 §2.7). */
export function pathTo(document: Json, pointer: string): string {
  let value: unknown = document
  let path = '$'
  for (const step of stepsOf(pointer)) {
    path += Array.isArray(value) ? `[${step}]` : `[${quote(step)}]`
    value = (value as Json)[step]
  }
  return path
}

function quote(step: string): string {
  return `'${step.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
