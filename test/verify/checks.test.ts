import { describe, expect, it } from 'vitest'
import { assess } from '../../src/verify/checks.ts'
import { choices } from '../support/choices.ts'
import { startService } from '../support/service.ts'
import { NO_JUDGE, NO_LEDGER, prepareRun, type Way } from './runs.ts'

/** What a gateway answers in place of the service. */
const GATEWAY = { status: 502, rawHeaders: ['Content-Type', 'text/html'], body: Buffer.from('<html></html>') }

const TERMS = { target: '', isAccepted: () => false, isSoleWriter: false }

/** The checks of a run against the stand-in, with an account of others. */
async function checksOf(terms: Parameters<typeof prepareRun>[1], minReached = 0) {
  const service = await startService({ fixture: 'demo' })
  const result = await prepareRun(service, { ledger: NO_LEDGER, ...terms }).result()
  const { checks, verdict, lacks } = assess({ ...{ result, choices, minReached }, ...TERMS })
  return { result, verdict, lacks, checks, check: (id: string) => checks.find((each) => each.id === id) }
}

describe('a rule', () => {
  it('is kept by the stand-in if every request about it could be asked', async () => {
    const { check, checks, verdict } = await checksOf({ waits: true, exhaust: true })
    expect(verdict).toBe('passed')
    for (const id of ['at-most-50-domains', 'key-required', 'name-unique', 'dmarc-limit', 'valid-hostnames'])
      expect(check(`rule/${id}`), id).toMatchObject({ outcome: 'pass' })
    const open = checks.filter(({ id, outcome }) => id.startsWith('rule/') && outcome === 'not reached')
    expect(open.map(({ id }) => id)).toEqual(['rule/delete-needs-id'])
  })

  it('is not reached by a run that only reads, if a write would show it, and the run says which', async () => {
    const { check, verdict } = await checksOf({ writes: false })
    expect(verdict).toBe('passed')
    expect(check('rule/at-most-50-domains')).toMatchObject({
      outcome: 'not reached',
      message: expect.stringMatching(/--allow-writes permits: POST \/domains; body/),
    })
  })

  it('is open if a gateway has answered a request that it needs, and nobody is accused', async () => {
    const way: Way = async (request, send) => {
      const isFirstName = request.method === 'PATCH' && /"name":"one /.test(`${request.body}`)
      return isFirstName ? GATEWAY : send(request)
    }
    const { check, checks } = await checksOf({ way, waits: true })
    expect(checks.filter(({ outcome }) => outcome === 'fail')).toEqual([])
    expect(check('rule/new-name-unique')).toMatchObject({
      outcome: 'not reached',
      message: expect.stringContaining('was lost'),
    })
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

describe('the account', () => {
  /** Another client removes a group of its own while the run goes on. */
  async function checkedWhileOthersWrite(isSoleWriter: boolean) {
    const service = await startService({ fixture: 'demo' })
    const [theirs] = (await service.get('/domaingroups')).body.data.groups
    let sent = 0
    const way: Way = async (request, send) => {
      if (++sent === 20) await service.send('DELETE', `/domaingroups?id=${theirs.id}`)
      return send(request)
    }
    const result = await prepareRun(service, { ledger: NO_LEDGER, judge: NO_JUDGE, way }).result()
    const terms = { isAccepted: () => false, minReached: 0, isSoleWriter }
    const { checks, verdict, lacks } = assess({ result, choices, target: '', ...terms })
    const { outcome, message } = checks.find(({ id }) => id === 'restoration') ?? {}
    expect(message).toContain(`the group ${theirs.id} is gone`)
    return { outcome, verdict, lacks }
  }

  it('that another client may have changed makes no failure, and no pass, unless there is no other client', async () => {
    const lacks = expect.arrayContaining(['It is not shown that the account is as before.'])
    expect(await checkedWhileOthersWrite(false)).toEqual({ outcome: 'undecidable', verdict: 'inconclusive', lacks })
    expect(await checkedWhileOthersWrite(true)).toEqual({ outcome: 'fail', verdict: 'failed', lacks })
  })
})

describe('a run', () => {
  it.each([
    [3, 'inconclusive', /^Only 1\d of 104 questions were asked, which is too little for a result\.$/],
    [undefined, 'passed', /^$/],
  ])('whose service says that %s requests are left is %s', async (left, verdict, lacks) => {
    const way: Way = async (request, send) => {
      const response = await send(request)
      const rawHeaders = response.rawHeaders.map((value, index, all) =>
        left !== undefined && all[index - 1] === 'X-RateLimit-Remaining' ? `${left}` : value,
      )
      return { ...response, rawHeaders }
    }
    const seen = await checksOf({ way })
    expect(seen.verdict).toBe(verdict)
    expect(seen.lacks.join(' ')).toMatch(lacks)
  })

  it('of which the user asks more than it has reached is inconclusive', async () => {
    const { verdict, lacks } = await checksOf({ writes: false }, 90)
    expect([verdict, lacks]).toEqual(['inconclusive', [expect.stringMatching(/--min-reached asks for 90 %\.$/)]])
  })
})

describe('a finding', () => {
  it('shows how its request can be sent again, without the key', async () => {
    const way: Way = async (request, send) => {
      const response = await send(request)
      return request.method === 'PATCH' ? { ...response, body: Buffer.from('{"success":true}') } : response
    }
    const { checks, verdict } = await checksOf({ way })
    expect(verdict).toBe('failed')
    const again =
      /^curl -sS -X PATCH -H "Authorization: Bearer \$API_KEY" -H 'Content-Type: application\/json' \S+ --data-raw '/
    expect(checks).toContainEqual(
      expect.objectContaining({
        outcome: 'fail',
        curl: expect.stringMatching(again),
      }),
    )
  })
})
