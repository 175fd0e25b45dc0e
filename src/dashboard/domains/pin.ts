import type { MonitoredDomain } from '../responses.ts'

/** The fields of a record that can be pinned, in the order of the form. */
export const PIN_FIELDS = ['p', 'sp', 'np', 'testing', 'pct', 'dmarc', 'dkim', 'spf', 'count'] as const
type PinField = (typeof PIN_FIELDS)[number]
const TEXTS: readonly string[] = ['p', 'sp', 'np', 'testing']

/** The changes to a domain for the control plane. Absent fields do not change. */
interface DomainChange {
  /** All pins from now on, and the profile. The control plane validates them. */
  pin?: Readonly<Record<string, string | number>>
  features?: readonly string[]
}

/** The current value of a field: the pinned one, or the one of the record. Empty if there is none. */
export function valueToday({ pinned, record }: MonitoredDomain, field: PinField): string {
  return String(pinned[field] ?? record?.[field] ?? '')
}

/**
 * The changes in a form that began with the current values. An untouched field is pinned only if it was pinned before.
 * An emptied field is no longer pinned.
 */
export function readChange(domain: MonitoredDomain, textOf: (field: string) => string): DomainChange {
  const pin: Record<string, string | number> = { ...domain.pinned }
  for (const field of PIN_FIELDS) {
    const text = textOf(field).trim()
    if (text === valueToday(domain, field)) continue
    if (text === '') delete pin[field]
    else pin[field] = TEXTS.includes(field) || Number.isNaN(Number(text)) ? text : Number(text)
  }
  const profile = textOf('profile') || domain.profile
  const isChanged = profile !== domain.profile || JSON.stringify(pin) !== JSON.stringify(domain.pinned)
  const features = readFeatures(textOf('features'))
  return {
    ...(isChanged && { pin: { profile, ...pin } }),
    ...(features.join() !== domain.features.join() && { features }),
  }
}

function readFeatures(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  return [...new Set(names)].filter((name) => name !== '')
}
