import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { budget, sample } from '../support/budget.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { expectReport } from '../support/report-schema.ts'
import { shellClient } from '../support/shell-client.ts'

/** Fails where the service refuses, and where it takes more than a second. */
const STRICT = '--fail --max-time 1'
/** Sends what it is given a second time if it fails, without a look at what the first time has done. */
const TWICE = `twice() { "$@" ${STRICT} || "$@" ${STRICT}; }\n`
const READS = shellClient(`${TWICE}twice send GET /domains`)
const ADD = `send POST /domains --data '{"domains": ["shop.example.com"]}'`
const CREATE = `send POST /domaingroups --data '{"name": "Retail"}'`
const BLIND_RETRY = shellClient(`${TWICE}twice ${ADD}; twice ${CREATE}`)
const SWALLOWS_ERRORS = shellClient(`${ADD} ${STRICT} || true`)
const GIVES_UP = shellClient(`send GET /domains ${STRICT}`)
const CHANGES_ITS_MIND = shellClient(`send POST /domains --data '{"domains": ["host-'$$'.example.com"]}'`)

const LOST = { match: { operation: 'createDomainGroup' }, times: 1, phase: 'after', connection: 'reset' }
const explore = (...args: string[]) => ['explore', '--fixture', 'empty', ...args]

describe('Without a baseline, explore says in one line', () => {
  const rows: [command: string[], message: string | RegExp][] = [
    [['sh', '-c', 'exit 3'], 'the command fails without any fault: it ended with 3'],
    [
      ['sh', '-c', 'echo "Error: no luck" >&2; echo at the end; exit 1'],
      'the command fails without any fault: it ended with 1, and said: Error: no luck',
    ],
    [['sh', '-c', 'kill -KILL $$'], 'the command fails without any fault: it ended by SIGKILL'],
    [['true'], /^the command sent no request to the service, so no fault can meet it; /],
  ]
  it.each(sample(rows, 1))('that %j is none', async (command, message) => {
    await expectRefusal(['explore', '--', ...command], 1, message)
  })

  it.each<[options: string[], message: RegExp]>([
    [['--timeout', '1'], /^the command fails without any fault: it did not end within \d+\.\d s \(--timeout\)$/],
    [['--budget', '1'], /^the budget was over before the command had ended without any fault$/],
  ])('with %j, that the command takes too long', { tags: ['slow'] }, async (options, message) => {
    await expectRefusal(['explore', ...options, '--', 'sleep', '30'], 1, message)
  })
})

describe('explore', () => {
  it('tells the story of a plan that the client survives', async () => {
    const plan = '[{"match": {"operation": "listDomains"}, "times": 1, "connection": "reset"}]'
    const { code, stderr } = await runInProcess(explore('--replay', plan, '--', ...READS))
    expect(code).toBe(0)
    expect(stderr).toContain(
      'tolerated:\n  GET /domains → no answer   ← The connection was reset in place of an answer.\n  GET /domains → 200\n',
    )
    expect(stderr).toContain('With the plan, the command did what it does without faults.')
  })
})

describe('explore', { tags: ['slow'] }, () => {
  it('finds what breaks a client, and writes the report and the line that replays it', async ({ folder }) => {
    const path = join(folder, 'report.json')
    const { code, stderr, stdout } = await runInProcess(
      explore('--runs', '6', '--jobs', '2', '--report', `json=${path}`, '--', ...BLIND_RETRY),
    )
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    const report = JSON.parse(readFileSync(path, 'utf8'))
    expectReport('explore', report)
    expect(report).toMatchObject({ points: 2, scaled_window: 2, stable_effects: true, interrupted: false })
    expect(report.runs).toBeLessThanOrEqual(6)
    const [finding] = report.findings
    expect(finding).toMatchObject({ verdict: 'false failure', operation: 'createDomainGroup', plan: [LOST] })
    expect(finding.story.at(-1)).toMatchObject({ method: 'POST', status: 409, code: 'duplicate_name' })
    expect(finding.replay).toMatch(/^dmarc-understudy explore --fixture empty --replay '\[.+\]' -- /)
    expect(stderr).toContain('Quota windows  2 s instead of those of the contract')
    expect(stderr).toContain(finding.replay)

    const replay = await runInProcess(explore('--replay', path, '--report', `json=${path}`, '--', ...BLIND_RETRY))
    expect(replay.code).toBe(1)
    const again = JSON.parse(readFileSync(path, 'utf8'))
    expectReport('explore', again)
    expect(again.findings[0].plan).toEqual(finding.plan)
    expect(again.findings[0].story).toEqual(finding.story)
  })

  it('agrees with itself, whatever runs at the same time', async ({ folder }) => {
    const runs = budget({ quick: 5, full: 9 })
    const reports = await Promise.all(
      ['1', '2'].map(async (jobs) => {
        const path = join(folder, `${jobs}.json`)
        const options = ['--runs', `${runs}`, '--seed', '5', '--jobs', jobs, '--report', `json=${path}`]
        await runInProcess(explore(...options, '--', ...SWALLOWS_ERRORS))
        return JSON.parse(readFileSync(path, 'utf8'))
      }),
    )
    expect(reports[0].runs).toBe(runs)
    expect(reports[1]).toEqual(reports[0])
  })

  it('fails on giving up only when it is asked to', async () => {
    const args = ['--runs', '4', '--', ...GIVES_UP]
    expect(await runInProcess(explore(...args))).toMatchObject({ code: 0 })
    const { code, stderr } = await runInProcess(explore('--fail-on', 'gave-up', ...args))
    expect(code).toBe(1)
    expect(stderr).toContain('explore/gave-up')
  })

  it('says when effects differ without faults, and when a fault never applied', async ({ folder }) => {
    const path = join(folder, 'report.json')
    const plan = '[{"match": {"operation": "deleteDomains"}, "connection": "reset"}]'
    const { code, stderr } = await runInProcess(
      explore('--replay', plan, '--report', `json=${path}`, '--', ...CHANGES_ITS_MIND),
    )
    expect(code).toBe(0)
    expect(stderr).toContain('differ between two runs without a fault, so only exit codes were judged')
    expect(stderr).toContain('explore/never-applied')
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      stable_effects: false,
      never_applied: JSON.parse(plan),
    })
  })

  it('keeps the windows of the contract when it is asked to', async ({ folder }) => {
    const path = join(folder, 'report.json')
    await runInProcess(explore('--runs', '2', '--no-scale-windows', '--report', `json=${path}`, '--', ...READS))
    expect(JSON.parse(readFileSync(path, 'utf8'))).not.toHaveProperty('scaled_window')
  })
})
