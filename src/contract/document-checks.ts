import type { ErrorObject } from 'ajv/dist/2020.js'
import { isObject, type Json, pointTo, valueAt } from '../ground/json.ts'
import { violationOf } from '../ground/schema.ts'
import type { Catalogue } from './catalogue.ts'
import type { CodesBySetting } from './codes.ts'
import { ContractError } from './contract-error.ts'
import { type Extension, visitFields } from './extensions.ts'
import { readRules } from './rules.ts'

/** Checks that the document is valid OpenAPI 3.1. @throws ContractError */
export async function checkOpenApi(source: Json, file: string): Promise<void> {
  // swagger-parser would refuse the absence too, but names no place.
  if (source['paths'] === undefined) throw new ContractError(file, '/paths', 'The value is missing.')
  const { default: SwaggerParser } = await import('@apidevtools/swagger-parser')
  const options = { resolve: { external: false }, dereference: { circular: 'ignore' } } as const
  await SwaggerParser.validate(structuredClone(source) as never, options).catch((error: SchemaError) => {
    const [first] = error.details ?? []
    if (first === undefined) throw new ContractError(file, '', `${error.message.split('\n')[0]?.replace(/\.$/, '')}.`)
    const { pointer, reason } = violationOf(first)
    throw new ContractError(file, pointer, `The value ${reason}.`)
  })
}

/** What swagger-parser throws. It has details if the document violates the schema of OpenAPI. */
type SchemaError = Error & { details?: readonly ErrorObject[] }

/** Checks that the catalogue has every code that an extension names. @throws ContractError */
export function checkCodes(extensions: readonly Extension[], catalogue: Catalogue, file: string): void {
  for (const { key, value, holder } of extensions) {
    for (const { step, code } of namedCodes(key, value)) {
      if (catalogue.has(code)) continue
      const reason = `The code ${code} is not in the catalogue /x-errors.`
      throw new ContractError(file, `${holder}/${key}/${step}`, reason)
    }
  }
}

function namedCodes(key: string, value: unknown): { step: string; code: string }[] {
  switch (key) {
    case 'x-codes':
    case 'x-error':
    case 'x-error-defaults':
      return Object.entries(value as Record<string, string>).map(([step, code]) => ({ step, code }))
    case 'x-errors':
      return Object.entries(value as Json).flatMap(([entry, content]) => {
        const reasons = isObject(content) && isObject(content['reasons']) ? content['reasons'] : {}
        return Object.entries(reasons).flatMap(([name, reason]) => {
          const code = isObject(reason) ? reason['code'] : undefined
          return typeof code === 'string' ? [{ step: `${entry}/reasons/${name}/code`, code }] : []
        })
      })
    case 'x-codes-by-setting':
      return Object.entries(value as CodesBySetting).flatMap(([setting, codes]) =>
        Object.entries(codes).map(([given, code]) => ({ step: pointTo(setting, given), code })),
      )
    case 'x-rule':
      return readRules(value, '').flatMap(({ id, refuses }) =>
        refuses.flatMap(({ code }, index) => (code === undefined ? [] : [{ step: `${id}/refuses/${index}`, code }])),
      )
    default:
      return []
  }
}

/** Checks that the ids of all assumptions and of all rules are unique. @throws ContractError */
export function checkIds(extensions: readonly Extension[], file: string): void {
  const places = new Map<string, string>()
  for (const { key, value, holder } of extensions) {
    const ids =
      key === 'x-assumption' ? [(value as { id: string }).id] : key === 'x-rule' ? Object.keys(value as Json) : []
    for (const id of ids) {
      const name = `${key} ${id}`
      const former = places.get(name)
      if (former !== undefined) throw new ContractError(file, `${holder}/${key}`, `The id ${id} is taken by ${former}.`)
      places.set(name, `${holder}/${key}`)
    }
  }
}

/** Checks that no keyword is both in a schema and in its `x-constraints`. @throws ContractError */
export function checkConstraints(extensions: readonly Extension[], source: Json, file: string): void {
  for (const { key, value, holder } of extensions) {
    if (key !== 'x-constraints') continue
    const schema = valueAt(source, holder) as Json
    const twice = Object.keys(value as Json).find((keyword) => Object.hasOwn(schema, keyword))
    if (twice === undefined) continue
    throw new ContractError(file, pointTo(holder, twice), `The x-constraints of this schema have ${twice} already.`)
  }
}

/** Checks that every reference leads to a place in the document, and not to a parent object. @throws ContractError */
export function checkReferences(source: Json, file: string): void {
  const references: { pointer: string; target: string }[] = []
  visitFields(source, (key, value, holder) => {
    if (key !== '$ref' || typeof value !== 'string') return
    const pointer = `${holder}/$ref`
    if (!value.startsWith('#/')) {
      throw new ContractError(file, pointer, `The reference ${value} leads out of the document; only #/… is followed.`)
    }
    references.push({ pointer, target: value.slice(1) })
  })
  for (const { pointer, target } of references) {
    if (valueAt(source, target) === undefined) throw new ContractError(file, pointer, `There is nothing at ${target}.`)
  }
  const checked = new Set<string>()
  function follow(place: string, path: ReadonlySet<string>): void {
    if (checked.has(place)) return
    for (const { pointer, target } of references.filter((reference) => reference.pointer.startsWith(`${place}/`))) {
      if (path.has(target)) throw new ContractError(file, pointer, 'The reference leads back to what it is part of.')
      follow(target, new Set([...path, target]))
    }
    checked.add(place)
  }
  for (const { target } of references) follow(target, new Set([target]))
}
