import { isObject, type Json, mapValues, pointTo, valueAt } from '../ground/json.ts'
import { METHODS } from './codes.ts'
import { ASSERTIONS, DATA, follow, NAMES } from './extensions.ts'
import { codeFor, defaultCodesOf } from './problems.ts'
import { isRefusedBy, readRules } from './rules.ts'

/** Keys with maps whose keys are names. Extensions may be beside these. */
const COLLECTIONS = new Set(['schemas', 'responses', 'parameters', 'securitySchemes', 'paths'])

/** A copy of a part of a document. `change` replaces each of its objects, but no data, before what is below it. */
export function rewrite(value: unknown, change: (object: Json) => Json): unknown {
  const again = (item: unknown) => rewrite(item, change)
  if (Array.isArray(value)) return value.map(again)
  if (!isObject(value)) return value
  return mapValues(change(value), (item, key) => {
    if (DATA.has(key)) return item
    if (NAMES.has(key) && isObject(item)) return mapValues(item, again)
    return COLLECTIONS.has(key) && isObject(item) ? mapValues(withoutExtensions(item), again) : again(item)
  })
}

export function withoutExtensions(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !key.startsWith('x-')))
}

/** Each schema of a request body, with those of its keywords whose violation a rule of the specification refuses. */
export function demandedKeywords(document: Json): ReadonlyMap<Json, ReadonlySet<string>> {
  const demanded = new Map<Json, Set<string>>()
  const defaults = defaultCodesOf(document)
  for (const [path, item] of Object.entries(document['paths'] as Json)) {
    for (const method of METHODS) {
      const operation = valueAt(item, `/${method}`)
      const rules = readRules(valueAt(operation, '/x-rule'), pointTo(path, method))
      const visit = (reference: unknown): void => {
        const schema = follow(document, reference)
        if (!isObject(schema)) return
        const known = demanded.get(schema) ?? new Set()
        demanded.set(schema, known)
        for (const keyword of ASSERTIONS.filter((each) => schema[each] !== undefined)) {
          const code = codeFor(keyword, schema, defaults) ?? ''
          if (rules.some((rule) => isRefusedBy(rule, code, keyword))) known.add(keyword)
        }
        for (const property of Object.values(isObject(schema['properties']) ? schema['properties'] : {}))
          visit(property)
        visit(schema['items'])
      }
      visit(valueAt(follow(document, valueAt(operation, '/requestBody')), '/content/application~1json/schema'))
    }
  }
  return demanded
}
