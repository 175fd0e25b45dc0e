import { describe, expect, it } from 'vitest'
import { assess } from '../../src/verify/checks.ts'
import { ConnectionError } from '../../src/verify/client.ts'
import { describeVerify } from '../../src/verify/report.ts'
import { choices } from '../support/choices.ts'
import { startService } from '../support/service.ts'
import { NO_JUDGE, NO_LEDGER, prepareRun, SHORT, type Way } from './runs.ts'
import { PLAN } from './table.ts'

const TERMS = { target: '', accepted: new Set<string>() }

interface Terms extends NonNullable<Parameters<typeof prepareRun>[1]> {
  minReached?: number
}

/** The checks and the report of a run against the stand-in, with an account of others. */
async function checksOf({ minReached = 0, soleWriter = false, ...terms }: Terms) {
  const service = await startService({ fixture: 'demo' })
  const result = await prepareRun(service, { ledger: NO_LEDGER, ...terms }).result()
  const assessment = assess({ ...{ result, choices, minReached, isSoleWriter: soleWriter }, ...TERMS })
  const { checks, verdict, lacks } = assessment
  const { findings } = describeVerify({
    ...{ target: '', result, assessment, minReached, seconds: 1, startedAt: undefined },
    ...{ sweep: undefined, exitCode: undefined },
  })
  /** Why questions were not asked, and whether waiting would help. */
  const unasked = findings
    .filter(({ rule: { id } }) => id === 'verify/not-reached')
    .map(({ message, level }) => {
      return { why: /because (.*):/.exec(message)?.[1], level, waits: message.includes('--wait') }
    })
  const errors = findings.filter(({ level }) => level === 'error').map(({ message }) => message)
  return { verdict, lacks, unasked, errors, checks, check: (id: string) => checks.find((each) => each.id === id) }
}

