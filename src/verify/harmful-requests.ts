import { isObject, readJson } from '../ground/json.ts'
import { readParameters, splitTarget } from '../ground/target.ts'
import type { Holdings } from './holdings.ts'
import { bytesOfBody, isRead, type ProbeRequest } from './probe.ts'

/** What belongs to the run. */
type Permission = Pick<Holdings, 'isOwnDomain' | 'isOwnGroup' | 'hasOnlyOwn'>

/**
 * Why a request must not be sent; `undefined` if it is harmless. A service may mistake the request for another, or
 * accept what it should refuse, and then change data of other clients. Every request of a run is checked here, so that
 * no mistake in a probe can harm an account.
 */
export function findHarm(request: ProbeRequest, permission: Permission): string | undefined {
  if (isRead(request)) return undefined
  const { method } = request
  const { path, query } = splitTarget(request.path)
  // Created items are recognized by their names, which are in the ledger before the request.
  if (method === 'POST') return undefined
  const isGroup = /^\/domaingroups\/?$/i.test(path)
  const ids = readParameters(query ?? '').flatMap(([name, value]) => (name === 'id' ? [value] : []))
  if (isGroup) {
    const foreign = ids.find((id) => id !== '' && !permission.isOwnGroup(id))
    if (foreign !== undefined) return `${method} concerns the group ${foreign}, which is not the run's`
    if (ids.length > 0 && ids.every((id) => id !== '')) return undefined
    if (method === 'PATCH' && changesNothing(request, permission)) return undefined
    return permission.hasOnlyOwn('groups') ? undefined : `${method} without an id might concern groups of others`
  }
  if (method !== 'DELETE') return `${method} ${path} is not known to be harmless`
  const body = readJson(bytesOfBody(request)?.toString() ?? '')
  const named = isObject(body) ? body['domains'] : undefined
  const names = Array.isArray(named) ? named : undefined
  const foreign = names?.find((name) => typeof name === 'string' && !permission.isOwnDomain(name))
  if (foreign !== undefined) return `DELETE names the domain ${foreign}, which is not the run's`
  if (names !== undefined || permission.hasOnlyOwn('domains')) return undefined
  return 'DELETE without a list of domains might concern domains of others'
}

/** Whether the body changes no group, even if applied to all: it is not JSON, or removes the run's own domains. */
function changesNothing(request: ProbeRequest, permission: Permission): boolean {
  const text = bytesOfBody(request)?.toString() ?? ''
  const body = readJson(text)
  if (body === undefined) return text === '' || text === '{'
  if (!isObject(body) || Object.keys(body).some((name) => name !== 'remove_domains')) return false
  const removed = body['remove_domains']
  return Array.isArray(removed) && removed.every((name) => typeof name === 'string' && permission.isOwnDomain(name))
}
