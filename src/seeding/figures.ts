import type { AccountState, MonitoredDomain } from '../domain/account.ts'
import {
  type DmarcRecord,
  describeDomain,
  firstReportingDay,
  type MessageCounts,
  type PolicyTags,
} from '../domain/dmarc.ts'
import type { Settings } from '../domain/settings.ts'
import { scramble, wordsOf } from './chance.ts'

const NO_MAIL: MessageCounts = { both: 0, dkimOnly: 0, spfOnly: 0, neither: 0 }
const NO_RECORD: PolicyTags = { p: 'none' }
const POLICIES = ['none', 'quarantine', 'quarantine', 'reject', 'reject'] as const

/** The rows of GET /dmarc on the refresh day `day`, in the order in which the domains were added. */
export function dmarcRecords(state: AccountState, day: number, settings: Settings, step: number): DmarcRecord[] {
  const records: DmarcRecord[] = []
  for (const domain of state.domains.values()) {
    const reporting = day >= firstReportingDay(domain.addedAt, settings.processingTime, settings.refresh)
    if (reporting) records.push(reportedRecord(state.seed, domain, day, settings.countPeriod, step))
    else if (settings.unprocessedDomains === 'listed')
      records.push(describeDomain(domain.name, NO_RECORD, NO_MAIL, step))
  }
  return records
}

/** Depends on the seed, the domain and the day alone. */
function reportedRecord(
  seed: number,
  { name }: MonitoredDomain,
  day: number,
  period: number,
  step: number,
): DmarcRecord {
  const [first, second, third, fourth] = wordsOf(`${seed} ${name}`)
  const sum = { ...NO_MAIL }
  const daily = first % 10 === 0 ? 0 : 1 << (second % 14)
  for (let past = 1; past <= period; past++) {
    const chance = scramble(third + Math.imul(day - past, 0x9e3779b1))
    const messages = Math.floor((daily * (80 + (chance % 41))) / 100)
    const neither = Math.floor((messages * (fourth % 8)) / 100)
    const dkimOnly = Math.floor((messages * ((fourth >>> 8) % 12)) / 100)
    const spfOnly = Math.floor((messages * ((fourth >>> 16) % 4)) / 100)
    sum.neither += neither
    sum.dkimOnly += dkimOnly
    sum.spfOnly += spfOnly
    sum.both += messages - neither - dkimOnly - spfOnly
  }
  return describeDomain(name, { p: POLICIES[third % POLICIES.length] ?? 'none' }, sum, step)
}
