import { NO_KEY } from '../../src/journal/entry.ts'
import type { NewEntry } from '../../src/journal/journal.ts'

/** An exchange that went well, except for what is chosen. */
export function entry(chosen: Partial<NewEntry>): NewEntry {
  return {
    requestId: 'id',
    account: 'default',
    key: undefined,
    at: 0,
    method: 'GET',
    target: '/api/v1/domains',
    path: '/api/v1/domains',
    headers: [],
    body: undefined,
    operation: undefined,
    allowance: undefined,
    status: 200,
    code: undefined,
    problems: [],
    violatesContract: false,
    decided: undefined,
    responseHeaders: [],
    responseBody: undefined,
    violations: [],
    injection: undefined,
    injected: false,
    keyEvidence: NO_KEY,
    group: undefined,
    before: undefined,
    moment: undefined,
    after: undefined,
    duration: 0,
    failure: undefined,
    ...chosen,
  }
}
