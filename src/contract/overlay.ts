import { readInput } from '../ground/files.ts'
import { define, isObject, type Json } from '../ground/json.ts'
import { findViolation } from '../ground/schema.ts'
import { ContractError } from './extensions.ts'
import { whatBecameOf } from './settings.ts'
import { parseYaml } from './yaml.ts'

interface OverlayAction {
  target: string
  update?: unknown
  remove?: boolean
}

/** An OpenAPI Overlay 1.0. Error messages contain its name. */
export interface Overlay {
  name: string
  actions: readonly OverlayAction[]
}

const SCHEMA = {
  type: 'object',
  required: ['overlay', 'actions'],
  properties: {
    overlay: { type: 'string', pattern: '^1\\.0\\.\\d+$', title: '1.0.0, the version that is supported' },
    actions: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['target'],
        properties: { target: { type: 'string' }, description: {}, update: {}, remove: { type: 'boolean' } },
        patternProperties: { '^x-': {} },
        additionalProperties: false,
        anyOf: [{ required: ['update'] }, { required: ['remove'], properties: { remove: { const: true } } }],
        title: 'an action with `update` or `remove: true`',
      },
    },
  },
}

/** Reads the overlays in these files. @throws ContractError */
export function readOverlays(paths: readonly string[]): Promise<Overlay[]> {
  return Promise.all(
    paths.map(async (path) => {
      const fail = (reason: string) => new ContractError(path, '', reason)
      return asOverlay(await parseYaml(await readInput(path, { content: 'overlay', fail }), path), path)
    }),
  )
}

/** Checks that `document` is an Overlay of a supported version. @throws ContractError */
export async function asOverlay(document: unknown, name: string): Promise<Overlay> {
  const violation = await findViolation(SCHEMA, document)
  if (violation !== undefined)
    throw new ContractError(name, violation.pointer, `This is no OpenAPI Overlay: the value ${violation.reason}.`)
  return { name, actions: (document as Overlay).actions }
}

/**
 * Applies the actions in order and returns a changed copy. A target that selects nothing is refused. The Overlay
 * Specification permits it, but here it is a misspelt choice that would silently have no effect. @throws ContractError
 */
export async function applyOverlay(document: Json, { name, actions }: Overlay): Promise<Json> {
  const { query } = await import('json-p3')
  const root = { $: copyOf(document) as Json }
  for (const [index, { target: written, update, remove }] of actions.entries()) {
    const target = written.replace(FORMER_CATALOGUE, "$['x-errors']")
    const shown = target.replaceAll(/\s+/g, ' ')
    const fail = (reason: string, field = '/target') => new ContractError(name, `/actions/${index}${field}`, reason)
    let places: { holder: Json; last: string }[]
    try {
      places = query(target, root.$ as never).nodes.map(({ location }) => {
        const path = ['$', ...location].map(String)
        const last = path.pop() ?? ''
        return { holder: path.reduce<Json>((value, step) => value[step] as Json, root), last }
      })
    } catch (error) {
      const words = (error as Error).message.replaceAll(/\s+/g, ' ')
      throw fail(`The target ${shown} is no JSONPath (RFC 9535): ${words}.`)
    }
    if (places.length === 0) {
      throw fail([`The target ${shown} selects nothing in openapi.yaml.`, whatBecameOf(target) ?? []].flat().join(' '))
    }
    for (const { holder, last } of places) {
      const selected = holder[last]
      if (remove === true) {
        if (holder === root) throw fail('The document itself cannot be removed.')
        // In an array, this leaves a hole, so that the places of other entries stay as they are.
        delete holder[last]
      } else if (Array.isArray(selected)) {
        // The update of an array is one more entry.
        selected.push(copyOf(update))
      } else {
        if (!isObject(selected))
          throw fail(`The target ${shown} selects a single value; select the object that holds it.`)
        if (!isObject(update)) throw fail('The update of an object must be an object.', '/update')
        mergeInto(selected, update)
      }
    }
    for (const { holder } of places) if (Array.isArray(holder)) holder.splice(0, holder.length, ...holder.flat(0))
  }
  return root.$
}

/** The error catalogue was part of the components, and overlays of that time still hold. */
const FORMER_CATALOGUE = /^\$(?:\.components|\[['"]components['"]\])(?:\.x-errors|\[['"]x-errors['"]\])/

/** Overlay 1.0 §4.4.3: objects are merged, arrays are concatenated, anything else is replaced. */
function mergeInto(target: Json, update: Json): void {
  for (const [key, value] of Object.entries(update)) {
    const present = Object.hasOwn(target, key) ? target[key] : undefined
    if (Array.isArray(present) && Array.isArray(value)) present.push(...(copyOf(value) as unknown[]))
    else if (isObject(present) && isObject(value)) mergeInto(present, value)
    else define(target, key, copyOf(value))
  }
}

/** A copy in which no two places are the same object, as places of YAML with an alias are: a change is of one place. */
function copyOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
