import type { Api, Operation } from '../contract/api.ts'
import { type Refusal, refuse } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'

/** A refused method comes with the allowed methods, and one of the operations of the path. */
export type Route =
  | { ok: true; operation: Operation; parameters: Readonly<Record<string, string>> }
  | (Refusal & { allow?: string; neighbour?: Operation | undefined })

type Methods = ReadonlyMap<string, Operation>

/** Finds the operation of a request, and the values of the `{parameters}` in its path. */
export function createRouter(
  { basePath, routes }: Api,
  { pathMatching, head }: Pick<Settings, 'pathMatching' | 'head'>,
): (method: string, path: string) => Route {
  const lenient = pathMatching === 'lenient'
  const known = lenient ? new Map([...routes].map(([path, methods]) => [path.toLowerCase(), methods])) : routes
  const base = lenient ? basePath.toLowerCase() : basePath
  const templates = [...routes]
    .filter(([path]) => path.includes('{'))
    .map(([path, methods]) => ({ steps: path.split('/'), methods }))

  function find(path: string): { methods: Methods; parameters: Record<string, string> } | undefined {
    const methods = known.get(path)
    if (methods !== undefined) return { methods, parameters: {} }
    const given = templates.length === 0 ? [] : path.split('/')
    for (const { steps, methods } of templates) {
      const parameters = matchSteps(steps, given)
      if (parameters !== undefined) return { methods, parameters }
    }
    return undefined
  }

  return function route(method, path) {
    const spelt = lenient ? path.toLowerCase().replace(/(.)\/$/, '$1') : path
    const found = spelt.startsWith(`${base}/`) ? find(spelt.slice(base.length)) : undefined
    if (found === undefined) return refuse({ code: 'not_found', reason: 'path', value: path, about: { path } })
    const { methods, parameters } = found
    const operation = methods.get(method === 'HEAD' && head === 'get' ? 'GET' : method)
    if (operation !== undefined) return { ok: true, operation, parameters }
    const allowed = [...methods.keys()].flatMap((name) => (name === 'GET' && head === 'get' ? ['GET', 'HEAD'] : [name]))
    const allow = allowed.join(', ')
    const [neighbour] = methods.values()
    return {
      ...refuse({ code: 'not_found', reason: 'method', value: method, about: { method, path, allowed: allow } }),
      allow,
      neighbour,
    }
  }
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
    const value = decodeSegment(text)
    if (value === undefined || value === '') return undefined
    parameters[step.slice(1, -1)] = value
  }
  return parameters
}

/** The decoded text; `undefined` if it cannot be decoded. */
export function decodeSegment(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
