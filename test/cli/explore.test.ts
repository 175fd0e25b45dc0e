import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
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
  ])('with %j, that the command takes too long', async (options, message) => {
    await expectRefusal(['explore', ...options, '--', 'sleep', '30'], 1, message)
  })
})

describe('explore', () => {
  it('tells the story of a plan that the client survives, with what it printed', async () => {
    const plan = '[{"match": {"operation": "listDomains"}, "times": 1, "connection": "reset"}]'
    const { code, stderr } = await runInProcess(explore('--replay', plan, '--', ...READS))
    expect(code).toBe(0)
    expect(stderr).toContain(
      'tolerated:\n  GET /domains → no answer   ← The connection was reset in place of an answer.\n  GET /domains → 200\n  It printed:\n',
    )
    expect(stderr).toContain('    {"success":true,"data":{"domains":[]}}\n')
    expect(stderr).toContain('PASSED  With the plan, the command did what it does without faults.')
  })

  it('is inconclusive if nothing was tried, and says how many runs are enough', async ({ folder }) => {
    const path = join(folder, 'report.json')
    const args = explore('--runs', '2', '--jobs', '1', '--report', `json=${path}`, '--', ...BLIND_RETRY)
    const { code, stderr } = await runInProcess(args)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /INCONCLUSIVE {2}No fault broke the command\..* No fault has met a request; 4 faults of the first two tiers were not tried\. --runs \d+ would be enough for that\./,
    )
    const report = JSON.parse(readFileSync(path, 'utf8'))
    expectReport('explore', report)
    expect(report).toMatchObject({ passed: false, inconclusive: true, runs: 2, findings: [] })
    expect(report.tiers.slice(0, 2)).toEqual([
      { tier: 1, of: 2, tried: 0 },
      { tier: 2, of: 2, tried: 0 },
    ])
  })

  it.each<[options: string[], message: string | RegExp]>([
    [['--window', '3s', '--no-scale-windows'], /^--window 3s: quota windows keep their length with --no-scale-windows/],
    [['--update-baseline'], '--update-baseline: needs --baseline FILE, which it writes'],
    [['--baseline', '/nowhere/known.json'], /^\/nowhere\/known\.json: /],
    [['--fail-on', 'hangs'], /^--fail-on hangs: must be one or several of findings, inconclusive, gave-up/],
    [['--window', '0'], /^--window 0: /],
  ])('refuses %j in one line', async (options, message) => {
    await expectRefusal(['explore', ...options, '--', 'true'], 2, message)
  })
})

