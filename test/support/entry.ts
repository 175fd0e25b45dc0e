import { type Entry, type NewEntry, NO_KEY } from '../../src/journal/entry.ts'

/** An exchange that went well, except for what is chosen. */
export function entry(chosen: Partial<NewEntry>): NewEntry {
  return {
    requestId: 'id',
    account: 'default',
    at: 0,
    method: 'GET',
    target: '/api/v1/domains',
    path: '/api/v1/domains',
    headers: [],
    status: 200,
    problems: [],
    violatesContract: false,
    responseHeaders: [],
    violations: [],
    injected: false,
    keyEvidence: NO_KEY,
    duration: 0,
    ...chosen,
  }
}

/** The same, as it is recorded. */
export function recorded(chosen: Partial<Entry>): Entry {
  return { ...entry(chosen), ordinal: 1, id: '1', ...chosen }
}
