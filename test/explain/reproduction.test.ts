import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ExplanationReport } from '../../src/explain/explanation.ts'
import { budget } from '../support/budget.ts'
import { makeProject } from '../support/client-project.ts'
import { askControl, type Served } from '../support/control-plane.ts'
import { startObserved } from '../support/observed-service.ts'
import { ROOT, runShell } from '../support/program-process.ts'
import { type SentHeaders, sendRequest } from '../support/request.ts'
import { openService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { OUTCOMES, type OutcomeCase, SMALL } from './outcomes.ts'

const PYTHON = ['python3', '/usr/bin/python3'].find((python) => spawnSync(python, ['-c', 'import pytest']).status === 0)
/** Runners that take seconds to begin. */
const RUNNERS = ['vitest', 'pytest'].slice(0, budget({ quick: 0, full: 2 }))

/** Of so many outcomes, one is also expected to be another one. */
const SPACING = 7

/** Brings an outcome about in an account of its own, and explains it. */
async function explain(service: Served, outcome: OutcomeCase): Promise<ExplanationReport> {
  const { fixture = SMALL, plan, before = [], method, path, body, headers, status, endless = false } = outcome
  const made = await askControl(service, 'POST', '/accounts', {
    fixture,
    now: '2026-01-15T09:30:00Z',
    ...(plan && { plan }),
  })
  expect(made.status, made.text).toBe(201)
  const { id } = made.data.account
  for (const [verb, below, content] of before) {
    const { status, text } = await askControl(service, verb, `/accounts/${id}${below}`, content)
    expect(status, text).toBeLessThan(300)
  }
  const key = { authorization: `Bearer ${made.data.api_key}` }
  const sent = sendRequest(method, service.baseUrl + path, body, { ...key, ...headers })
  if (status !== undefined) expect([outcome.name, (await sent).status]).toEqual([outcome.name, status])
  else if (endless) sent.catch(() => undefined)
  else await expect(sent).rejects.toThrow()
  const entry = () =>
    askControl(service, 'GET', `/accounts/${id}/requests?limit=1`).then(({ data }) => data.requests[0])
  await expect.poll(entry).toBeDefined()
  return (await askControl(service, 'GET', `/explain/${(await entry()).request_id}`)).data
}

function codeOf({ reproduction, reproduction_note }: ExplanationReport) {
  if (reproduction === null) throw new Error(reproduction_note ?? '')
  return reproduction
}

describe('the code that sends a request again', () => {
  for (const runner of RUNNERS) {
    it.skipIf(runner === 'pytest' && PYTHON === undefined)(
      `passes with ${runner}, for each outcome, and fails for another one`,
      async () => {
        const service = await openService({ fixture: 'empty' })
        const folder = temporaryFolder()
        try {
          makeProject(folder)
          symlinkSync(join(ROOT, 'node_modules/vitest'), join(folder, 'node_modules/vitest'))
          let changed = 0
          for (const [index, outcome] of OUTCOMES.entries()) {
            const { vitest, pytest } = codeOf(await explain(service, outcome))
            const [name, code] = runner === 'vitest' ? [`r${index}.test.ts`, vitest] : [`test_r${index}.py`, pytest]
            writeFileSync(join(folder, name), code)
            if (index % SPACING > 0 || outcome.status === undefined) continue
            const wrong = code.replace(/(toBe\(|status == )\d/, '$19')
            expect(wrong, outcome.name).not.toBe(code)
            writeFileSync(join(folder, name.replace('r', 'w')), wrong)
            changed++
          }
          const environment = {
            NO_COLOR: '1',
            UNDERSTUDY_BASE_URL: service.baseUrl,
            UNDERSTUDY_ADMIN_URL: `${new URL(service.baseUrl).origin}/__admin`,
          }
          const program = join(ROOT, 'node_modules/vitest/vitest.mjs')
          const line =
            runner === 'vitest'
              ? `${process.execPath} ${program} run --no-isolate --maxWorkers=2 --testTimeout=30000`
              : `${PYTHON} -m pytest -q -p no:cacheprovider`
          const { stdout, stderr } = await runShell(line, { folder, environment })
          const said = stdout.slice(-8000) + stderr.slice(-4000)
          expect(stdout, said).toMatch(new RegExp(`\\b${changed} failed\\W+${OUTCOMES.length} passed`))
          expect(said).not.toMatch(/FAIL\s+r\d|FAILED test_r\d/)
        } finally {
          await service.stop()
        }
      },
      240_000,
    )
  }

  it.each([
    ['a request of no account', { headers: { authorization: 'Bearer nobody' } }, /belongs to no account/],
    [
      'a body of which only the beginning is kept',
      { body: { domains: [`${'a'.repeat(20_000)}.example`] } },
      /beginning of the body/,
    ],
  ])(
    'does not exist for %s, and a sentence says why',
    async (_, { headers = {}, body }: { headers?: SentHeaders; body?: object }, why) => {
      const { send, explain } = await startObserved()
      await send('POST', '/domains', body ?? { domains: ['a.example'] }, headers)
      const { reproduction, reproduction_note } = await explain()
      expect(reproduction).toBeNull()
      expect(reproduction_note).toMatch(why)
    },
  )

  it('says what of a large account it leaves out', async () => {
    const domains = Array.from({ length: 31 }, (_, index) => `d${index}.example`)
    const { send, explain } = await startObserved({ fixture: { domains } })
    await send('GET', '/domains')
    const ofList = await explain()
    expect(ofList.reproduction_note).toBe('The account had 31 domains and 0 groups. This one has only some of them.')
    expect(ofList.reproduction?.vitest).toContain(`// ${ofList.reproduction_note}\n`)
    expect(ofList.reproduction?.pytest).toContain(`# ${ofList.reproduction_note}\n`)
    await send('DELETE', '/domains', { domains: ['d30.example'] })
    const ofRemoval = await explain()
    expect(ofRemoval.reproduction_note).toMatch(/only those that matter for the request/)
    expect(ofRemoval.reproduction?.vitest).toContain("fixture: { domains: [{ name: 'd30.example'")
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

  it('needs no account as it was for what the contract forbids in every state', async () => {
    const { send, explain, ask } = await startObserved({ fixture: 'agency' })
    const { headers } = await send('POST', '/domains', { domain: 'a.example' })
    await ask('DELETE', '/accounts/default/requests')
    // The verdict keeps it although the journal has lost it.
    const { reproduction, changes } = await explain(headers['x-request-id'])
    expect(changes).toEqual([])
    expect(reproduction?.vitest).toContain("accountOptions: { fixture: 'empty'")
  })
})
