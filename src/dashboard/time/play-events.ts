import type { DomainEvent, MonitoredDomain } from '../responses.ts'

/** What is over without another event that says so. */
const ENDING: ReadonlySet<string> = new Set(['attack', 'broken-dkim', 'broken-spf'])

/** What happens to the domains of an account, in sentences, by the day such as 2026-01-12 on which it happens. */
export function describeDays(domains: readonly MonitoredDomain[]): Map<string, string[]> {
  const days = new Map<string, string[]>()
  const add = (day: string | null, text: string) => {
    if (day !== null) days.set(day, [...(days.get(day) ?? []), text])
  }
  for (const { domain, events } of domains) {
    for (const event of events) {
      add(event.from, `${domain}: ${event.description}`)
      if (ENDING.has(event.kind)) add(event.until, `${domain}: It is over. ${inThePast(event)}`)
    }
  }
  return days
}

function inThePast({ description }: DomainEvent): string {
  return `(${description.replace(/\.$/, '')})`
}
