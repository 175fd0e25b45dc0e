import type { Belief } from './belief.ts'
import { comparable } from './names.ts'
import type { AskedRequest } from './request.ts'

/**
 * What becomes uncertain after a request that may have changed the account, and of which it is not known whether or when
 * it did: no answer came, the answer cannot be right, or other requests were on their way.
 */
export function doubtWhatIsNamed(asked: AskedRequest, belief: Belief): void {
  const { call, ids } = asked
  if (call === '' || asked.body === 'unknown' || asked.isOdd) {
    belief.forget()
    return
  }
  const names = asked.allNames
  switch (call) {
    case 'addDomains':
      for (const name of names) if (belief.isMonitored(name) !== true) belief.doubtDomain(name)
      break
    case 'deleteDomains':
      for (const name of names) belief.doubtDomain(name)
      belief.mayLeave(names)
      break
    case 'createDomainGroup':
      belief.areGroupsComplete = false
      belief.mayLeave(names)
      break
    case 'updateDomainGroup':
      belief.mayLeave(names)
      doubtGroups(ids, belief)
      break
    case 'deleteDomainGroup':
      doubtGroups(ids, belief)
  }
}

/** Of several ids, or none, nobody knows which group a service takes. */
function doubtGroups(ids: readonly string[], belief: Belief): void {
  if (ids.length === 1) for (const id of ids) belief.doubtGroup(id)
  else belief.doubtGroups()
}

/** After an answer that cannot be right, what it shows is in doubt, too. */
export function doubtAnswer(asked: AskedRequest, belief: Belief): void {
  doubtWhatIsNamed(asked, belief)
  if (asked.call === 'addDomains' || asked.call === 'deleteDomains') belief.areDomainsComplete = false
  belief.doubtGroups()
}

/** The refusals of which a service may have carried out a part: nothing says that a request is done wholly or not at all. */
const IN_PART: ReadonlySet<string> = new Set([
  ...['invalid_domain', 'invalid_request_body', 'invalid_field_type', 'missing_field', 'request_too_large'],
  ...['not_monitored', 'domain_delete_failed'],
])

/** A service may add or remove a part of what it names in a request of which it refuses the rest. */
export function doubtPart(asked: AskedRequest, code: string, belief: Belief): void {
  if (!IN_PART.has(code)) return
  const domains = asked.list('domains').map(comparable)
  if (asked.call === 'addDomains' && domains.some((name) => belief.isMonitored(name) !== false)) {
    for (const name of domains) if (belief.isMonitored(name) !== true) belief.doubtDomain(name)
  }
  if (asked.call === 'deleteDomains' && domains.length > 1) {
    for (const name of domains) belief.doubtDomain(name)
    belief.mayLeave(domains)
  }
  const [id] = asked.ids
  if (asked.call === 'updateDomainGroup' && id !== undefined && asked.list('add_domains').length > 1) {
    belief.doubtGroup(id)
    belief.mayLeave(asked.names('add_domains'))
  }
}
