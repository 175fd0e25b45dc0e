import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect } from 'vitest'
import { overlayFor } from '../../src/contract/assumptions.ts'
import { writeEvidence } from '../../src/evidence/evidence-file.ts'
import type { Observation } from '../../src/evidence/observation.ts'
import type { Json } from '../../src/ground/json.ts'
import type { Dependencies } from '../../src/trials/vary/dependencies.ts'
import { assumptions, document } from '../support/alternatives.ts'
import { choices } from '../support/choices.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { PROGRAM, runShell } from '../support/program-process.ts'
import { expectReport } from '../support/report-schema.ts'

describe('assumptions', () => {
  it('lists each with its place, the gap, the choice and the alternatives', async () => {
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
  })

  it('says of an assumption without alternatives why there is none', async () => {
    const { stdout } = await runInProcess(['assumptions'])
    const { reason } = assumptions.find(({ id }) => id === 'policies') ?? {}
    expect(stdout.split('\n')).toContain(`  no other     ${reason}`)
    await expectRefusal(
      ['assumptions', 'overlay', 'policies'],
      2,
      `assumptions overlay policies: has no alternative. ${reason}`,
    )
  })

  it('prints the same as JSON', async () => {
    const { code, stdout } = await runInProcess(['assumptions', '--json'])
    expect(code).toBe(0)
    const printed: Json[] = JSON.parse(stdout)
    const plain = assumptions.map(({ unobservable: _, ...assumption }) => assumption)
    expect(printed).toMatchObject(JSON.parse(JSON.stringify(plain)))
    const of = (id: string) => printed.find((each) => each['id'] === id)
    expect(of('head')).toMatchObject({
      observable: true,
      decide_with: { requests: [{ method: 'HEAD', path: '/domains' }] },
    })
    expect(of('plan-names')).toMatchObject({ observable: false, because: expect.any(String) })
    expect(of('percentages')).toMatchObject({ observable: true, except: { '2': expect.any(String) } })
  })

  it('says of each whether exchanges can show it, and by which request', async () => {
    const { stdout } = await runInProcess(['assumptions'])
    const lines = stdout.split('\n')
    expect(lines).toContain('  observable   yes, by HEAD /domains: the status.')
    expect(lines).toContain('  observable   no, because: No response says which plan the account has.')
    const counted = lines.filter((line) => line.startsWith('  observable   '))
    expect(counted).toHaveLength(assumptions.filter(({ alternatives }) => alternatives.length > 0).length)
  })

  it.each([
    ['head', '1', []],
    ['body-limit', '2', []],
    ['request-id-format', '1', []],
    ['add-domains-status', '1', []],
    ['status-plan-too-low', '2', []],
    ['blank-names', '1', ['--json']],
    ['update-group-response', '1', ['--json']],
  ])('prints the overlay of %s, alternative %s, with %j', async (id, number, flags) => {
    const assumption = assumptions.find((each) => each.id === id)
    const alternative = assumption?.alternatives[Number(number) - 1]
    if (assumption === undefined || alternative === undefined) throw new Error(`There is no ${id} ${number}.`)
    const { code, stdout, stderr } = await runInProcess(['assumptions', 'overlay', id, number, ...flags])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(flags.length > 0 ? JSON.parse(stdout) : load(stdout)).toEqual({
      overlay: '1.0.0',
      info: { title: `${id}, alternative ${number}`, version: '1.0.0' },
      actions: overlayFor(assumption, alternative, document.source).actions,
    })
  })

  it('prints the overlay of the first alternative when no number is given', async () => {
    const [first, silent] = await Promise.all([
      runInProcess(['assumptions', 'overlay', 'body-limit', '1']),
      runInProcess(['assumptions', 'overlay', 'body-limit']),
    ])
    expect(silent).toEqual(first)
  })

  it.each<[args: string[], message: string | RegExp]>([
    [
      ['overlay', 'nonsense'],
      'assumptions overlay nonsense: must be the id of an assumption; the command assumptions lists them',
    ],
    [['overlay', 'domain-cpa'], /must be the id of an assumption; did you mean domain-cap\?$/],
    [['overlay'], /must be the id of an assumption; the command assumptions lists them$/],
    [['overlay', 'body-limit', '0'], 'assumptions overlay body-limit 0: must be one of its 2 alternatives, from 1'],
    [['overlay', 'body-limit', '3'], 'assumptions overlay body-limit 3: must be one of its 2 alternatives, from 1'],
    [['overlay', 'body-limit', 'two'], 'assumptions overlay body-limit two: must be one of its 2 alternatives, from 1'],
    [['overlay', 'body-limit', '1', '2'], 'assumptions overlay body-limit 1 2: must be overlay ID [N], or nothing'],
    [['list'], 'assumptions list: must be overlay ID [N], or nothing'],
    [['--frozen'], '--frozen is no option here; there are --evidence, --dependencies, --json, --overlay, --report'],
    [['--evidence', 'a'], '--evidence: needs --dependencies FILE, which vary --report json=FILE writes'],
    [
      ['--dependencies', 'a'],
      '--dependencies: needs --evidence FILE, which check, proxy and verify write with --evidence FILE',
    ],
    [['--report', 'json=a'], '--report: needs --evidence and --dependencies, of which it is a report'],
    [
      ['overlay', 'head', '--evidence', 'a', '--dependencies', 'b'],
      'assumptions overlay head: cannot be used with --evidence and --dependencies',
    ],
    [['--evidence', 'nowhere', '--dependencies', 'b'], 'nowhere: The evidence cannot be read (ENOENT).'],
    [['--json=perhaps'], '--json perhaps: must be true or false'],
    [['--overlay', 'nowhere.yaml'], 'nowhere.yaml: The overlay cannot be read (ENOENT).'],
  ])('refuses %j with exit code 2 and one line', async (args, message) => {
    await expectRefusal(['assumptions', ...args], 2, message)
  })

  it('make an overlay that serve takes', async ({ serve, folder }) => {
    const program = `'${process.execPath}' '${PROGRAM}'`
    const written = await runShell(`${program} assumptions overlay create-group-status 1 > overlay.yaml`, { folder })
    expect(written).toEqual({ code: 0, stdout: '', stderr: '' })
    const group = { method: 'POST', body: '{"name":"Marketing"}' }
    const [chosen, otherwise] = await Promise.all([
      serve([], { folder }),
      serve(['--overlay', 'overlay.yaml'], { folder }),
    ])
    expect((await chosen.request('/domaingroups', group)).status).toBe(200)
    expect((await otherwise.request('/domaingroups', group)).status).toBe(201)
  })
})

