import { givenFields } from '../domain/given-fields.ts'
import { isObject, type Json, mergePatch, stepsOf, valueAt } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { extensionsOf } from './extensions.ts'
import type { Overlay } from './overlay.ts'

/** Answers that the specification leaves open where a service decides about an assumption. */
export interface OpenAnswers {
  /** Error codes of a refusal. */
  codes?: readonly string[]
  /** Whether the content of a success is open. */
  success?: true
}

/** A choice about a point that the specification leaves open. */
export interface Assumption {
  id: string
  /** JSON pointer to the object that contains the choice. */
  place: string
  /** The statement of the specification about it, or a note that there is none. */
  spec: string
  /** The present values of the keys that the alternatives change. */
  choice: Json
  /** Other values that the specification permits. Each is a merge patch of the object at `place`. May be empty. */
  alternatives: readonly Json[]
  /** What the specification permits here besides, without an alternative for it. */
  open?: OpenAnswers
  /** The reason why there is no alternative, if there is none. */
  reason?: string
  /**
   * The reason why the exchanges of one client cannot show that the service behaves like an alternative. It applies to
   * all alternatives, or by number to some of them.
   */
  unobservable?: string | Readonly<Record<string, string>>
}

/** All assumptions of a document. */
export const assumptionsOf = memoizeWeakly((document: Json): readonly Assumption[] =>
  extensionsOf(document)
    .filter(({ key }) => key === 'x-assumption')
    .map(({ value, holder }) => {
      const { id, spec, alternatives, open, reason, unobservable } = value as Omit<Assumption, 'place' | 'choice'>
      const choice = choiceOf(valueAt(document, holder) as Json, alternatives)
      return { id, place: holder, spec, alternatives, choice, ...givenFields({ open, reason, unobservable }) }
    }),
)

/**
 * An overlay that replaces our choice by `alternative`. It changes nothing else, so it can be applied before or after
 * the overlay of any other assumption.
 */
export function overlayFor(
  { id, place }: Pick<Assumption, 'id' | 'place'>,
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
 * A merge patch of `holder` as an update of the Overlay Specification. Such an update removes nothing and appends to
 * arrays. So `removals` gets the paths that must be removed first. Returns `undefined` if there is nothing to update.
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

/** The values of `holder` that `patch` changes; null for a key that `holder` does not have. */
function touched(holder: Json, patch: Json): Json {
  return Object.fromEntries(
    Object.entries(patch).map(([key, change]) => {
      const value = holder[key] ?? null
      return [key, isObject(change) && isObject(value) ? touched(value, change) : value]
    }),
  )
}

/** The fields of both objects, at every depth. */
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
