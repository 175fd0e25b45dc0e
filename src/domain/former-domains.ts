import type { AccountState, DomainNature, MonitoredDomain } from './account.ts'
import { replaceTags } from './dmarc.ts'
import { PersistentMap } from './persistent-map.ts'
import { mayBeSimulated } from './simulator.ts'

/** How many natures an account remembers: those of all domains of a large fixture. Then the oldest is forgotten. */
export const REMEMBERED = 50_000

/** The natures that an account remembers after these domains are removed from it. */
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
    if (former.size > REMEMBERED) former = former.delete(former.keys().next().value as string)
  }
  return former === undefined ? {} : { formerDomains: former }
}

/**
 * What was given to a domain and not derived from its name; `undefined` if nothing was. A pinned policy is a published
 * one, so the domain keeps it. Pinned figures were those of the mail that was counted, so they end with the counting.
 */
function natureOf(domain: MonitoredDomain | undefined): DomainNature | undefined {
  if (domain === undefined) return undefined
  const { name, profile, since, volume, policy, pin } = domain
  // The name of a domain of the simulator says what is pinned.
  const published = mayBeSimulated(name) ? policy : replaceTags(policy ?? {}, pin ?? {})
  const nature: DomainNature = {
    ...(profile !== undefined && { profile }),
    ...(since !== undefined && { since }),
    ...(volume !== undefined && { volume }),
    ...(published !== undefined && Object.keys(published).length > 0 && { policy: published }),
  }
  return Object.keys(nature).length === 0 ? undefined : nature
}
