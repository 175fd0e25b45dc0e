import { type Refusal, refuse } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { decodePart } from '../ground/target.ts'
import type { Api, Operation } from './api.ts'

/** A refused method comes with the allowed methods, and one of the operations of the path. */
export type Route =
  | { ok: true; operation: Operation; parameters: Readonly<Record<string, string>> }
  | (Refusal & { allow?: string; neighbour?: Operation | undefined })

type Methods = ReadonlyMap<string, Operation>

/**
 * Finds the operation of a request, and the values of the `{parameters}` in its path. A setting is read only for a
 * request that it can make a difference to.
 */
export function createRouter(
  { basePath, routes }: Api,
  settings: Pick<Settings, 'pathMatching'>,
): (method: string, path: string) => Route {
  /** The routes of paths without parameters. */
  const fixed = new Map([...routes].map(([path, methods]) => [basePath + path, routesOf(methods)]))
  const lowerCased = new Map([...routes].map(([path, methods]) => [path.toLowerCase(), methods]))
  const templates = [...routes]
    .filter(([path]) => path.includes('{'))
    .map(([path, methods]) => ({ steps: path.split('/'), methods }))

  function find(
    path: string,
    base: string,
    known: ReadonlyMap<string, Methods>,
  ): { methods: Methods; parameters: Record<string, string> } | undefined {
    if (!path.startsWith(`${base}/`)) return undefined
    const below = path.slice(base.length)
    const methods = known.get(below)
    if (methods !== undefined) return { methods, parameters: {} }
    const given = templates.length === 0 ? [] : below.split('/')
    for (const { steps, methods } of templates) {
      const parameters = matchSteps(steps, given)
      if (parameters !== undefined) return { methods, parameters }
    }
    return undefined
  }

  /** The path without its final slash, in any case. */
  function findLeniently(path: string) {
    return find(path.toLowerCase().replace(/(.)\/$/, '$1'), basePath.toLowerCase(), lowerCased)
  }

  return function route(method, path) {
    const known = fixed.get(path)?.get(method)
    if (known !== undefined) return known
    const exact = find(path, basePath, routes)
    const found = exact ?? (settings.pathMatching === 'lenient' ? findLeniently(path) : undefined)
    if (found === undefined) return refuse({ code: 'not_found', reason: 'path', value: path, about: { path } })
    const { methods, parameters } = found
    const operation = methods.get(method === 'HEAD' ? 'GET' : method)
    if (operation !== undefined) return { ok: true, operation, parameters }
    const allow = [...methods.keys()].flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])).join(', ')
    const [neighbour] = methods.values()
    return {
      ...refuse({ code: 'not_found', reason: 'method', value: method, about: { method, path, allowed: allow } }),
      allow,
      neighbour,
    }
  }
}

/** Each request to an operation without parameters in its path has the same route. */
function routesOf(methods: Methods): ReadonlyMap<string, Route> {
  return new Map([...methods].map(([method, operation]) => [method, { ok: true, operation, parameters: {} }]))
}

/** The parameters of a path that matches a template; `undefined` if it does not match. */
function matchSteps(steps: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  if (steps.length !== given.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, step] of steps.entries()) {
    const text = given[index] ?? ''
    if (!step.startsWith('{')) {
      if (step !== text) return undefined
      continue
    }
    const value = decodePart(text)
    if (value === undefined || value === '') return undefined
    parameters[step.slice(1, -1)] = value
  }
  return parameters
}
