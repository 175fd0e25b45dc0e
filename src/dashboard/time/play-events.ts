import type { MonitoredDomain } from '../responses.ts'

/** Kinds of events whose end has no event of its own. */
const ENDING: ReadonlySet<string> = new Set(['attack', 'broken-dkim', 'broken-spf'])

/** The events of the domains of an account in sentences, by days such as 2026-01-12. */
export function describeDays(domains: readonly MonitoredDomain[]): Map<string, string[]> {
  const days = new Map<string, string[]>()
  const add = (day: string | null, text: string) => {
    if (day !== null) days.set(day, [...(days.get(day) ?? []), text])
  }
  for (const { domain, events } of domains) {
    for (const event of events) {
      add(event.from, `${domain}: ${event.description}`)
      if (ENDING.has(event.kind)) add(event.until, `${domain}: It is over. (${event.description.replace(/\.$/, '')})`)
    }
  }
  return days
}
