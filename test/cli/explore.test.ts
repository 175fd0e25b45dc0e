import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { eventually, findProcesses, sleeper } from '../support/processes.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { expectReport } from '../support/report-schema.ts'
import { shellClient } from '../support/shell-client.ts'

/** Fails where the service refuses, and where it takes more than half a second. */
const STRICT = '--fail --max-time 0.5'
/** Sends what it is given a second time if it fails, without a look at what the first time has done. */
const TWICE = `twice() { "$@" ${STRICT} || "$@" ${STRICT}; }\n`
const ADD = `send POST /domains --data '{"domains": ["shop.example.com"]}'`
const CREATE = `send POST /domaingroups --data '{"name": "Retail"}'`
const BLIND_RETRY = shellClient(`${TWICE}twice ${ADD}; twice ${CREATE}`)
const SWALLOWS_ERRORS = shellClient(`${ADD} ${STRICT} || true`)
const GIVES_UP = shellClient(`send GET /domains ${STRICT}`)
const READS = shellClient(`${TWICE}twice send GET /domains`)
const CHANGES_ITS_MIND = shellClient(`send POST /domains --data '{"domains": ["host-'$$'.example.com"]}'`)

const explore = (...args: string[]) => ['explore', '--fixture', 'empty', ...args]
const LOST = { match: { operation: 'createDomainGroup' }, times: 1, phase: 'after', connection: 'reset' }

describe('explore refuses', () => {
  it.each<[args: string[], message: string | RegExp]>([
    [[], 'explore: needs a command after --, such as dmarc-understudy explore -- npm test'],
    [['npm', 'test'], /^explore: needs a command after --/],
    [['x', '--', 'true'], /^explore: x is no option; the command comes after --/],
    [['--jobs', '0', '--', 'true'], '--jobs 0: must be a whole number from 1 to 1000'],
    [['--runs', '0', '--', 'true'], '--runs 0: must be a whole number from 1 to 1000000'],
    [
      ['--budget', 'soon', '--', 'true'],
      '--budget soon: must be a duration such as 90s, 30m, 1h or 2d, and longer than 0',
    ],
    [['--budget', '0', '--', 'true'], '--budget 0: must be a duration such as 90s, 30m, 1h or 2d, and longer than 0'],
    [['--fail-on', 'hang', '--', 'true'], '--fail-on hang: must be one or several of gave-up, separated by commas'],
    [['--ready-file', 'x', '--', 'true'], '--ready-file x: each trial has a server of its own; leave it out'],
    [['--data', 'x', '--', 'true'], '--data x: each trial begins with accounts of its own; leave it out'],
    [['--port', '4011', '--jobs', '2', '--', 'true'], /^--port 4011: trials at the same time need a port each/],
    [['--report', 'json=/nowhere/x.json', '--', 'true'], /^--report json=\/nowhere\/x.json: /],
    [['--set-env', 'A={nothing}', '--', 'true'], /^--set-env A=\{nothing\}: /],
  ])('%j', async (args, message) => {
    await expectRefusal(['explore', ...args], 2, message)
  })

  it('a plan that is none, in one line', async () => {
    const message = '--replay [{}]#/0: '
    const { code, stderr, stdout } = await runInProcess(['explore', '--replay', '[{}]', '--', 'true'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^[^\n]+\n$/)
    expect(stderr).toContain(`dmarc-understudy: ${message}`)
  })

  it('a plan that is not there', async () => {
    const message = '--replay nowhere.json: The plan cannot be read (ENOENT); give a JSON file, or the JSON itself.'
    await expectRefusal(['explore', '--replay', 'nowhere.json', '--', 'true'], 2, message)
  })

  it('an overlay that the contract refuses', async ({ folder }) => {
    const path = join(folder, 'overlay.yaml')
    writeFileSync(path, 'overlay: 1.0.0\ninfo: {title: x, version: 1}\nactions: [{target: $.nothing, update: {}}]\n')
    await expectRefusal(['explore', '--overlay', path, '--', 'true'], 2, /selects nothing in openapi\.yaml/)
  })
})

describe('Without a baseline, explore says in one line', () => {
  it.each<[command: string[], code: number, message: string | RegExp]>([
    [['sh', '-c', 'exit 3'], 1, 'the command fails without any fault: it ended with 3'],
    [
      ['sh', '-c', 'echo "Error: no luck" >&2; echo at the end; exit 1'],
      1,
      'the command fails without any fault: it ended with 1, and said: Error: no luck',
    ],
    [['sh', '-c', 'kill -KILL $$'], 1, 'the command fails without any fault: it ended by SIGKILL'],
    [['true'], 1, /^the command sent no request to the service, so no fault can meet it; /],
    [['no-such-command'], 127, 'no-such-command: there is no such command'],
  ])('that %j is none', async (command, code, message) => {
    await expectRefusal(['explore', '--', ...command], code, message)
  })

  const slow: [options: string[], message: RegExp][] = [
    [['--timeout', '1'], /^the command fails without any fault: it did not end within \d+\.\d s \(--timeout\)$/],
    [['--budget', '1'], /^the budget was over before the command had ended without any fault$/],
  ]
  it.each(slow.slice(0, budget({ quick: 1, full: 2 })))(
    'with %j, that the command takes too long',
    async (options, message) => {
      const { code, stderr } = await runInProcess(['explore', ...options, '--', 'sleep', '30'])
      expect(code).toBe(1)
      // What takes over a second shows its progress.
      expect(stderr.trimEnd().split('\n').at(-1)?.replace('dmarc-understudy: ', '')).toMatch(message)
    },
  )
})

describe('explore', () => {
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

  it('tells the story of a plan that the client survives', async () => {
    const plan = '[{"match": {"operation": "listDomains"}, "times": 1, "connection": "reset"}]'
    const { code, stderr } = await runInProcess(explore('--replay', plan, '--', ...READS))
    expect(code).toBe(0)
    expect(stderr).toContain(
      'tolerated:\n  GET /domains → no answer   ← The connection was reset in place of an answer.\n  GET /domains → 200\n',
    )
    expect(stderr).toContain('With the plan, the command did what it does without faults.')
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

  it('ends with everything that it has started when it is told to stop, and says what it has found', async ({
    folder,
    startProcess,
  }) => {
    const sleep = sleeper()
    const [, duration = ''] = sleep.split(' ')
    const script = join(folder, 'client.sh')
    const read = 'curl -fs -m 3 -H "Authorization: Bearer $UNDERSTUDY_API_KEY" "$UNDERSTUDY_BASE_URL/domains"'
    // Without faults it ends at once.
    writeFileSync(script, `${read} >/dev/null || ${sleep}\n`)
    const running = startProcess(['explore', '--fixture', 'empty', '--', 'sh', script])
    await eventually('the command meets a fault', () => findProcesses(duration).length > 0)
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    expect(code).toBe(130)
    expect(stderr).toContain('Stopped before the end. ')
    expect(findProcesses(duration)).toEqual([])
  })
})
