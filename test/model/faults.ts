import type { FaultRule } from '../../src/domain/faults.ts'
import type { Code } from '../independent-service/profile.ts'
import type { Asked, Strike } from '../independent-service/service.ts'
import { type Fault, idOf, type Life } from './account.ts'

/** The operation of a request by its method and path; HEAD asks for what GET does. */
export const OPERATIONS: Readonly<Record<string, string>> = {
  'GET /dmarc': 'listDmarc',
  'HEAD /dmarc': 'listDmarc',
  'GET /domains': 'listDomains',
  'HEAD /domains': 'listDomains',
  'POST /domains': 'addDomains',
  'DELETE /domains': 'deleteDomains',
  'GET /domaingroups': 'listDomainGroups',
  'HEAD /domaingroups': 'listDomainGroups',
  'POST /domaingroups': 'createDomainGroup',
  'PATCH /domaingroups': 'updateDomainGroup',
  'DELETE /domaingroups': 'deleteDomainGroup',
}

/** Which operations ever answer with a code; any, where nothing is said. "Only operations that ever answer it are struck." */
const ANSWERED_BY: Readonly<Record<string, readonly string[]>> = {
  not_found: ['listDomainGroups', 'updateDomainGroup', 'deleteDomainGroup'],
  duplicate_name: ['createDomainGroup', 'updateDomainGroup'],
  domain_delete_failed: ['deleteDomains'],
}

/** Milliseconds. */
const LIVES: Readonly<Record<string, number>> = { PT1H: 3_600_000, P1D: 86_400_000 }

/**
 * "The first rule in order of creation that acts on a request is the only one"; those before it have counted it. Called for
 * a request that was admitted.
 */
export function strikeOf({ faults }: Life, { request, path = '/dmarc', now }: Asked): Strike | undefined {
  const key = idOf(request.headers['authorization']?.slice('Bearer '.length) ?? '')
  for (const fault of faults) {
    const { skip = 0, phase = 'before' } = fault.rule
    if (stateOf(fault, now) !== 'active' || !isFor(fault.rule, request.method, path, key)) continue
    fault.matched += 1
    if (fault.matched <= skip) continue
    fault.hits += 1
    const { error, status } = answerOf(fault.rule)
    const code = error === undefined ? 'lost' : error === 'internal_error' ? 'crash' : (error as Code)
    return { code, status, isAfter: phase === 'after' }
  }
  return undefined
}

export function stateOf({ rule, hits, createdAt }: Fault, now: number): 'active' | 'spent' | 'expired' {
  if (rule.times !== undefined && hits >= rule.times) return 'spent'
  const life = LIVES[rule.expires_after ?? ''] ?? Number.POSITIVE_INFINITY
  return now - createdAt >= life ? 'expired' : 'active'
}

function answerOf({ respond }: FaultRule): { error?: string; status?: number } {
  return respond !== undefined && 'error' in respond ? respond : {}
}

function isFor(rule: FaultRule, method: string, path: string, key: string): boolean {
  const { match = {} } = rule
  const operation = OPERATIONS[`${method} ${path}`] ?? ''
  return (
    (match.operation ?? operation) === operation &&
    (match.method ?? method) === method &&
    (match.path ?? path) === path &&
    (match.key ?? key) === key &&
    ANSWERED_BY[answerOf(rule).error ?? '']?.includes(operation) !== false
  )
}

/** Whether there is a request that the rule could act on. */
export function canStrike(rule: FaultRule): boolean {
  return Object.keys(OPERATIONS).some((request) => {
    const [method = '', path = ''] = request.split(' ')
    return isFor(rule, method, path, rule.match?.key ?? '')
  })
}
