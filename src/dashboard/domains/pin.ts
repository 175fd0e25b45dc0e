import type { MonitoredDomain, Pin } from '../responses.ts'

/** The fields of a record that can have a fixed value, in the order of the form. */
export const PIN_FIELDS = ['p', 'sp', 'np', 'testing', 'pct', 'dmarc', 'dkim', 'spf', 'count'] as const
type PinField = (typeof PIN_FIELDS)[number]
const TEXTS: readonly string[] = ['p', 'sp', 'np', 'testing']

/** What a change of a domain asks the control plane for; what is absent stays as it is. */
export interface DomainChange {
  /** The pins from now on, and perhaps another profile. `none` removes all pins. */
  pin?: Pin | 'none'
  features?: readonly string[]
}

/** Today's value of a field: the fixed one, or that of the record. Empty if there is none. */
export function valueToday({ pinned, record }: MonitoredDomain, field: PinField): string {
  return String(pinned[field] ?? record?.[field] ?? '')
}

/**
 * What a form asks for, whose fields began with today's values. A field that was not touched is not fixed, unless it was
 * before; one that was emptied is fixed no more. The control plane decides whether a value is possible.
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

/** The names between commas, each once. */
function readFeatures(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  return [...new Set(names)].filter((name) => name !== '')
}
