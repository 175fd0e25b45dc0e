/** The kinds of domains with generated figures. */
export const PROFILE_NAMES = [
  'enforced',
  'rolling-out',
  'monitoring-only',
  'forwarding-heavy',
  'broken-spf',
  'broken-dkim',
  'new-esp',
  'spoofed',
  'parked',
  'no-record',
  'new',
] as const

/** What kind of domain the figures are made for. */
export type ProfileName = (typeof PROFILE_NAMES)[number]
