import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect } from 'vitest'
import type { ChoiceObservation } from '../../src/choices/observation.ts'
import { writeEvidence } from '../../src/evidence/evidence-file.ts'
import type { Json } from '../../src/ground/json.ts'
import { actionsFor, assumptions } from '../support/alternatives.ts'
import { choices } from '../support/choices.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { expectReport } from '../support/report-schema.ts'

describe('assumptions', () => {
  it('lists each with its place, the gap, the choice, the alternatives or why there is none, and which request shows them', async () => {
    const { code, stdout, stderr } = await runInProcess(['assumptions'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const blocks = stdout.trimEnd().split('\n\n')
    expect(blocks.map((block) => block.split('\n')[0])).toEqual(assumptions.map(({ id }) => id))
    expect(blocks.find((block) => block.startsWith('status-not-monitored\n'))?.split('\n')).toEqual([
      'status-not-monitored',
      '  stands at    /components/x-errors/not_monitored',
      '  left open    HTTP status codes for each error code: not shown.',
      '  our choice   {"status":400}',
      '  or 1         {"status":404}',
      '  or 2         {"status":409}',
      '  or 3         {"status":422}',
      expect.stringMatching(/^ {2}observable {3}yes, by POST \/domaingroups with .*: the status \(if .*\)\.$/),
    ])
    const lines = stdout.split('\n')
    expect(lines).toContain('  observable   yes, by HEAD /domains: the status.')
    expect(lines).toContain('  observable   no, because: No response says which plan the account has.')
    expect(lines).toContain(`  no other     ${assumptions.find(({ id }) => id === 'policies')?.reason}`)
  })

  it('prints the same as JSON, as an overlay makes them', async ({ folder }) => {
    const overlay = writeOverlay(folder, [{ target: "$['x-settings']['body-limit']", update: { value: 10 } }])
    const environment = { DMARC_UNDERSTUDY_OVERLAY: overlay }
    const printed: Json[] = JSON.parse((await runInProcess(['assumptions', '--json'], { environment })).stdout)
    expect(printed.map(({ id }) => id)).toEqual(assumptions.map(({ id }) => id))
    const of = (name: string) => printed.find(({ id }) => id === name)
    expect(of('body-limit')).toMatchObject({ choice: { value: 10 } })
    const decide_with = { requests: [{ method: 'HEAD', path: '/domains' }] }
    expect(of('head')).toMatchObject({ observable: true, decide_with })
    expect(of('plan-names')).toMatchObject({ observable: false, because: expect.any(String) })
  })

  it.each([
    ['body-limit', 1, []],
    ['body-limit', 2, ['2']],
    ['update-group-response', 1, ['1', '--json']],
  ])('prints the overlay of %s, alternative %d, with %j', async (id, number, more) => {
    const { code, stdout, stderr } = await runInProcess(['assumptions', 'overlay', id, ...more])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(more.includes('--json') ? JSON.parse(stdout) : load(stdout)).toEqual({
      overlay: '1.0.0',
      info: { title: `${id}, alternative ${number}`, version: '1.0.0' },
      actions: actionsFor(`${id}-${number}`),
    })
  })
})

describe('assumptions with evidence and dependencies', () => {
  const request = { request_id: 'c-1', method: 'HEAD', path: '/domains' }
  const DIFFERENCE = { request, expected: { status: 200 }, received: { status: 405 } }
  /** What vary reports of a client that fails with these alternatives, and tolerates all others. */
  const dependenciesOn = (...failing: string[]) => ({
    command: ['npm', 'test'],
    baseline: { steady: true },
    alternatives: choices.alternatives.map(({ id, number, assumption: { spec, choice }, value }) => ({
      ...{ id, alternative: number, verdict: 'tolerates', spec, chosen: choice, value },
      ...(failing.includes(`${id}/${number}`) && { verdict: 'depends', first_difference: DIFFERENCE }),
    })),
  })

  /** Writes what a service was seen to choose for `head`, and what a client depends on; the command that joins both. */
  async function writeBoth(folder: string, dependencies: object): Promise<string[]> {
    const [evidence, client] = [join(folder, 'evidence.json'), join(folder, 'client.json')]
    const observations: ChoiceObservation[] = [{ allows: [{ head: 1 }], evidence: ['s-1'], count: 1 }]
    await writeEvidence(
      evidence,
      { exchanges: 2, judged: 2, findings: [], counts: {}, observations, messages: {} },
      { tool: 'check', choices, targets: ['https://api.example.com'] },
    )
    writeFileSync(client, JSON.stringify(dependencies))
    return ['assumptions', '--evidence', evidence, '--dependencies', client]
  }

  it('end with 1 where the service does that with which the client fails, and name the requests of both', async ({
    folder,
  }) => {
    const args = await writeBoth(folder, dependenciesOn('head/1', 'cors/1'))
    const report = join(folder, 'risks.json')
    const { code, stdout, stderr } = await runInProcess([...args, '--report', `json=${report}`])
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^contradicted {2}head +The service has chosen alternative 1, with which the client fails\.$/m,
    )
    expect(stdout).toMatch(/^ +The service showed it in s-1\.$/m)
    expect(stdout).toContain('npm test fails with alternative 1, first at HEAD /domains (c-1).')
    expect(stdout).toMatch(/^unknown {7}cors /m)
    expect(stdout).toContain('To settle it: GET /domains with origin: http://localhost:5173')
    expect(stderr).toContain('FAILED')
    const json = JSON.parse(readFileSync(report, 'utf8'))
    expectReport('risks', json)
    expect(JSON.parse((await runInProcess([...args, '--json'])).stdout)).toEqual(json)
  })

  it('end with 0 where nothing is contradicted, although something is unknown', async ({ folder }) => {
    const { code, stdout, stderr } = await runInProcess(await writeBoth(folder, dependenciesOn('cors/1')))
    expect(code).toBe(0)
    expect(stdout).toMatch(/^confirmed +head +The service has chosen alternative 1, with which the client works\./m)
    expect(stderr).toContain('1 of the assumptions are unknown')
  })
})
