import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { eventually, sleeper, sleeping } from '../support/processes.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { expectReport } from '../support/report-schema.ts'
import { shellClient } from '../support/shell-client.ts'

/** Sends what it is given a second time if it fails, without a look at what the first time has done. */
const TWICE = 'twice() { "$@" --fail --max-time 1 || "$@" --fail --max-time 1; }\n'
const ADD = `send POST /domains --data '{"domains": ["shop.example.com"]}'`
const BLIND_RETRY = shellClient(`${TWICE}twice ${ADD}; twice send POST /domaingroups --data '{"name": "Retail"}'`)

const explore = (...args: string[]) => ['explore', '--fixture', 'empty', ...args]
const reportIn = (folder: string) => {
  const path = join(folder, 'report.json')
  return { option: ['--report', `json=${path}`], read: () => JSON.parse(readFileSync(path, 'utf8')) }
}

describe('explore', () => {
  it.each<[options: string[], code: string, message: string | RegExp]>([
    [[], 'exit 3', 'the command fails without any fault: it ended with 3, and said nothing'],
    [[], 'true', /^the command sent no request to the service, so no fault can meet it; /],
  ])('with %j refuses to begin with a command that does: %s', async (options, code, message) => {
    await expectRefusal(['explore', ...options, '--', 'sh', '-c', code], 1, message)
  })

  it('does not say in its help that a run with a fault may take any time', async () => {
    const { stdout } = await runInProcess(['explore', '--help'])
    expect(stdout).toMatch(/--timeout .* Default: no limit without faults, then /)
  })

  it('finds what breaks a client, and writes the report, the line that replays it, and a baseline that accepts it', async ({
    folder,
  }) => {
    const { option, read } = reportIn(folder)
    const known = join(folder, 'known.json')
    const args = [...option, '--runs', '12', '--jobs', '2', '--baseline', known]
    const { code, stderr, stdout } = await runInProcess(explore(...args, '--update-baseline', '--', ...BLIND_RETRY))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    const report = read()
    expectReport('explore', report)
    expect(report).toMatchObject({ points: 2, scaled_window: 2, stable_effects: true, interrupted: false })
    expect(report).toMatchObject({ passed: false, inconclusive: false })
    const [finding] = report.findings
    const { id, plan, story, output } = finding
    const lost = { match: { operation: 'createDomainGroup' }, times: 1, phase: 'after', connection: 'reset' }
    expect(finding).toMatchObject({ verdict: 'false failure', operation: 'createDomainGroup', plan: [lost] })
    expect(id).toBe('false-failure/lost-response/createDomainGroup')
    expect(story.at(-1)).toMatchObject({ method: 'POST', status: 409, code: 'duplicate_name' })
    expect(output).toMatch(/409$/)
    expect(finding.replay).toMatch(/^npx dmarc-understudy explore --fixture empty .*--replay '\[.+\]' -- /)
    expect(stderr).toContain('Quota windows  2 s instead of those of the contract')
    expect(stderr).toContain(finding.replay)

    const baseline = JSON.parse(readFileSync(known, 'utf8'))
    expectReport('baseline', baseline)
    expect(baseline).toEqual({ findings: [{ id, reason: 'to be decided' }] })
    const again = ['--replay', JSON.stringify(plan), ...option, '--', ...BLIND_RETRY]
    const accepted = await runInProcess(explore('--baseline', known, ...again))
    expect(accepted.stderr).toContain('  It printed:\n')
    expect(accepted.stderr).toContain('Accepted: to be decided')
    expect(accepted.code).toBe(0)
    expectReport('explore', read())
    expect(read().findings[0]).toMatchObject({ id, plan, story, output })
  })

  it('tells the story of a plan that the client survives, with what it printed', async () => {
    const plan = '[{"match": {"operation": "listDomains"}, "times": 1, "connection": "reset"}]'
    const client = shellClient(`${TWICE}twice send GET /domains`)
    const { code, stderr } = await runInProcess(explore('--replay', plan, '--', ...client))
    expect(code).toBe(0)
    expect(stderr).toContain(
      'tolerated:\n  GET /domains → no answer   ← The connection was reset in place of an answer.\n  GET /domains → 200\n  It printed:\n',
    )
    expect(stderr).toContain('    {"success":true,"data":{"domains":[]}}\n')
    expect(stderr).toContain('PASSED  With the plan, the command did what it does without faults.')
  })

  it('is inconclusive if too little was tried, and says how much is enough', async ({ folder }) => {
    const { option, read } = reportIn(folder)
    const { code, stderr } = await runInProcess(explore('--runs', '2', '--jobs', '1', ...option, '--', ...BLIND_RETRY))
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /INCONCLUSIVE {2}No fault that was tried broke the command\..* 6 faults of the first two tiers were not tried\. --runs \d+ would be enough for that\. Tried: 0 of 2 lost responses of writes; /,
    )
    expectReport('explore', read())
    expect(read()).toMatchObject({ passed: false, inconclusive: true, runs: 2, findings: [] })
  })

  it('is inconclusive if the command makes other changes in each run, which it cannot compare', async () => {
    const client = shellClient('send POST /domains --fail --data "{\\"domains\\": [\\"run$$.example.com\\"]}"')
    const { code, stderr } = await runInProcess(explore('--runs', '6', '--jobs', '1', '--', ...client))
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /INCONCLUSIVE {2}No fault .*, by its exit code alone\..* The command makes other changes in each run, such as random names, so one that is lost or made twice is not seen\. Tried: 1 of 1 lost responses of writes; 2 of 2 /,
    )
  })

  it.for([
    ['findings', 0, 'No fault that was tried broke'],
    ['gave-up', 1, 'explore/gave-up'],
  ] as const)('with --fail-on %s and a client that gives up ends with %i', async ([failOn, code, said]) => {
    const client = shellClient('send GET /domains --fail --max-time 1')
    const args = ['--runs', '4', '--jobs', '1', '--fail-on', failOn, '--', ...client]
    expect(await runInProcess(explore(...args))).toMatchObject({ code, stderr: expect.stringContaining(said) })
  })

  it('ends with everything that it has started when it is told to stop, and says what it has found', async ({
    folder,
    start,
  }) => {
    const [sleep, met] = [sleeper(), join(folder, 'met')]
    // Without faults it ends at once.
    const client = shellClient(`send GET /domains --fail --max-time 3 || { echo >'${met}'; exec ${sleep}; }`)
    const running = start(explore('--', ...client))
    await eventually('the command meets a fault', () => existsSync(met))
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    expect(code).toBe(130)
    expect(stderr).toContain('Stopped before the end. ')
    expect(sleeping(sleep)).toEqual([])
  })
})
