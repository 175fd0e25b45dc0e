import type { DomainReport, MonitoredDomainReport } from '../admin/reports.ts'
import type { RecordPin } from '../domain/dmarc.ts'
import type { ProfileName } from '../domain/profile.ts'
import type { AccountScope } from './account-scope.ts'

/** Hostnames, one after the other or as a list. */
type Names = readonly string[] | readonly [names: readonly string[]]

export type AccountDomains = ReturnType<typeof openDomains>

/** What a test sets up of an account's domains. None of it costs a quota, meets a fault or is in the journal. */
export function openDomains(scope: AccountScope) {
  const change = async (operation: string, names: Names): Promise<string[]> => {
    const [first] = names
    const domains = names.length === 1 && Array.isArray(first) ? first : names
    return (await scope.ask<{ domains: string[] }>(operation, { body: { domains } })).domains
  }
  return {
    /** In the order of their addition, and what the figures of each are made from. */
    list: (): Promise<MonitoredDomainReport[]> =>
      scope.list('listMonitoredDomains', 'domains', ({ domain }: MonitoredDomainReport) => domain),
    /**
     * Adds domains by the rules of POST /domains, and resolves to those that were added, as the service names them. A
     * `ControlError` with the code `refused` names the code with which the service refuses them.
     */
    add: (...names: Names): Promise<string[]> => change('addMonitoredDomains', names),
    /** Removes domains by the rules of DELETE /domains, also from their groups. */
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
