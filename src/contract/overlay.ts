import { readInput } from '../ground/input-file.ts'
import { define, isObject, type Json } from '../ground/json.ts'
import { ContractError } from './contract-error.ts'
import { whatBecameOfPlace } from './settled-choices.ts'
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

/** Reads the overlays in these files. @throws ContractError */
export function readOverlays(paths: readonly string[]): Promise<Overlay[]> {
  return Promise.all(paths.map(readOverlay))
}

async function readOverlay(path: string): Promise<Overlay> {
  const fail = (reason: string) => new ContractError(path, '', reason)
  return asOverlay(await parseYaml(await readInput(path, { content: 'overlay', fail }), path), path)
}

/** Checks that `document` is an Overlay of a supported version. @throws ContractError */
export function asOverlay(document: unknown, name: string): Overlay {
  const fail = (pointer: string, reason: string) => new ContractError(name, pointer, reason)
  if (!isObject(document) || typeof document['overlay'] !== 'string') {
    throw fail('', 'This is no OpenAPI Overlay: it needs the field `overlay` with the version 1.0.0.')
  }
  if (!/^1\.0\.\d+$/.test(document['overlay'])) {
    throw fail('/overlay', `Overlay ${document['overlay']} is not supported; 1.0.0 is.`)
  }
  const { actions } = document
  if (!Array.isArray(actions) || actions.length === 0) throw fail('/actions', 'An overlay has at least one action.')
  for (const [index, action] of actions.entries()) {
    const at = `/actions/${index}`
    if (!isObject(action)) throw fail(at, 'An action must be an object.')
    if (typeof action['target'] !== 'string') throw fail(`${at}/target`, 'An action needs a target, a JSONPath.')
    if (action['remove'] !== undefined && typeof action['remove'] !== 'boolean') {
      throw fail(`${at}/remove`, '`remove` must be true or false.')
    }
    if (action['remove'] !== true && action['update'] === undefined) {
      throw fail(at, 'An action needs `update`, or `remove: true`.')
    }
    for (const key of Object.keys(action)) {
      if (!['target', 'description', 'update', 'remove'].includes(key) && !key.startsWith('x-')) {
        throw fail(`${at}/${key}`, 'An action of Overlay 1.0 does not have this field.')
      }
    }
  }
  return { name, actions }
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
    const fail = (reason: string, field = '') => new ContractError(name, `/actions/${index}${field}`, reason)
    let locations: (string | number)[][]
    try {
      locations = query(target, root.$ as never).nodes.map((node) => node.location)
    } catch (error) {
      throw fail(
        `The target ${oneLine(target)} is no JSONPath (RFC 9535): ${oneLine((error as Error).message)}.`,
        '/target',
      )
    }
    if (locations.length === 0) {
      const became = whatBecameOfPlace(target)
      const reason = `The target ${oneLine(target)} selects nothing in openapi.yaml.`
      throw fail(became === undefined ? reason : `${reason} ${became}`, '/target')
    }
    for (const location of lastFirst(locations)) {
      const path = ['$', ...location]
      const last = String(path.pop())
      const holder = path.reduce<Json>((value, step) => value[step] as Json, root)
      if (remove === true) {
        if (path.length === 0) throw fail('The document itself cannot be removed.', '/target')
        if (Array.isArray(holder)) holder.splice(Number(last), 1)
        else delete holder[last]
        continue
      }
      const selected = holder[last]
      if (typeof selected !== 'object' || selected === null) {
        throw fail(`The target ${oneLine(target)} selects a single value; select the object that holds it.`, '/target')
      }
      if (!Array.isArray(selected) && !isObject(update))
        throw fail('The update of an object must be an object.', '/update')
      // The update of an array is one more entry.
      define(holder, last, merge(selected, Array.isArray(selected) ? [update] : update))
    }
  }
  return root.$
}

/** The error catalogue was part of the components, and overlays of that time still hold. */
const FORMER_CATALOGUE = /^\$(?:\.components|\[['"]components['"]\])(?:\.x-errors|\[['"]x-errors['"]\])/

/** Overlay 1.0 §4.4.3: objects are merged, arrays are concatenated, anything else is replaced. */
function merge(target: unknown, update: unknown): unknown {
  if (Array.isArray(target) && Array.isArray(update)) return [...target, ...(copyOf(update) as unknown[])]
  if (!isObject(target) || !isObject(update)) return copyOf(update)
  const merged = { ...target }
  for (const [key, value] of Object.entries(update)) {
    define(merged, key, Object.hasOwn(target, key) ? merge(target[key], value) : copyOf(value))
  }
  return merged
}

/** A copy in which no two places are the same object, as places of YAML with an alias are: a change is of one place. */
function copyOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** Each place once. A later entry of an array comes first, so its removal does not move an earlier entry. */
function lastFirst(locations: readonly (string | number)[][]): (string | number)[][] {
  const different = new Map(locations.map((location) => [JSON.stringify(location), location]))
  return [...different.values()].toSorted((one, other) => {
    const index = one.findIndex((step, place) => step !== other[place])
    const [step, another] = [one[index], other[index]]
    if (step === undefined || another === undefined) return other.length - one.length
    if (typeof step === 'number' && typeof another === 'number') return another - step
    return String(step) < String(another) ? 1 : -1
  })
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
