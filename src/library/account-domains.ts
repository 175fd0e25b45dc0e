import type { DomainReport, MonitoredDomainReport } from '../contract/control-plane.ts'
import type { RecordPin } from '../domain/dmarc.ts'
import type { ProfileName } from '../domain/profile.ts'
import type { AccountScope } from './account-scope.ts'

/** Hostnames, as separate arguments or as a list. */
type Names = readonly string[] | readonly [names: readonly string[]]

export type AccountDomains = ReturnType<typeof openDomains>

/** Sets up an account's domains for a test. These calls cost no quota, meet no fault and are not in the journal. */
export function openDomains(scope: AccountScope) {
  const change = (operation: 'addMonitoredDomains' | 'removeMonitoredDomains', names: Names): Promise<string[]> => {
    const [first] = names
    const domains = names.length === 1 && Array.isArray(first) ? first : names
    return scope.askFor('domains', operation, { body: { domains } })
  }
  return {
    /** The domains in the order of their addition, and the inputs of their figures. */
    list: (): Promise<MonitoredDomainReport[]> => scope.list('listMonitoredDomains', 'domains'),
    /**
     * Adds domains by the rules of POST /domains. Resolves to the added domains, with the names that the service uses.
     * A `ControlError` with the code `refused` contains the code of the service's refusal.
     */
    add: (...names: Names): Promise<string[]> => change('addMonitoredDomains', names),
    /** Removes domains by the rules of DELETE /domains, and removes them from their groups. */
    remove: (...names: Names): Promise<string[]> => change('removeMonitoredDomains', names),
    /** Sets the monitoring features that use a domain. While there are any, it cannot be removed. */
    setFeatures: (domain: string, features: readonly string[]): Promise<DomainReport> =>
      scope.ask('setFeatures', { parameters: { domain }, body: { features } }),
    /** Sets fields of a domain's DMARC record to fixed values, or chooses the domain's profile. */
    pin: (domain: string, fields: RecordPin & { profile?: ProfileName }): Promise<DomainReport> =>
      scope.ask('pinDmarc', { parameters: { domain }, body: fields }),
    /** Removes the fixed values and the chosen profile, so that the record follows the generated figures again. */
    unpin: (domain: string): Promise<DomainReport> => scope.ask('unpinDmarc', { parameters: { domain } }),
  }
}
