import type { DomainGroup } from '../../domain/account.ts'
import { isObject, readJson } from '../../ground/json.ts'
import { readParameters, splitTarget } from '../../http/target.ts'
import { bytesOfBody, isRead, type ProbeRequest } from './probe.ts'

/** What a request may concern. */
export interface Permission {
  isOwnDomain(name: string): boolean
  /** Whether the group was made by the run, or the id is one that no service gives. */
  isOwnGroup(id: string): boolean
  /** Whether the run can have made this group, which an answer to its request names. A service may name any group. */
  mayBeOwn(group: DomainGroup): boolean
  /** Whether the account has, as far as is known, no groups, or no domains, but those of the run. */
  hasOnlyOwn(what: 'groups' | 'domains'): boolean
}

/**
 * Why a request must not be sent, because a service that takes it for another one, or that accepts what it should refuse,
 * might change what is not the run's; `undefined` where it can do no such harm. Every request of a run is asked for here,
 * so that no mistake in a probe can touch an account.
 */
export function findHarm(request: ProbeRequest, permission: Permission): string | undefined {
  if (isRead(request)) return undefined
  const { method } = request
  const { path, query } = splitTarget(request.path)
  // What is created can be told from everything else by its name, and its names are written down before.
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

/** A body that changes no group, even if it were applied to all: it is none, or removes what is the run's. */
function changesNothing(request: ProbeRequest, permission: Permission): boolean {
  const text = bytesOfBody(request)?.toString() ?? ''
  const body = readJson(text)
  if (body === undefined) return text === '' || text === '{'
  if (!isObject(body) || Object.keys(body).some((name) => name !== 'remove_domains')) return false
  const removed = body['remove_domains']
  return Array.isArray(removed) && removed.every((name) => typeof name === 'string' && permission.isOwnDomain(name))
}