describe('a rule', () => {
  it('is kept by the stand-in if every request about it could be asked', async () => {
    const { check, checks, verdict } = await checksOf({ waits: true, exhaust: true })
    expect(verdict).toBe('passed')
    for (const id of [
      'at-most-50-domains',
      'key-required',
      'name-unique',
      'dmarc-limit',
      'valid-hostnames',
      'no-mixed-changes',
      'members-monitored',
      'name-length',
      'new-name-unique',
    ])
      expect(check(`rule/${id}`), id).toMatchObject({ outcome: 'pass' })
    const open = checks.filter(({ id, outcome }) => id.startsWith('rule/') && outcome === 'not reached')
    expect(open.map(({ id }) => id)).toEqual(['rule/delete-needs-id'])
  })

  it('is not reached by a run that only reads, if a write would show it, and the run says which', async () => {
    const { check, verdict, lacks } = await checksOf({ writes: false, minReached: 90 })
    expect([verdict, lacks]).toEqual(['inconclusive', [expect.stringMatching(/--min-reached asks for 90 %\.$/)]])
    expect(check('rule/at-most-50-domains')).toMatchObject({
      outcome: 'not reached',
      message: expect.stringMatching(/--allow-writes permits: POST \/domains; body/),
    })
  })

  it('is open if a gateway has answered a request that it needs, and nobody is accused', async () => {
    const gateway = { status: 502, rawHeaders: ['Content-Type', 'text/html'], body: Buffer.from('<html></html>') }
    const way: Way = async (request, send) => {
      const isFirstName = request.method === 'PATCH' && /"name":"one /.test(`${request.body}`)
      return isFirstName ? gateway : send(request)
    }
    const { check, checks } = await checksOf({ way, plan: SHORT })
    expect(checks.filter(({ outcome }) => outcome === 'fail')).toEqual([])
    const message = expect.stringContaining('was lost')
    expect(check('rule/new-name-unique')).toMatchObject({ outcome: 'not reached', message })
  })

  it.each<[id: string, what: string, method: string, body: RegExp, instead: object]>([
    ['no-mixed-changes', 'removals beside all members', 'PATCH', /"domains".*"remove_domains"/, { domains: [] }],
    ['members-monitored', 'all but one of the members', 'POST', /"domains":\["[^"]*","[^"]*"\]/, { name: 'some' }],
    ['members-monitored', 'an addition', 'PATCH', /^{"add_domains":\["verify-testrun1-\d/, { name: 'an addition' }],
    ['members-monitored', 'a replacement', 'PATCH', /^{"domains":\["verify-testrun1-\d/, { name: 'a replacement' }],
    ['name-length', 'an empty new name', 'PATCH', /"name":""/, { name: 'none' }],
    ['new-name-unique', 'no former name', 'PATCH', /^{"name":"verify-testrun1 \d+"}/, { name: 5 }],
  ])('such as %s is not kept if the service accepts %s', async (id, _, method, pattern, instead) => {
    const way: Way = async (request, send) => {
      const isChanged = request.method === method && request.path.startsWith('/domaingroups')
      if (!isChanged || !pattern.test(`${request.body}`)) return send(request)
      return send({ ...request, body: Buffer.from(JSON.stringify(instead)) })
    }
    const { check } = await checksOf({ way, plan: PLAN.filter(({ probe }) => probe.rule?.includes(id)) })
    expect(check(`rule/${id}`)?.outcome).toMatch(/^(fail|undecidable)$/)
  })

  it('is not kept if an answer about it is otherwise', async () => {
    const way: Way = async (request, send) => {
      const count = /"domains":\[[^\]]*\]/.exec(`${request.body}`)?.[0].split(',').length
      const response = await send(request)
      return request.method === 'POST' && count === 50 ? { ...response, status: 400 } : response
    }
    const { check } = await checksOf({ way, plan: SHORT })
    expect(check('rule/at-most-50-domains')?.outcome).toMatch(/^(fail|undecidable)$/)
  })
})

describe('a run', () => {
  it.each([
    [false, { outcome: 'undecidable', verdict: 'inconclusive' }],
    [true, { outcome: 'fail', verdict: 'failed' }],
  ])('whose account another client may have changed does not pass; with --sole-writer %s', async (soleWriter, ends) => {
    let group = ''
    const way: Way = async (request, send) => {
      const response = await send(request)
      if (request.path !== '/domaingroups' || request.method !== 'GET') return response
      // Another client removes this group while the run goes on.
      const [, id = ''] = /"id":"(\w+)"/.exec(`${response.body}`) ?? []
      if (group === '') await send({ ...request, method: 'DELETE', path: `/domaingroups?id=${id}` })
      group ||= id
      return response
    }
    const { check, verdict, lacks } = await checksOf({ way, soleWriter, judge: NO_JUDGE, plan: SHORT })
    const { outcome, message } = check('restoration') ?? {}
    expect({ outcome, verdict }).toEqual(ends)
    expect(lacks).toContain('It is not shown that the account is as before.')
    expect(message).toContain(`the group ${group} is gone`)
  })

  it('that could not remove its items is inconclusive, and says so as an error', async () => {
    const page = { status: 403, rawHeaders: ['Content-Type', 'text/html'], body: Buffer.from('<html></html>') }
    let isRestoring = false
    const onProgress = (line: string) => {
      isRestoring ||= line.includes('restores the account')
    }
    const way: Way = async (request, send) => (isRestoring ? page : send(request))
    const terms = { way, onProgress, judge: NO_JUDGE, plan: SHORT }
    const { check, verdict, errors } = await checksOf(terms)
    expect([verdict, check('restoration')?.outcome]).toEqual(['inconclusive', 'fail'])
    expect(errors).toEqual([expect.stringMatching(/a list was answered with 403.*; still there: the domain verify-/)])
  })

  it.each([
    [3, 'inconclusive', /^Only 1\d of 110 questions were asked, which is too little for a result\.$/],
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
    expect(seen.unasked).toEqual(
      expect.arrayContaining([
        { why: 'the quotas of this window are used up', level: 'note', waits: true },
        ...(left === undefined
          ? [{ why: expect.stringContaining('the account has'), level: 'note', waits: false }]
          : []),
      ]),
    )
  })

  it.each<[what: string, why: RegExp, run: () => Terms]>([
    ['a signal', /^the run was interrupted$/, () => ({ signal: AbortSignal.abort() })],
    [
      'a lost connection',
      /^the connection was lost: /,
      (sent = 0) => ({
        way(request, send) {
          if (++sent > 20) throw new ConnectionError('nothing listens there')
          return send(request)
        },
      }),
    ],
  ])('lets nobody wait for a quota after %s', async (_, why, run) => {
    const { unasked } = await checksOf({ judge: NO_JUDGE, ...run() })
    expect(unasked).toEqual([{ why: expect.stringMatching(why), level: 'warning', waits: false }])
  })
})

it('A finding shows how its request can be sent again, without the key', async () => {
  const way: Way = async (request, send) => {
    const response = await send(request)
    return request.method === 'PATCH' ? { ...response, body: Buffer.from('{"success":true}') } : response
  }
  const { checks, verdict } = await checksOf({ way, plan: SHORT })
  expect(verdict).toBe('failed')
  const again =
    /^curl -sS -X PATCH -H "Authorization: Bearer \$API_KEY" -H 'Content-Type: application\/json' \S+ --data-raw '/
  expect(checks).toContainEqual(expect.objectContaining({ outcome: 'fail', curl: expect.stringMatching(again) }))
})
