import type { MonitoredDomain } from '../responses.ts'

/** The fields of a record that can be pinned, in the order of the form. */
export const PIN_FIELDS = ['p', 'sp', 'np', 'testing', 'pct', 'dmarc', 'dkim', 'spf', 'count'] as const
type PinField = (typeof PIN_FIELDS)[number]
const TEXTS: readonly string[] = ['p', 'sp', 'np', 'testing']

/** The pinned fields of a record, with their values. The control plane validates them. */
type Pins = Readonly<Record<string, string | number>>

/** The changes to a domain for the control plane. Absent fields do not change. */
export interface DomainChange {
  /** The new pins, and perhaps another profile. `none` removes all pins. */
  pin?: Pins | 'none'
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
  const profile = textOf('profile')
  const hasProfile = profile !== '' && profile !== domain.profile
  const isChanged = hasProfile || JSON.stringify(pin) !== JSON.stringify(domain.pinned)
  const isEmpty = Object.keys(pin).length === 0
  const features = readFeatures(textOf('features'))
  return {
    ...(isChanged && { pin: isEmpty && !hasProfile ? 'none' : { ...(hasProfile && { profile }), ...pin } }),
    ...(features.join() !== domain.features.join() && { features }),
  }
}

function readFeatures(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  return [...new Set(names)].filter((name) => name !== '')
}
