import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { type Refusal, refuse } from '../domain/errors.ts'

/** A request target (RFC 9112 §3.2) taken apart; scheme and authority of the absolute form are dropped. */
export interface Target {
  path: string
  /** The first value of each parameter. */
  query: Record<string, string>
}

export type Route = { ok: true; operation: Operation } | (Refusal & { allow?: string })

export function readTarget(target: string): Target {
  const local = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  const mark = local.indexOf('?')
  if (mark < 0) return { path: local, query: {} }
  const query: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(local.slice(mark + 1))) query[name] ??= value
  return { path: local.slice(0, mark), query }
}

export function createRouter({ basePath, routes, settings }: Contract): (method: string, path: string) => Route {
  const lenient = settings.pathMatching === 'lenient'
  const known = lenient ? new Map([...routes].map(([path, methods]) => [path.toLowerCase(), methods])) : routes
  const base = lenient ? basePath.toLowerCase() : basePath

  return function route(method, path) {
    const spelt = lenient ? path.toLowerCase().replace(/(.)\/$/, '$1') : path
    const methods = spelt.startsWith(`${base}/`) ? known.get(spelt.slice(base.length)) : undefined
    if (methods === undefined) return refuse({ code: 'not_found', reason: 'path', value: path, about: { path } })
    const operation = methods.get(method === 'HEAD' && settings.head === 'get' ? 'GET' : method)
    if (operation !== undefined) return { ok: true, operation }
    const allowed = [...methods.keys()].flatMap((name) =>
      name === 'GET' && settings.head === 'get' ? ['GET', 'HEAD'] : [name],
    )
    const allow = allowed.join(', ')
    return {
      ...refuse({ code: 'not_found', reason: 'method', value: method, about: { method, path, allowed: allow } }),
      allow,
    }
  }
}
