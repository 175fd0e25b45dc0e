import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ExplanationReport } from '../../src/explain/explanation.ts'
import { makeProject } from '../support/client-project.ts'
import { askControl, type Served } from '../support/control-plane.ts'
import { startObserved } from '../support/observed-service.ts'
import { ROOT, runShell } from '../support/program-process.ts'
import { type SentHeaders, sendRequest } from '../support/request.ts'
import { openService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { AUTHORIZED, exchangeAsIs } from '../support/wire.ts'
import { ODD, OUTCOMES, type OutcomeCase, SMALL } from './outcomes.ts'

/** Of so many outcomes, one is also expected to be another one. */
const SPACING = 7

/** Brings an outcome about in an account of its own, and explains it. */
async function explainOutcome(service: Served, outcome: OutcomeCase): Promise<ExplanationReport> {
  const { fixture = SMALL, plan, before = [], method, path, body, headers, status } = outcome
  const now = '2026-01-15T09:30:00Z'
  const made = await askControl(service, 'POST', '/accounts', { fixture, now, ...(plan && { plan }) })
  for (const [verb, below, content] of before) {
    await askControl(service, verb, `/accounts/${made.data.account.id}${below}`, content)
  }
  const key = { authorization: `Bearer ${made.data.api_key}` }
  const answer = await sendRequest(method, service.baseUrl + path, body, { ...key, ...headers })
  expect([outcome.name, answer.status]).toEqual([outcome.name, status])
  return (await askControl(service, 'GET', `/explain/${answer.headers['x-request-id']}`)).data
}

describe('the code that sends a request again', () => {
  it('passes with vitest, for each outcome, and fails for another one', async () => {
    const service = await openService({ fixture: 'empty' })
    const folder = temporaryFolder()
    makeProject(folder)
    symlinkSync(join(ROOT, 'node_modules/vitest'), join(folder, 'node_modules/vitest'))
    let changed = 0
    for (const [index, outcome] of OUTCOMES.entries()) {
      const { reproduction, reproduction_note } = await explainOutcome(service, outcome)
      const code = reproduction?.vitest ?? `${reproduction_note}`
      // Nothing that a reader cannot see.
      expect(code, outcome.name).not.toMatch(/[\0\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b-\u200f]/)
      writeFileSync(join(folder, `r${index}.test.ts`), code)
      if (index % SPACING > 0) continue
      const wrong = code.replace(/toBe\(\d/, 'toBe(9')
      expect(wrong, outcome.name).not.toBe(code)
      writeFileSync(join(folder, `w${index}.test.ts`), wrong)
      changed++
    }
    await service.stop()
    const program = join(ROOT, 'node_modules/vitest/vitest.mjs')
    const line = `${process.execPath} ${program} run --no-isolate --maxWorkers=2 --testTimeout=30000`
    const { stdout, stderr } = await runShell(line, { folder, environment: { NO_COLOR: '1' } })
    const said = stdout.slice(-8000) + stderr.slice(-4000)
    expect(stdout, said).toMatch(new RegExp(`\\b${changed} failed\\W+${OUTCOMES.length} passed`))
    expect(said).not.toMatch(/FAIL\s+r\d/)
  })

  it.each<[what: string, sent: { headers?: SentHeaders; body?: unknown }, why: RegExp]>([
    ['a request of no account', { headers: { authorization: 'Bearer nobody' } }, /belongs to no account/],
    [
      'a body of which only the beginning is kept',
      { body: { domains: ['a'.repeat(20_000)] } },
      /beginning of the body/,
    ],
    ['a body that is no text', { body: Buffer.from([0x7b, 0xff]) }, /no UTF-8/],
  ])('does not exist for %s, and a sentence says why', async (_, sent, why) => {
    const { body = { domains: ['a.example'] }, headers = {} } = sent
    const { send, explain } = await startObserved()
    await send('POST', '/domains', body, { 'content-type': 'application/json', ...headers })
    const { reproduction, reproduction_note } = await explain()
    expect(reproduction).toBeNull()
    expect(reproduction_note).toMatch(why)
  })

  it('does not exist for a target that clients correct', async () => {
    const service = await startObserved()
    await exchangeAsIs(service, { method: 'GET', target: '/a/../b', headers: [AUTHORIZED] })
    expect(await service.explain()).toMatchObject({
      reproduction: null,
      reproduction_note: expect.stringMatching(/No usual client/),
    })
  })

  it('does not exist for what a fault rule answered', async () => {
    const { send, explain, ask } = await startObserved()
    await ask('POST', '/accounts/default/faults', { respond: { error: 'rate_limited' } })
    await send('GET', '/domains')
    expect(await explain()).toMatchObject({
      reproduction: null,
      reproduction_note: expect.stringMatching(/fault rule/),
    })
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
    await service.send('GET', '/domains')
    expect((await service.explain()).reproduction?.curl).toBe(
      `curl -sS -H "Authorization: Bearer $API_KEY" ${service.baseUrl}/domains`,
    )
    await service.send('GET', '/domains', undefined, { authorization: 'Bearer sandbox_shop' })
    expect((await service.explain()).reproduction?.curl).toBe(
      `curl -sS -H 'Authorization: Bearer sandbox_shop' ${service.baseUrl}/domains`,
    )
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
