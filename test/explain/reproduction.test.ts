import { spawnSync } from 'node:child_process'
import { compileFunction } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ExplanationReport } from '../../src/explain/explanation.ts'
import { type AccountOptions, startUnderstudy, type Understudy } from '../../src/index.ts'
import { askControl } from '../support/control-plane.ts'
import { startObserved } from '../support/observed-service.ts'
import { type SentHeaders, sendRequest } from '../support/request.ts'
import { AUTHORIZED, exchangeAsIs } from '../support/wire.ts'
import { add, create, get, ODD, remove, SMALL, update } from './outcomes.ts'

/** A request, the account that it meets, and the status of the answer. */
interface Outcome {
  /** By default, a small one. */
  fixture?: string
  plan?: string
  /** Whether the quota of domains is used up. */
  isLimited?: boolean
  method: string
  path: string
  body?: unknown
  headers?: SentHeaders
  status: number
}

const LIST = get('/domains')
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  'an addition': { ...add('New.example', 'b.example'), status: 200 },
  'a removal': { ...remove('three.example'), status: 200 },
  'a changed group': { ...update({ add_domains: ['two.example'] }), status: 200 },
  'a HEAD': { method: 'HEAD', path: '/domains', status: 200 },
  'odd characters': { ...create({ name: ODD }), status: 200 },
  'half a pair': { ...create('{"name":"a\\ud83d"}'), status: 400 },
  'a prototype': { ...create('{"name":"a","__proto__":{"a":1}}'), status: 400 },
  'a name that is taken': { ...create({ name: 'MARKETING' }), status: 409 },
  'an unknown parameter': { ...get("/domains?q=a%20b&x[]='1'{2}"), status: 200 },
  'numbers that JavaScript writes otherwise': { ...add(), body: '{"domains": [1.0, 1e400, "a"]}', status: 400 },
  'a NUL': { ...add(), body: 'a\0b', status: 400 },
  'no type': { ...add('a.example'), headers: { 'content-type': null }, status: 400 },
  'a quota': { ...LIST, isLimited: true, status: 429 },
  'a plan': { plan: 'below-stone', ...LIST, status: 403 },
  'a preference': { ...LIST, headers: { prefer: 'code=rate_limited' }, status: 429 },
  'a simulated failure': { ...add('fail-invalid-domain.understudy.test'), status: 400 },
  'removals from a ready-made account': { fixture: 'agency', ...remove('x.example'), status: 409 },
}

/** Brings an outcome about in an account of its own, and explains it. */
async function explainOutcome(service: Understudy, outcome: Outcome): Promise<ExplanationReport> {
  const { fixture = SMALL, plan, isLimited, method, path, body, headers, status } = outcome
  const now = '2026-01-15T09:30:00Z'
  const made = await askControl(service, 'POST', '/accounts', { fixture, now, ...(plan && { plan }) })
  const quota = { bucket: 'domains', remaining: 0 }
  if (isLimited) await askControl(service, 'PATCH', `/accounts/${made.data.account.id}/quotas`, quota)
  const key = { authorization: `Bearer ${made.data.api_key}` }
  const answer = await sendRequest(method, service.baseUrl + path, body, { ...key, ...headers })
  expect(answer.status).toBe(status)
  return (await askControl(service, 'GET', `/explain/${answer.headers['x-request-id']}`)).data
}

/** Runs a test that was written for vitest, with an account of this service. */
async function run(code: string, service: Understudy): Promise<void> {
  let passed: Promise<void> | undefined
  const createTest = () => ({
    extend:
      ({ accountOptions }: { accountOptions: AccountOptions }) =>
      (_: string, test: (fixtures: object) => Promise<void>) => {
        passed = service.createAccount(accountOptions).then((account) => test({ account }))
      },
  })
  compileFunction(code.replaceAll(/^import .*$/gm, ''), ['createTest', 'expect'])(createTest, expect)
  await passed
}

