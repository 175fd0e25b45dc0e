/** Who judges: `verify`, or `check` and `proxy` for one of two sessions. */
export type Tool = 'verify' | 'usual' | 'thorough'

const GRACE = 'It may be a new key, whose limits in the week of grace are higher.'
const OTHERS = 'Another client with the same key may spend as well.'
const SWITCHED = 'A key can be disabled at any time, and enabled again.'
const KEYS = 'An account may hold several keys, and a recording does not show which are good.'

/** Departures that a tool sees and that another admissible service would show in the same way, each with that service. */
export const OPEN: Readonly<Record<Tool, Readonly<Record<string, string>>>> = {
  verify: {
    'dmarc-limit-11': GRACE,
    'domains-limit-31': GRACE,
    'groups-limit-101': GRACE,
    'wrong-limit-shown': `${GRACE} ${OTHERS}`,
    'limited-as-unauthorized': SWITCHED,
  },
  usual: {
    'dmarc-limit-11': GRACE,
    'domains-limit-31': GRACE,
    'groups-limit-101': GRACE,
    'wrong-limit-shown': `${GRACE} ${OTHERS}`,
    'shared-quota': OTHERS,
    'double-count': OTHERS,
    'figures-change': 'The daily refresh may have been between the two readings.',
  },
  thorough: {
    'any-key': KEYS,
    'longer-key': KEYS,
    'dmarc-limit-11': GRACE,
    'domains-limit-31': GRACE,
    'groups-limit-101': GRACE,
    'wrong-limit-shown': `${GRACE} ${OTHERS}`,
    'shared-quota': OTHERS,
    'limited-as-unauthorized': SWITCHED,
  },
}

/** What the finding of a departure must be called: a part of the id of one of its findings. */
export const NAMES: Readonly<Record<string, string>> = {
  'no-key-for-dmarc': 'key-required',
  'no-key-for-list': 'key-required',
  'no-key-for-addition': 'key-required',
  'no-key-for-removal': 'key-required',
  'no-key-for-groups': 'key-required',
  'no-key-for-one-group': 'key-required',
  'no-key-for-creation': 'key-required',
  'no-key-for-change': 'key-required',
  'no-key-for-deletion': 'key-required',
  'missing-key-accepted': 'key-required',
  'key-without-scheme': 'key-required',
  'any-key': 'key-required',
  'any-scheme': 'key-required',
  'most-49': 'at-most-50-domains',
  'most-51': 'at-most-50-domains',
  'duplicates-accepted': 'no-duplicates',
  'counted-again': 'no-duplicates',
  'any-hostname': 'hostname',
  'added-count-off': 'count-of-added',
  'removed-count-zero': 'deleted-domains-answered',
  'addition-forgotten': 'all-domains-listed',
  'removal-forgotten': 'all-domains-listed',
  'last-domain-missing': 'all-domains-listed',
  'record-missing': 'one-record-per-domain',
  'record-twice': 'one-record-per-domain',
  'record-for-nobody': 'one-record-per-domain',
  'figures-change': 'daily-refresh',
  'creation-forgotten': 'groups-with-count',
  'members-dropped': 'members-in-the-same-call',
  'members-ignored': 'members-in-the-same-call',
  'unmonitored-members': 'members-monitored',
  'group-in-spite': 'groups-with-count',
  'names-by-case': 'name-unique',
  'same-names': 'name-unique',
  'same-name-by-change': 'new-name-unique',
  'names-of-101': 'name',
  'names-of-99': 'name-length',
  'empty-name': 'name',
  'group-count-off': 'groups-with-count',
  'first-group-for-all': 'one-group-by-id',
  'unknown-id-shows-first': 'unknown-id-read',
  'unknown-id-changed': 'unknown-id-update',
  'unknown-id-deleted': 'unknown-id-delete',
  'missing-id-not-found': 'update-needs-id',
  'delete-without-id': 'delete-needs-id',
  'deleted-group-stays': 'groups-with-count',
  'deletion-takes-domains': 'members-stay-monitored',
  'replacement-adds': 'domains-replace-members',
  'addition-replaces': 'additions-keep-members',
  'removals-first': 'additions-before-removals',
  'unmonitored-removal-refused': 'unknown-removals-ignored',
  'conflict-accepted': 'no-mixed-changes',
  'empty-change-accepted': 'update-needs-a-field',
  'no-limit': 'limit',
  'dmarc-limit-9': 'limit',
}

/**
 * Cells of the table that should say something else. Whoever mends one takes it away, and writes the table again. For
 * `verify`, `not shown` means that it does not ask.
 */
export const MISSED: readonly string[] = [
  'usual quota-per-method: missed',
  'thorough quota-per-method: missed',
  'verify any-hostname: misnamed',
  'thorough any-hostname: misnamed',
  'thorough domains-by-case: missed',
  'usual record-missing: missed',
  'thorough record-missing: missed',
  'thorough same-name-by-change: misnamed',
  'verify first-group-for-all: not shown',
  'thorough deleted-group-stays: misnamed',
  'verify unknown-id-shows-first: not shown',
]
