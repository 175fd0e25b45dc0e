/** Who judges: `verify`, or `check` and `proxy` for one of two sessions. */
export type Tool = 'verify' | 'usual' | 'thorough'

const GRACE = 'It may be a new key, whose limits in the week of grace are higher.'
const KEYS = 'An account may hold several keys, and a recording does not show which are good.'

/** Departures that a tool sees and that another admissible service would show in the same way, each with that service. */
export const OPEN: Readonly<Record<Tool, Readonly<Record<string, string>>>> = {
  verify: {
    'dmarc-limit-11': GRACE,
    'domains-limit-31': GRACE,
    'groups-limit-101': GRACE,
  },
  usual: {},
  thorough: {
    'any-key': KEYS,
    'longer-key': KEYS,
    'dmarc-limit-11': GRACE,
    'domains-limit-31': GRACE,
    'groups-limit-101': GRACE,
    'limited-as-unauthorized': 'A key can be disabled at any time, and enabled again.',
  },
}

/** Cells of the table that say `missed`. Whoever mends one takes it away, and writes the table again. */
export const MISSED: readonly string[] = []

/** Accusations of services that keep the specification, by the id of the finding. Whoever mends one takes it away. */
export const ACCUSATIONS: readonly { id: RegExp; why: string }[] = []