describe('the code that sends a request again', () => {
  it('passes as a test for each outcome, and fails for another one', async () => {
    const service = await startUnderstudy({ fixture: 'empty' })
    onTestFinished(() => service.stop())
    for (const [name, outcome] of Object.entries(OUTCOMES)) {
      const { reproduction, reproduction_note } = await explainOutcome(service, outcome)
      const code = reproduction?.vitest ?? expect.fail(`${name}: ${reproduction_note}`)
      // Nothing that changes the direction of the text beside it.
      expect(code, name).not.toMatch(/[\0\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
      await run(code, service)
      const wrong = code.replace(/toBe\(\d/, 'toBe(9')
      await expect(run(wrong, service), name).rejects.toThrow('Object.is equality')
    }
  })

  it.each<[what: string, sent: { headers?: SentHeaders; body?: unknown }, why: RegExp]>([
    ['a request of no account', { headers: { authorization: 'Bearer nobody' } }, /belongs to no account/],
    ['a body of which only a part is kept', { body: { domains: ['a'.repeat(20_000)] } }, /beginning of the body/],
    ['a body that is no text', { body: Buffer.from([0x7b, 0xff]) }, /no UTF-8/],
  ])('does not exist for %s, and a sentence says why', async (_, sent, why) => {
    const { body = { domains: ['a.example'] }, headers = {} } = sent
    const { send, explain } = await startObserved()
    await send('POST', '/domains', body, { 'content-type': 'application/json', ...headers })
    expect(await explain()).toMatchObject({ reproduction: null, reproduction_note: expect.stringMatching(why) })
  })

  it('does not exist for a target that clients correct, and for what a fault rule answered', async () => {
    const service = await startObserved()
    const note = async () => (await service.explain()).reproduction_note
    await exchangeAsIs(service, { method: 'GET', target: '/a/../b', headers: [AUTHORIZED] })
    expect(await note()).toMatch(/No usual client/)
    await service.ask('POST', '/accounts/default/faults', { respond: { error: 'rate_limited' } })
    await service.send('GET', '/domains')
    expect(await note()).toMatch(/fault rule/)
  })

  it('has a new account of the same fixture in place of a large one, and says so', async () => {
    const { send, explain } = await startObserved({ fixture: 'agency', seed: 7 })
    await send('GET', '/domains')
    const { reproduction, reproduction_note } = await explain()
    expect(reproduction_note).toMatch(/^The account had \d+ domains and \d+ groups, so this account is as a new one/)
    expect(reproduction?.vitest).toContain(`// ${reproduction_note}\n`)
    expect(reproduction?.vitest).toMatch(/fixture: 'agency',\s+plan: 'stone',\s+seed: 7/)
  })

  it('reads a secret key from API_KEY, and has the key of an account that is known to everybody', async () => {
    const service = await startObserved()
    const curlOf = async (headers?: SentHeaders) => {
      await service.send('GET', '/domains', undefined, headers)
      return (await service.explain()).reproduction?.curl
    }
    const url = `${service.baseUrl}/domains`
    expect(await curlOf()).toBe(`curl -sS -H "Authorization: Bearer $API_KEY" ${url}`)
    const authorization = 'Bearer sandbox_shop'
    expect(await curlOf({ authorization })).toBe(`curl -sS -H 'Authorization: ${authorization}' ${url}`)
  })

  it('is for curl a line of which a shell reads the body as it was sent', async () => {
    const { send, explain } = await startObserved()
    const body = JSON.stringify({ name: ODD, domains: ["$(touch x) '", '`id`', '!!', '*', '\\'] })
    await send('POST', '/domaingroups', body)
    const script = `curl() { printf '%s\\n' "$@"; }\n${(await explain()).reproduction?.curl}`
    const { stdout, stderr } = spawnSync('sh', [], { input: script, encoding: 'utf8' })
    expect([stdout.split('\n').includes(body), stderr]).toEqual([true, ''])
  })

  it('needs no account as it was for what the contract forbids in every state', async () => {
    const { send, explain, ask } = await startObserved({ fixture: 'agency' })
    const { headers } = await send('POST', '/domains', { domain: 'a.example' })
    await ask('DELETE', '/accounts/default/requests')
    // The verdict keeps it although the journal has lost it.
    const { reproduction, changes } = await explain(headers['x-request-id'])
    expect(changes).toEqual([])
    expect(reproduction?.vitest).toContain("fixture: 'empty'")
  })
})
