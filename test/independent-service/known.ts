/** Who judges: `verify`, or `check` and `proxy` for one of two sessions. */
export type Tool = 'verify' | 'usual' | 'thorough'

const GRACE = 'It may be a new key, whose limits in the week of grace are higher.'
const OTHERS = 'Another client with the same key may spend as well.'
const SWITCHED = 'A key can be disabled at any time, and enabled again.'
const FRESH = 'The domain may have been added just before, and a new domain may have no record for a day and a half.'
const KEYS = 'An account may hold several keys, and a recording does not show which are good.'

/** Departures that a tool sees and that another admissible service would show in the same way, each with that service. */
export const OPEN: Readonly<Record<Tool, Readonly<Record<string, string>>>> = {
  verify: {
    'dmarc-limit-11': GRACE,
    'domains-limit-31': GRACE,
    'groups-limit-101': GRACE,
    'wrong-limit-shown': `${GRACE} ${OTHERS}`,
    'shared-quota': OTHERS,
    'limited-as-unauthorized': SWITCHED,
    'record-missing': FRESH,
  },
  usual: {
    'dmarc-limit-11': GRACE,
    'domains-limit-31': GRACE,
    'groups-limit-101': GRACE,
    'wrong-limit-shown': `${GRACE} ${OTHERS}`,
    'shared-quota': OTHERS,
    'double-count': OTHERS,
    'record-missing': FRESH,
    'figures-change': 'The daily refresh may have been between the two readings.',
  },
  thorough: {
    'any-key': KEYS,
    'dmarc-limit-11': GRACE,
    'domains-limit-31': GRACE,
    'groups-limit-101': GRACE,
    'wrong-limit-shown': `${GRACE} ${OTHERS}`,
    'shared-quota': OTHERS,
    'record-missing': FRESH,
    'limited-as-unauthorized': SWITCHED,
  },
}

/** What a tool does not find, or calls by another name, although it could know. Whoever mends one takes it away. */
export const MISSED: readonly string[] = [
  'thorough partial-addition: misnamed',
  'verify first-group-for-all: not shown',
  'verify unknown-id-shows-first: not shown',
]
