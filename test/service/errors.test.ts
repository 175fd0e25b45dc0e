import { describe, expect, it } from 'vitest'
import type { AccountState } from '../../src/domain/account.ts'
import { decodeAccount, encodeAccount } from '../../src/store/record.ts'
import type { Store } from '../../src/store/store.ts'
import { ACCOUNT } from '../support/account.ts'
import { failingStore, LOST, overMemory } from '../support/failing-store.ts'
import { type RecordingLog, recordingLog } from '../support/recording-log.ts'
import { API_KEY, startService, type TestResponse, type TestService } from '../support/service.ts'
import { ACCEPTED, ALL, CASES, contract, noHostname, refuse, send } from './refusals.ts'

describe('A request that is in order', () => {
  it.each(ALL)('succeeds: %s', async (operation) => {
    const service = await startService({ fixture: ACCOUNT })
    expect((await send(service, operation, ACCEPTED[operation] ?? {})).status).toBe(200)
  })
})

describe('A refusal', () => {
  it.each(CASES.map((refusal) => [refusal.status, refusal.code, refusal.operation, refusal.when, refusal] as const))(
    'is %i `%s` for %s with %s',
    async (status, code, _, __, refusal) => {
      const service = await startService({ fixture: ACCOUNT })
      const response = await refuse(service, refusal)
      const failure = { success: false, error: { code, message: refusal.message } }
      expect({ status: response.status, ...response.body }).toEqual({ status, ...failure })
    },
  )

  it.each([
    [405, 'PUT /domains', 'The method PUT is not supported at /api/v1/domains; GET, HEAD, POST, DELETE are.'],
    [405, 'PATCH /domains', 'The method PATCH is not supported at /api/v1/domains; GET, HEAD, POST, DELETE are.'],
    [405, 'POST /dmarc', 'The method POST is not supported at /api/v1/dmarc; GET, HEAD are.'],
    [405, 'DELETE /dmarc', 'The method DELETE is not supported at /api/v1/dmarc; GET, HEAD are.'],
    [404, 'GET /groups', 'There is nothing at the path /api/v1/groups.'],
    [404, 'GET /domains/one.example', 'There is nothing at the path /api/v1/domains/one.example.'],
    [404, 'POST ', 'There is nothing at the path /api/v1.'],
  ])('is %i `not_found` for %s, which is no operation', async (status, request, message) => {
    const service = await startService()
    const [method = '', path = ''] = request.split(' ')
    const response = await service.send(method, path)
    const failure = { success: false, error: { code: 'not_found', message } }
    expect({ status: response.status, ...response.body }).toEqual({ status, ...failure })
  })

  it('names the first of several problems with one code', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const { body } = await service.send('POST', '/domains', { domains: ['new.example', 'bad one', 'worse one'] })
    expect(body.error.message).toBe(noHostname('domains[1]', 'bad one'))
  })

  it('shortens what it repeats of the request', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const { text } = await service.send('POST', '/domains', { domains: ['😀'.repeat(100_000)] })
    expect(text.length).toBeLessThan(400)
    expect(text).toContain('😀…')
  })
})

