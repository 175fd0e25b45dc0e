import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { writeShellLine } from '../../src/ground/shell-word.ts'
import { actionsFor } from '../support/alternatives.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { expectReport } from '../support/report-schema.ts'
import { shellClient } from '../support/shell-client.ts'

/** Creates a group unless it is there, and fails if somebody else creates it meanwhile. */
const ENSURE = shellClient(
  `send GET /domaingroups | grep -q '"Retail"' || send POST /domaingroups --fail --data '{"name": "Retail"}'`,
)
const READS = shellClient('send GET /domains')
const ADDS = shellClient(`send POST /domains --fail --data '{"domains": ["a.example"]}'`)
/** Listens on the port while it sends. */
/**
 * A command that needs a port. Its first four starts are alone. Of the fifth and the sixth, which are beside each other, the
 * one with the port keeps it until the other has tried.
 */
const listensOn = (port: number, tried: string) => [
  ...[process.execPath, '--input-type=module', '--eval'],
  [
    "import { createServer } from 'node:net'",
    "import { appendFileSync, readFileSync } from 'node:fs'",
    `const count = () => readFileSync('${tried}', 'utf8').length`,
    `const server = createServer().listen(${port}, '127.0.0.1')`,
    "const failed = await new Promise((resolve) => server.once('listening', resolve).once('error', resolve))",
    `appendFileSync('${tried}', '.')`,
    'if (failed) throw failed',
    'while (count() === 5) await new Promise((resolve) => setTimeout(resolve, 20))',
    'const { UNDERSTUDY_BASE_URL: url, UNDERSTUDY_API_KEY: key } = process.env',
    "for (const _ of [1, 2]) await fetch(url + '/domains', { headers: { authorization: 'Bearer ' + key } })",
    'server.close()',
  ].join('; '),
]
const line = (command: readonly string[]) => writeShellLine(command)
const explore = (...args: string[]) => ['explore', '--fixture', 'empty', ...args]

