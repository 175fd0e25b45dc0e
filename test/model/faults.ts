import type { Account, Fault, FaultRule } from './account.ts'
import { type Expected, refusal } from './expected.ts'

/** A request that was admitted. */
interface Admitted {
  /** As it was sent: HEAD is not GET. */
  method: string
  path: string
  /** Id of the key. */
  key: string
}

const OPERATIONS: Readonly<Record<string, string>> = {
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
const ANY = Object.values(OPERATIONS)

/** Which operations ever answer with a code: "only operations that ever answer it are struck". */
const ANSWERED_BY: Readonly<Record<string, readonly string[]>> = {
  unauthorized: ANY,
  rate_limited: ANY,
  internal_error: ANY,
  not_found: ['listDomainGroups', 'updateDomainGroup', 'deleteDomainGroup'],
  duplicate_name: ['createDomainGroup', 'updateDomainGroup'],
  domain_delete_failed: ['deleteDomains'],
}

/** Milliseconds. */
const LIVES: Readonly<Record<string, number>> = { PT1H: 3_600_000, P1D: 86_400_000 }

/**
 * "The first rule in order of creation that strikes a request is the only one that acts on it"; those before it have
 * counted it.
 */
export function strike({ contents }: Account, request: Admitted, now: number): Fault | undefined {
  for (const fault of contents.faults) {
    if (stateOf(fault, now) !== 'active' || !isFor(fault.rule, request)) continue
    fault.matched += 1
    if (fault.matched <= (fault.rule.skip ?? 0)) continue
    fault.hits += 1
    return fault
  }
  return undefined
}

export function stateOf({ rule, hits, createdAt }: Fault, now: number): 'active' | 'spent' | 'expired' {
  if (rule.times !== undefined && hits >= rule.times) return 'spent'
  const life = LIVES[rule.expires_after ?? ''] ?? Number.POSITIVE_INFINITY
  return now - createdAt >= life ? 'expired' : 'active'
}

function isFor({ match = {}, respond }: FaultRule, { method, path, key }: Admitted): boolean {
  const operation = OPERATIONS[`${method} ${path}`] ?? ''
  return (
    (match.operation ?? operation) === operation &&
    (match.method ?? method) === method &&
    (match.path ?? path) === path &&
    (match.key ?? key) === key &&
    ANSWERED_BY[respond.error]?.includes(operation) === true
  )
}

/** Whether there is a request that the rule could strike. */
export function canStrike(rule: FaultRule): boolean {
  return Object.keys(OPERATIONS).some((request) => {
    const [method = '', path = ''] = request.split(' ')
    return isFor(rule, { method, path, key: rule.match?.key ?? '' })
  })
}

/** What a rule answers in the place of the service, which has meant to answer `meant` if it was asked at all. */
export function inject({ rule }: Fault, meant: Expected | undefined): Expected {
  const { error, status } = rule.respond
  const phase = rule.phase ?? 'before'
  const answer = { ...refusal(error), injected: true, turn: `an injected ${error}, ${phase}` }
  return {
    ...answer,
    ...(status !== undefined && { status }),
    ...(meant?.created !== undefined && { hidden: meant.created }),
  }
}