describe('A failure of the stand-in', () => {
  it.each(ALL)('is answered 500 `internal_error` when %s finds no store to read', async (operation) => {
    const log = recordingLog()
    const { store, fail } = failingStore('enter')
    const service = await startService({ fixture: ACCOUNT, store, log })
    const sent = ACCEPTED[operation] ?? {}
    fail()
    expectInternalError(await send(service, operation, sent.id === undefined ? sent : { ...sent, id: '00000000' }), log)
  })

  it.each(['addDomains', 'deleteDomains', 'createDomainGroup', 'updateDomainGroup', 'deleteDomainGroup'])(
    'is answered 500 `internal_error` when %s finds no store to write',
    async (operation) => {
      const log = recordingLog()
      const { store, fail } = failingStore('update')
      const service = await startService({ fixture: ACCOUNT, store, log })
      fail()
      expectInternalError(await send(service, operation, ACCEPTED[operation] ?? {}), log)
    },
  )

  it('is over when the store is back', async () => {
    const { store, fail, recover } = failingStore('enter')
    const service = await startService({ fixture: ACCOUNT, store })
    fail()
    expect((await service.get('/domains')).status).toBe(500)
    recover()
    expect((await service.get('/domains')).status).toBe(200)
  })

  function expectInternalError({ status, body, headers }: TestResponse, log: RecordingLog): void {
    expect({ status, ...body }).toEqual({
      status: 500,
      success: false,
      error: {
        code: 'internal_error',
        message: 'The stand-in failed to answer; its log has the reason under this request id.',
      },
    })
    expect(log.errors).toEqual([{ request_id: headers['x-request-id'], err: LOST }])
  }
})

describe('A response that violates the contract', () => {
  const VIOLATION = { pointer: '/data/domains/0', keyword: 'format', value: 'Upper.Example' }

  it('is answered 500 `internal_error` where violations are errors, with the pointer in the log', async () => {
    const log = recordingLog()
    const service = await startService({ store: misspellingStore(), log, responseValidation: 'error' })
    const response = await service.get('/domains')
    expect(response.status).toBe(500)
    expect(response.body.error.code).toBe('internal_error')
    expect(log.errors).toEqual([
      {
        request_id: response.headers['x-request-id'],
        err: expect.objectContaining({ violations: [expect.objectContaining(VIOLATION)] }),
      },
    ])
  })

  it('is sent where violations are warnings, with the pointer in the log', async () => {
    const log = recordingLog()
    const service = await startService({ store: misspellingStore(), log, responseValidation: 'warn' })
    expect(await readDomains(service)).toEqual({ success: true, data: { domains: ['Upper.Example'] } })
    const warning = { request_id: expect.any(String), violations: [expect.objectContaining(VIOLATION)] }
    expect(log.warnings).toEqual([warning])
  })

  it('is sent where nothing is checked, without a word in the log', async () => {
    const log = recordingLog()
    const service = await startService({ store: misspellingStore(), log, responseValidation: 'off' })
    expect(await readDomains(service)).toEqual({ success: true, data: { domains: ['Upper.Example'] } })
    expect(log.errors).toEqual([])
  })

  /** Past the client of the tests, which would refuse the answer. */
  async function readDomains({ baseUrl }: TestService): Promise<unknown> {
    const response = await fetch(`${baseUrl}/domains`, { headers: { authorization: `Bearer ${API_KEY}` } })
    return response.json()
  }

  /** A store that returns a domain in a form in which none is kept. */
  function misspellingStore(): Store {
    return overMemory((memory) => ({
      enter: (keyHash, admission) =>
        memory.enter(keyHash, {
          ...admission,
          conclude: (entered) => admission.conclude({ ...entered, account: misspelt(entered.account) }),
        }),
    }))
  }

  function misspelt(state: AccountState): AccountState {
    const domains = [{ name: 'Upper.Example', addedAt: 0, features: [] }]
    return decodeAccount({ ...encodeAccount(state), domains }, { nameComparison: 'unicode' })
  }
})

describe('The table of refusals', () => {
  it('reaches every status and code that the contract declares, and no other', () => {
    const reached = new Set(CASES.map(({ operation, status, code }) => `${operation} ${status} ${code}`))
    const declared = contract.operations.flatMap(({ id, responses }) =>
      [...responses.values()].flatMap(({ status, codes }) => [...codes].map((code) => `${id} ${status} ${code}`)),
    )
    // The stand-in's own failure; the tests above reach it.
    const ofTheService = declared.filter((triple) => !triple.endsWith(' 500 internal_error'))
    expect([...reached].sort()).toEqual(ofTheService.sort())
    expect(declared.length - ofTheService.length).toBe(ALL.length)
  })
})
