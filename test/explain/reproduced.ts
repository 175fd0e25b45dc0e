import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { ExplanationReport } from '../../src/explain/explanation.ts'
import { makeProject } from '../support/client-project.ts'
import { askControl, type Served } from '../support/control-plane.ts'
import { ROOT, runShell } from '../support/program-process.ts'
import { sendRequest } from '../support/request.ts'
import { openService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { OUTCOMES, type OutcomeCase, SMALL } from './outcomes.ts'

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

/**
 * Runs the code of each outcome with a test runner, and expects all of it to pass; some of it is changed to expect another
 * status, and has to fail.
 */
export async function expectReproduced(runner: 'vitest' | 'pytest', line: string): Promise<void> {
  const service = await openService({ fixture: 'empty' })
  const folder = temporaryFolder()
  try {
    makeProject(folder)
    symlinkSync(join(ROOT, 'node_modules/vitest'), join(folder, 'node_modules/vitest'))
    let changed = 0
    for (const [index, outcome] of OUTCOMES.entries()) {
      const code = codeOf(await explain(service, outcome))[runner]
      // Nothing that a reader cannot see.
      expect(code, outcome.name).not.toMatch(/[\0\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b-\u200f]/)
      const name = runner === 'vitest' ? `r${index}.test.ts` : `test_r${index}.py`
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
    const { stdout, stderr } = await runShell(line, { folder, environment })
    const said = stdout.slice(-8000) + stderr.slice(-4000)
    expect(stdout, said).toMatch(new RegExp(`\\b${changed} failed\\W+${OUTCOMES.length} passed`))
    expect(said).not.toMatch(/FAIL\s+r\d|FAILED test_r\d/)
  } finally {
    await service.stop()
  }
}
