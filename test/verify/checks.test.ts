import { describe, expect, it } from 'vitest'
import { assess } from '../../src/verify/checks.ts'
import { choices } from '../support/choices.ts'
import { startService } from '../support/service.ts'
import { NO_LEDGER, prepareRun, type Way } from './runs.ts'

/** What a gateway answers in place of the service. */
const GATEWAY = { status: 502, rawHeaders: ['Content-Type', 'text/html'], body: Buffer.from('<html></html>') }

/** The checks of a run against the stand-in, with an account of others. */
async function checksOf(terms: Parameters<typeof prepareRun>[1]) {
  const service = await startService({ fixture: 'demo' })
  const result = await prepareRun(service, { ledger: NO_LEDGER, ...terms }).result()
  const { checks, passed } = assess({ result, choices, target: '', isAccepted: () => false, minReached: 0 })
  return { result, passed, checks, check: (id: string) => checks.find((each) => each.id === id) }
}

describe('a rule', () => {
  it('is kept by the stand-in if every request about it could be asked', async () => {
    const { check, checks, passed } = await checksOf({ waits: true, exhaust: true })
    expect(passed).toBe(true)
    for (const id of ['at-most-50-domains', 'key-required', 'name-unique', 'dmarc-limit', 'valid-hostnames'])
      expect(check(`rule/${id}`), id).toMatchObject({ outcome: 'pass' })
    const open = checks.filter(({ id, outcome }) => id.startsWith('rule/') && outcome === 'not reached')
    expect(open.map(({ id }) => id)).toEqual(['rule/delete-needs-id'])
  })

  it('is not reached by a run that only reads, if a write would show it, and the run says which', async () => {
    const { check, passed } = await checksOf({ writes: false })
    expect(passed).toBe(true)
    expect(check('rule/at-most-50-domains')).toMatchObject({
      outcome: 'not reached',
      message: expect.stringMatching(/--allow-writes permits: POST \/domains; body/),
    })
    expect(check('operation/deleteDomainGroup')).toMatchObject({ outcome: 'not reached' })
  })

  it('is open if a gateway has answered a request that it needs, and nobody is accused', async () => {
    const way: Way = async (request, send) => {
      const isFirstName = request.method === 'PATCH' && /"name":"one /.test(`${request.body}`)
      return isFirstName ? GATEWAY : send(request)
    }
    const { check, checks, result } = await checksOf({ way, waits: true })
    expect(checks.filter(({ outcome }) => outcome === 'fail')).toEqual([])
    expect(check('rule/new-name-unique')).toMatchObject({
      outcome: 'not reached',
      message: expect.stringContaining('was lost'),
    })
    expect(result.troubles).toEqual([expect.stringContaining('It was not sent again')])
  })

  it('with two sides is not kept as long as one of them was answered otherwise', async () => {
    const way: Way = async (request, send) => {
      const count = /"domains":\[[^\]]*\]/.exec(`${request.body}`)?.[0].split(',').length
      const response = await send(request)
      return request.method === 'POST' && count === 50 ? { ...response, status: 400 } : response
    }
    const { check } = await checksOf({ way, waits: true })
    expect(check('rule/at-most-50-domains')?.outcome).not.toBe('pass')
  })
})

describe('a finding', () => {
  it('shows how its request can be sent again, without the key', async () => {
    const way: Way = async (request, send) => {
      const response = await send(request)
      return request.method === 'PATCH' ? { ...response, body: Buffer.from('{"success":true}') } : response
    }
    const { checks, passed } = await checksOf({ way })
    expect(passed).toBe(false)
    const again =
      /^curl -sS -X PATCH -H "Authorization: Bearer \$API_KEY" -H 'Content-Type: application\/json' \S+ --data-raw '/
    expect(checks).toContainEqual(
      expect.objectContaining({
        outcome: 'fail',
        curl: expect.stringMatching(again),
        received: '200 {"success":true}',
      }),
    )
  })
})
