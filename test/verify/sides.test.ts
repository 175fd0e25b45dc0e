import { describe, expect, it } from 'vitest'
import type { Conclusion } from '../../src/conformance/investigation.ts'
import { assess, type VerifyCheck } from '../../src/verify/assessment.ts'
import { API_KEY, startService } from '../support/service.ts'
import { few, NO_JUDGE, NO_LEDGER, prepareRun, type Way } from './runs.ts'

interface Terms extends Pick<Parameters<typeof prepareRun>[1] & object, 'writes' | 'waits' | 'exhaust' | 'judge'> {
  way?: Way
}

/** What a gateway answers in place of the service. */
const GATEWAY = { status: 502, rawHeaders: ['Content-Type', 'text/html'], body: Buffer.from('<html></html>') }

/** The checks of a run against the stand-in; without a judge by default, because it matters what was asked. */
async function checksOf({ way = (request, send) => send(request), ...terms }: Terms) {
  const service = await startService({ fixture: 'demo' })
  const result = await prepareRun(service, { ledger: NO_LEDGER, judge: NO_JUDGE, ...terms, way }).result()
  const { checks, reached } = assess({ result, choices: few, target: '', isAccepted: () => false, minReached: 0 })
  const byId = new Map<string, VerifyCheck>(checks.map((check) => [check.id, check]))
  const findings: Conclusion['findings'] = result.conclusion.findings
  return { result, checks, reached, findings, check: (id: string) => byId.get(id) }
}

describe('a rule', () => {
  it('is not reached by a run that only reads, if a write would show it, and the run says which', async () => {
    const { checks, check, reached } = await checksOf({ writes: false })
    expect(check('rule/at-most-50-domains')).toMatchObject({
      outcome: 'not reached',
      message: expect.stringMatching(/--allow-writes.*POST \/domains; body/),
    })
    expect(check('assumption/underscores')?.message).toMatch(/--allow-writes permits: POST \/domains/)
    expect(check('operation/deleteDomainGroup')).toMatchObject({ outcome: 'not reached' })
    const unanswerable = checks.filter(({ message }) => message?.startsWith('No request of verify can'))
    // One key and a right service cannot show these.
    expect(unanswerable.flatMap(({ rule }) => rule ?? [])).toEqual([
      'several-keys',
      'key-switched-off',
      'grace-of-new-keys',
      'stone-plan-required',
      'domain-in-use-stays',
    ])
    expect(reached).toBeLessThan(60)
  })

  it('about a quota is shown only by a quota that was used up to its end', async () => {
    const { check } = await checksOf({ exhaust: true, waits: true })
    expect(check('rule/dmarc-limit')).toMatchObject({ outcome: 'pass' })
    expect(check('rule/at-most-50-domains')).toMatchObject({ outcome: 'pass' })
    expect(check('rule/key-required')).toMatchObject({ outcome: 'pass' })
  })

  it('with two sides is not kept as long as one of them was answered otherwise', async () => {
    const way: Way = async (request, send) => {
      const count = /"domains":\[[^\]]*\]/.exec(request.body?.toString() ?? '')?.[0].split(',').length
      const response = await send(request)
      return request.method === 'POST' && count === 50 ? { ...response, status: 400 } : response
    }
    expect((await checksOf({ way, waits: true })).check('rule/at-most-50-domains')).toMatchObject({
      outcome: 'undecidable',
      message: 'The answer to add-50 (400) does not show that it is kept.',
    })
  })
})

describe('a gateway that answers in place of the service', () => {
  it('neither shows nor refutes a rule', async () => {
    const isOf51 = (body = '') => body.split(',').length === 51
    const way: Way = async (request, send) => (isOf51(request.body?.toString()) ? GATEWAY : send(request))
    expect((await checksOf({ way, waits: true })).check('rule/at-most-50-domains')).toMatchObject({
      outcome: 'undecidable',
      message: 'The answer to add-51 (502) does not show that it is kept.',
    })
  })
})

describe('the command of a finding', () => {
  it.each([
    ['Bearer verify-no-such-key', '"Authorization: Bearer verify-no-such-key"'],
    [`Bearer ${API_KEY}-longer`, '"Authorization: Bearer $API_KEY-longer"'],
  ])('sends what the service has accepted: %s', async (authorization, written) => {
    const way: Way = async (request, send) => {
      const isLet = request.headers['Authorization'] === authorization
      return send(isLet ? { ...request, headers: { ...request.headers, Authorization: `Bearer ${API_KEY}` } } : request)
    }
    const { checks } = await checksOf({ way, writes: false, judge: undefined })
    const commands = checks.flatMap(({ outcome, curl }) => (outcome === 'fail' ? (curl ?? []) : []))
    expect(commands.length).toBeGreaterThan(0)
    expect(commands).toEqual(commands.map(() => expect.stringContaining(`curl -sS -H ${written} /`)))
  })
})

describe('a service', () => {
  it('that fails at a lawful request has a finding', async () => {
    const way: Way = async (request, send) => {
      const response = await send(request)
      return request.body?.includes('😀') ? { ...response, status: 500, body: Buffer.from('Oops') } : response
    }
    const { findings } = await checksOf({ way, judge: undefined })
    expect(findings).toContainEqual(expect.objectContaining({ id: 'unexplained/createDomainGroup/500/failed' }))
  })

  it('behind a gateway that fails at every seventh request is not accused, and has nothing of the run left', async () => {
    let sent = 0
    const way: Way = (request, send) => (++sent % 7 === 5 ? Promise.resolve(GATEWAY) : send(request))
    const { result, checks } = await checksOf({ way, judge: undefined })
    expect(checks.filter(({ outcome }) => outcome === 'fail')).toEqual([])
    expect(result.cleanup).toMatchObject({ restored: true })
    expect(result.troubles.length).toBeGreaterThan(10)
  })

  it('that gives all responses the same X-Request-Id has a finding', async () => {
    const way: Way = async (request, send) => {
      const response = await send(request)
      const rawHeaders = response.rawHeaders.map((value, index) =>
        response.rawHeaders[index - 1] === 'X-Request-Id' ? '5ecb3e29-3c77-4a1f-8a3e-0f6a1c0a9d11' : value,
      )
      return { ...response, rawHeaders }
    }
    const { checks } = await checksOf({ way, writes: false, judge: undefined })
    const failed = checks.filter(({ outcome }) => outcome === 'fail').map(({ id }) => id)
    expect(failed).toContainEqual(expect.stringMatching(/x-request-id\/repeated$/))
  })
})