describe('explore', () => {
  it('finds what breaks a client, and writes the report and the line that replays it', async ({ folder }) => {
    const path = join(folder, 'report.json')
    const { code, stderr, stdout } = await runInProcess(
      explore('--runs', '9', '--jobs', '2', '--report', `json=${path}`, '--', ...BLIND_RETRY),
    )
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    const report = JSON.parse(readFileSync(path, 'utf8'))
    expectReport('explore', report)
    expect(report).toMatchObject({ points: 2, scaled_window: 2, stable_effects: true, interrupted: false })
    expect(report).toMatchObject({ passed: false, inconclusive: false })
    expect(report.runs).toBeLessThanOrEqual(9)
    const [finding] = report.findings
    expect(finding).toMatchObject({ verdict: 'false failure', operation: 'createDomainGroup', plan: [LOST] })
    expect(finding.id).toBe('false-failure/lost-response/createDomainGroup')
    expect(finding.places).toMatchObject([{ operation: 'createDomainGroup', about: 'Retail' }])
    expect(finding.story.at(-1)).toMatchObject({ method: 'POST', status: 409, code: 'duplicate_name' })
    expect(finding.output).toMatch(/409$/)
    expect(finding.replay).toMatch(/^dmarc-understudy explore --fixture empty --replay '\[.+\]' -- /)
    expect(stderr).toContain('Quota windows  2 s instead of those of the contract')
    expect(stderr).toContain(finding.replay)

    const replay = await runInProcess(explore('--replay', path, '--report', `json=${path}`, '--', ...BLIND_RETRY))
    expect(replay.code).toBe(1)
    expect(replay.stderr).toContain('  It printed:\n')
    const again = JSON.parse(readFileSync(path, 'utf8'))
    expectReport('explore', again)
    const { id, plan, story, output } = finding
    expect(again.findings[0]).toMatchObject({ id, plan, story, output })
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

  it('runs trials at the same time if the command allows it, and says why', async ({ folder }) => {
    const parallel = await runInProcess(explore('--runs', '9', '--', ...READS))
    if (availableParallelism() > 1)
      expect(parallel.stderr).toMatch(/^Trials +\d+ at a time, because \d+ runs at the same time do/m)
    // Only one run at a time can make the folder.
    const lock = join(folder, 'lock')
    const alone = shellClient(`mkdir ${lock}; trap 'rmdir ${lock}' EXIT; sleep 0.3; send GET /domains`)
    const { stderr } = await runInProcess(explore('--runs', '9', '--', ...alone))
    expect(stderr).toMatch(/^Trials +one after the other, because (of|this)/m)
  })

  it('does not fail on known findings, and writes them', async ({ folder }) => {
    const known = join(folder, 'known.json')
    const args = ['--runs', '9', '--jobs', '2', '--baseline', known]
    const first = await runInProcess(explore(...args, '--update-baseline', '--', ...BLIND_RETRY))
    expect(first.code).toBe(1)
    const { findings } = JSON.parse(readFileSync(known, 'utf8'))
    expect(findings).toEqual([{ id: 'false-failure/lost-response/createDomainGroup', reason: 'to be decided' }])
    const again = await runInProcess(explore(...args, '--', ...BLIND_RETRY))
    expect(again.stderr).toContain('Accepted: to be decided')
    expect(again.code).toBe(0)
    writeFileSync(known, JSON.stringify({ findings: [{ ...findings[0], expires: '2020-01-01' }] }))
    const late = await runInProcess(explore(...args, '--', ...BLIND_RETRY))
    expect(late.code).toBe(1)
    expect(late.stderr).toContain('1 expired')
  })

  it('fails on giving up only when it is asked to, and on too few runs unless it is asked not to', async () => {
    const args = ['--runs', '4', '--jobs', '1', '--', ...GIVES_UP]
    expect(await runInProcess(explore('--fail-on', 'findings', ...args))).toMatchObject({ code: 0 })
    const gaveUp = await runInProcess(explore('--fail-on', 'gave-up', ...args))
    expect(gaveUp.code).toBe(1)
    expect(gaveUp.stderr).toContain('explore/gave-up')
    const few = await runInProcess(explore(...args))
    expect(few.code).toBe(1)
    expect(few.stderr).toContain('INCONCLUSIVE')
  })

  it('says when effects differ without faults, and that a plan which never applied shows nothing', async ({
    folder,
  }) => {
    const path = join(folder, 'report.json')
    const plan = '[{"match": {"operation": "deleteDomains"}, "connection": "reset"}]'
    const { code, stderr } = await runInProcess(
      explore('--replay', plan, '--report', `json=${path}`, '--', ...CHANGES_ITS_MIND),
    )
    expect(code).toBe(1)
    expect(stderr).toContain('differ between two runs without a fault, so only exit codes were judged')
    expect(stderr).toContain('explore/never-applied')
    expect(stderr).toContain('INCONCLUSIVE  No fault of the plan met a request, so the run shows nothing.')
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      stable_effects: false,
      inconclusive: true,
      never_applied: JSON.parse(plan),
    })
  })

  it('keeps the windows of the contract when it is asked to', async ({ folder }) => {
    const path = join(folder, 'report.json')
    await runInProcess(explore('--runs', '2', '--no-scale-windows', '--report', `json=${path}`, '--', ...READS))
    expect(JSON.parse(readFileSync(path, 'utf8'))).not.toHaveProperty('scaled_window')
  })
})
