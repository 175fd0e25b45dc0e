import { describe, expect } from 'vitest'
import type { AccountState } from '../../src/domain/account.ts'
import { decodeAccount, encodeAccount } from '../../src/store/record.ts'
import type { Store } from '../../src/store/store.ts'
import { ACCEPTED } from '../corpus/corpus.ts'
import { ACCOUNT, stateOf } from '../support/account.ts'
import { ask, it } from '../support/example-service.ts'
import { failingStore, LOST, overMemory } from '../support/failing-store.ts'
import { type RecordingLog, recordingLog } from '../support/recording-log.ts'
import { API_KEY, startService } from '../support/service.ts'

describe('A refusal', () => {
  const LARGE: readonly [request: string, body: object, code: string][] = [
    ['POST /domaingroups', { name: 'Zeros', domains: Array(130_000).fill(0) }, 'invalid_field_type'],
    ['POST /domains', { domains: Array(200_000).fill('') }, 'request_too_large'],
    ['DELETE /domains', { domains: Array(200_000).fill('') }, 'invalid_domain'],
    ['PATCH /domaingroups?id=unknown0', { name: '', add_domains: Array(170_000).fill(null) }, 'invalid_field_type'],
  ]
  it.for(LARGE)('is as any other for %s with a hundred thousand mistakes', async (given, { empty }) => {
    const [request, sent, code] = given
    const { text, body } = await ask(empty, request, sent)
    expect(body.error.code).toBe(code)
    expect(text.length).toBeLessThan(400)
  })
})

describe('A failure of the stand-in', () => {
  const WRITES = ['addDomains', 'deleteDomains', 'createDomainGroup', 'updateDomainGroup', 'deleteDomainGroup']

  const ALL = Object.keys(ACCEPTED)
  const LOSSES = [...ALL.map((each) => [each, 'enter'] as const), ...WRITES.map((each) => [each, 'update'] as const)]
  it.for(LOSSES)('is answered 500 `internal_error` when %s finds no store to %s', async ([operation, method]) => {
    const log = recordingLog()
    const { store, fail } = failingStore(method)
    const service = await startService({ fixture: ACCOUNT, store, log })
    const before = await stateOf(service)
    fail()
    const { send = '', body: sent } = ACCEPTED[operation] ?? {}
    const { status, body, headers } = await ask(service, send, sent)
    const message = 'The stand-in failed to answer; its log has the reason under this request id.'
    expect([status, body]).toEqual([500, { success: false, error: { code: 'internal_error', message } }])
    expect(log.errors).toEqual([{ request_id: headers['x-request-id'], err: LOST }])
    expect(await stateOf(service)).toEqual(before)
  })
})

describe('A response that violates the contract', () => {
  const VIOLATION = { pointer: '/data/domains/0', keyword: 'format', value: 'Upper.Example' }

  const startMisspelling = (responseValidation: 'error' | 'warn' | 'off', log: RecordingLog) =>
    startService({ store: misspellingStore(), log, responseValidation })

  it('is answered 500 `internal_error` where violations are errors, with the pointer in the log', async () => {
    const log = recordingLog()
    const { status, body, headers } = await (await startMisspelling('error', log)).get('/domains')
    expect([status, body.error.code]).toEqual([500, 'internal_error'])
    const err = expect.objectContaining({ violations: [expect.objectContaining(VIOLATION)] })
    expect(log.errors).toEqual([{ request_id: headers['x-request-id'], err }])
  })

  it.for([
    ['warn', [{ request_id: expect.any(String), violations: [expect.objectContaining(VIOLATION)] }]],
    ['off', []],
  ] as const)('is sent with the validation `%s`, and the log has %j', async ([validation, warnings]) => {
    const log = recordingLog()
    const { baseUrl } = await startMisspelling(validation, log)
    // Past the client of the tests, which would refuse the answer.
    const response = await fetch(`${baseUrl}/domains`, { headers: { authorization: `Bearer ${API_KEY}` } })
    expect(await response.json()).toEqual({ success: true, data: { domains: ['Upper.Example'] } })
    expect([log.errors, log.warnings]).toEqual([[], warnings])
  })

  /** A store that returns a domain in a form in which none is kept. */
  function misspellingStore(): Store {
    return overMemory((memory) => ({
      enter: (keyHash, admit) =>
        memory.enter(keyHash, (account, real) => admit({ ...account, state: misspelt(account.state) }, real)),
    }))
  }

  function misspelt(state: AccountState): AccountState {
    const domains = [{ name: 'Upper.Example', addedAt: 0, features: [] }]
    return decodeAccount({ ...encodeAccount(state), domains }, { nameComparison: 'unicode' })
  }
})
