import type { AccountState, DomainNature, MonitoredDomain } from './account.ts'
import { replaceTags } from './dmarc.ts'
import { givenFields } from './given-fields.ts'
import { LIMITS } from './limits.ts'
import { PersistentMap } from './persistent-map.ts'
import { mayBeSimulated } from './simulator.ts'

/** The natures that an account remembers after these domains are removed. The oldest may be dropped. */
export function rememberNatures(
  { domains, formerDomains }: AccountState,
  removed: Iterable<string>,
): Pick<AccountState, 'formerDomains'> {
  let former = formerDomains
  for (const name of removed) {
    const nature = natureOf(domains.get(name))
    former = former?.delete(name)
    if (nature === undefined) continue
    former = (former ?? PersistentMap.of<string, DomainNature>()).set(name, nature)
    if (former.size > LIMITS.formerDomains) former = former.delete(former.keys().next().value as string)
  }
  return former === undefined ? {} : { formerDomains: former }
}

/**
 * The given properties of a domain that are not derived from its name; `undefined` if there are none. A pinned policy
 * is a published one, so the domain keeps it. Pinned figures belong to the counted mail, so they end with the counting.
 */
function natureOf(domain: MonitoredDomain | undefined): DomainNature | undefined {
  if (domain === undefined) return undefined
  const { name, profile, since, volume, policy, pin } = domain
  // For a domain of the simulator, the name defines the pinned fields.
  const published = mayBeSimulated(name) ? policy : replaceTags(policy ?? {}, pin ?? {})
  const policyLeft = published !== undefined && Object.keys(published).length > 0 ? published : undefined
  const nature: DomainNature = givenFields({ profile, since, volume, policy: policyLeft })
  return Object.keys(nature).length === 0 ? undefined : nature
}