describe('explore --beside', () => {
  it('shows the race of two commands in two columns, and replays it', async ({ folder }) => {
    const path = join(folder, 'report.json')
    const report = () => JSON.parse(readFileSync(path, 'utf8'))
    const options = ['--beside', line(ENSURE), '--switches', '1', '--report', `json=${path}`]
    const { code, stderr, stdout } = await runInProcess(explore(...options, '--', ...ENSURE))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      /false failure:\n {2}the first command +the second command\n {2}GET \/domaingroups → 200\n {39,}GET \/domaingroups → 200\n +POST \/domaingroups \(Retail\) → 200\n {2}POST \/domaingroups \(Retail\) → 409 duplicate_name\n {2}ended with \d+ +ended with 0\n/,
    )
    expectReport('explore-beside', report())
    expect(report()).toMatchObject({
      ...{ passed: false, inconclusive: false, stable_effects: true, steady: true, runs: 7 },
      interleavings: { possible: 6, tried: 4, equivalent: 0 },
      levels: [
        { switches: 0, of: 2, tried: 2 },
        { switches: 1, of: 2, tried: 2 },
      ],
    })
    const [finding] = report().findings
    const plan = [{ command: 1, requests: 1 }, { command: 2 }]
    expect(finding).toMatchObject({ verdict: 'false failure', plan, switches: 1, operation: 'listDomainGroups' })
    expect(finding.story.at(-1)).toEqual({
      ...{ command: 1, method: 'POST', path: '/domaingroups', about: 'Retail' },
      ...{ status: 409, code: 'duplicate_name' },
    })
    expect(finding.replay).toMatch(/^dmarc-understudy explore --fixture empty --beside .+ --replay .+ -- sh -c /)

    const replay = await runInProcess(
      explore(...options.slice(0, 2), '--replay', path, ...options.slice(4), '--', ...ENSURE),
    )
    expect(replay.code).toBe(1)
    expectReport('explore-beside', report())
    expect(report().findings[0].story).toEqual(finding.story)
    expect(report().followed).toBe(true)
  })

  it('passes when no order can break the commands', async () => {
    const { code, stderr } = await runInProcess(explore('--beside', line(READS), '--', ...READS))
    expect(code).toBe(0)
    expect(stderr).toContain('No order up to 2 switches broke the commands.')
  })

  it('says which command fails in a serial order, where only an overlay lets both succeed', async ({ folder }) => {
    const both = ['--beside', line(ADDS), '--', ...ADDS]
    const message =
      /^in the order the first command, then the second command, the second command failed with exit code \d+/
    await expectRefusal(explore(...both), 1, message)
    const overlay = writeOverlay(folder, actionsFor('already-monitored-1'))
    const { code, stderr } = await runInProcess(explore('--overlay', overlay, ...both))
    expect(stderr).toContain('No order up to 2 switches broke the commands.')
    expect(code).toBe(0)
  })

  it('says that both commands use one port', async ({ folder }) => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    await new Promise((resolve) => taken.close(resolve))
    const command = listensOn(port, join(folder, 'tried'))
    const message = /EADDRINUSE.*; both commands run at the same time, so each needs a port of its own$/
    await expectRefusal(explore('--beside', line(command), '--', ...command), 1, message)
  })

  it('is not decided when the budget is over', async ({ folder }) => {
    const path = join(folder, 'report.json')
    const options = ['--runs', '3', '--beside', line(ENSURE), '--report', `json=${path}`]
    const { code, stderr } = await runInProcess(explore(...options, '--', ...ENSURE))
    expect(code).toBe(1)
    expect(stderr).toContain('INCONCLUSIVE  Not decided: not all orders up to 2 switches could be tried.')
    expect(stderr).toMatch(/Trials +one after the other, because /)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ passed: false, inconclusive: true, runs: 3 })
  })

  it('ends both commands at Ctrl-C while requests are held', async ({ folder, start }) => {
    const marker = join(folder, 'marker')
    // Its third start is the first one beside the other command, whose request is held then.
    const count = `echo >>'${marker}.starts'; [ $(wc -l <'${marker}.starts') -lt 3 ] ||`
    const waits = shellClient(`send GET /domains; ${count} { touch '${marker}'; exec sleep 60; }`)
    const running = start(explore('--beside', line(READS), '--', ...waits))
    await expect.poll(() => existsSync(marker), { timeout: 20_000 }).toBe(true)
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    expect(code).toBe(130)
    expect(stderr).toContain('explore was told to stop')
  })

  it.for<[args: string[], code: number, message: string | RegExp]>([
    [
      ['--switches', '2', '--', 'true'],
      2,
      '--switches: has a meaning only with --beside, for the orders of the requests of two commands',
    ],
    [['--beside', 'true', '--', ...READS], 1, /^true sent no request with its key, so there is no order to try; /],
    [['--beside', line(READS), '--', 'true'], 1, /^true sent no request with its key, so there is no order to try; /],
    [['--beside', line(READS), '--', 'no-such-program'], 127, 'no-such-program: there is no such command'],
    [['--beside', 'exit 3', '--', ...READS], 1, /, then exit 3, exit 3 failed with exit code 3$/],
  ])('%j ends with %i and one line', async ([args, code, message]) => {
    await expectRefusal(explore(...args), code, message)
  })

  it.for<[plan: string, problem: string]>([
    ['[]', ': The plan has no turn.'],
    ['[{"command": 3}]', '#/0: must be a turn such as {"command": 1, "requests": 2}; the command is 1 or 2'],
    [
      '[{"command": 1}, {"command": 2}]',
      '#/0: requests must be a whole number from 1; only the last turn needs no requests',
    ],
    [
      '[{"command": 1, "thread": 0}]',
      '#/0: thread must be a whole number from 1; only the last turn needs no requests',
    ],
    [
      '{"plan": [{"command": 1, "request": 1}]}',
      '#/plan/0: must be a turn such as {"command": 1, "requests": 2}; the command is 1 or 2',
    ],
    ['[{"command": 1, "requests": 100001}, {"command": 2}]', '#/0: a plan has at most 100000 requests'],
    ['{}', ': must hold a list of turns of two commands, a finding of explore, or a report of explore.'],
  ])('refuses the plan %s', async ([plan, problem]) => {
    const message = `--replay ${plan}${problem}`
    await expectRefusal(explore('--beside', 'true', '--replay', plan, '--', 'true'), 2, message)
  })
})