describe('assumptions with evidence and dependencies', () => {
  /** What vary reports of a client that fails with these alternatives, and tolerates all others. */
  function dependenciesOn(...failing: string[]): Dependencies {
    return {
      command: ['npm', 'test'],
      baseline: { exit_code: 0, seconds: 1, requests: 3, steady: true },
      runs: 4,
      alternatives: choices.alternatives.map(({ id, number, assumption, value }) => {
        const fails = failing.includes(`${id}/${number}`)
        return {
          ...{ id, alternative: number, verdict: fails ? 'depends' : 'tolerates', spec: assumption.spec },
          ...{ chosen: assumption.choice, value },
          ...(fails && {
            first_difference: {
              request: { request_id: 'c-1', method: 'HEAD', path: '/domains' },
              expected: { status: 200 },
              received: { status: 405 },
            },
          }),
        } as Dependencies['alternatives'][number]
      }),
    }
  }

  async function writeBoth(folder: string, dependencies: object, ...observations: Observation[]): Promise<string[]> {
    const evidence = join(folder, 'evidence.json')
    await writeEvidence(
      evidence,
      { exchanges: 2, judged: 2, findings: [], counts: {}, observations, messages: {} },
      { tool: 'check', choices, targets: ['https://api.example.com'] },
    )
    const client = join(folder, 'client.json')
    writeFileSync(client, JSON.stringify(dependencies))
    return ['assumptions', '--evidence', evidence, '--dependencies', client]
  }

  const OTHERWISE: Observation = { allows: [{ head: 1 }], evidence: ['s-1'], count: 1 }

  it('end with 1 where the service does that with which the client fails, and name the requests of both', async ({
    folder,
  }) => {
    const args = await writeBoth(folder, dependenciesOn('head/1', 'cors/1'), OTHERWISE)
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
    const printed = await runInProcess([...args, '--json'])
    expect(JSON.parse(printed.stdout)).toEqual(json)
  })

  it('end with 0 where nothing is contradicted, although something is unknown', async ({ folder }) => {
    const args = await writeBoth(folder, dependenciesOn('cors/1'), OTHERWISE)
    const { code, stdout, stderr } = await runInProcess(args)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^unknown {3,}cors /m)
    expect(stdout).toMatch(/^confirmed +head +The service has chosen alternative 1, with which the client works\./m)
    expect(stderr).toContain('1 of the assumptions are unknown')
  })

  it('refuse a dependencies file that is none, or of another contract', async ({ folder }) => {
    const of = async (dependencies: object) => writeBoth(folder, dependencies)
    const path = join(folder, 'client.json')
    await expectRefusal(
      await of({ a: 1 }),
      2,
      `--dependencies ${path}: is no report of vary: the value at /command is missing`,
    )
    const [first] = dependenciesOn().alternatives
    const foreign = { ...dependenciesOn(), alternatives: [{ ...first, value: { value: 5 } }] }
    await expectRefusal(
      await of(foreign),
      2,
      `--dependencies ${path}: is about another contract. What body-limit/1 means was something else. Run vary with the same overlays, and this version of the program`,
    )
  })
})
