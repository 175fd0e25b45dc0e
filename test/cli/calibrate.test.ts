import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect } from 'vitest'
import { readChoices } from '../../src/contract/choices.ts'
import { writeEvidence } from '../../src/evidence/evidence-file.ts'
import type { Observation } from '../../src/evidence/observation.ts'
import type { Json } from '../../src/ground/json.ts'
import { actionsFor } from '../support/alternatives.ts'
import { budget } from '../support/budget.ts'
import { choices } from '../support/choices.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { expectReport } from '../support/report-schema.ts'
import { API_KEY, startService, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function writeObservations(file: string, ...observations: Observation[]): Promise<string> {
  await writeEvidence(
    file,
    { exchanges: 3, judged: 3, findings: [], counts: {}, observations, messages: {} },
    { tool: 'check', choices, targets: ['https://api.example.com/api/v1'] },
  )
  return file
}

const see = (id: string, number: number, evidence = `r-${id}`): Observation => ({
  allows: [{ [id]: number }],
  evidence: [evidence],
  count: 1,
})

/** Sends requests and writes what came back as a HAR file. */
async function record(service: TestService, requests: readonly [string, string, unknown?][]): Promise<string> {
  const entries: Json[] = []
  for (const [index, [method, path, body]] of requests.entries()) {
    const { status, headers, text } = await service.send(method, path, body)
    const fields = (names: Readonly<Record<string, string>>) =>
      Object.entries(names).map(([name, value]) => ({ name, value }))
    entries.push({
      startedDateTime: new Date(Date.UTC(2026, 0, 15, 9, 30, index)).toISOString(),
      time: 5,
      request: {
        method,
        url: service.baseUrl + path,
        headers: fields({
          Authorization: `Bearer ${API_KEY}`,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        }),
        ...(body !== undefined && { postData: { mimeType: 'application/json', text: JSON.stringify(body) } }),
      },
      response: { status, headers: fields(headers), content: { mimeType: headers['content-type'], text } },
    })
  }
  const file = join(temporaryFolder(), 'traffic.har')
  writeFileSync(file, JSON.stringify({ log: { version: '1.2', creator: { name: 'test', version: '1' }, entries } }))
  return file
}

/** What begins with this text. */
function beginning(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[^\w\s]/g, String.raw`\$&`)}`)
}

describe('calibrate', () => {
  it('prints the overlay of what recordings show, with which a server behaves like the service', async () => {
    const folder = temporaryFolder()
    const overlay = writeOverlay(folder, [
      ...actionsFor('unknown-query-parameters-1'),
      ...actionsFor('already-monitored-2'),
    ])
    const service = await startService({ overlays: [overlay] })
    const again = { domains: ['a.example'] }
    const recording = await record(service, [
      ['GET', '/domains?verbose=1'],
      ['POST', '/domains', again],
      ['POST', '/domains', again],
    ])
    const report = join(folder, 'report.json')
    const { code, stdout, stderr } = await runInProcess(['calibrate', recording, '--report', `json=${report}`])
    expect(stderr).toContain('calibrate')
    expect(code).toBe(0)
    const found = JSON.parse(readFileSync(report, 'utf8'))
    expectReport('calibration', found)
    const of = (id: string) => found.assumptions.find((each: Json) => each['id'] === id)
    expect(of('unknown-query-parameters')).toMatchObject({ verdict: 'alternative', alternative: 1 })
    expect(of('already-monitored')).toMatchObject({ verdict: 'alternative', alternative: 2 })
    expect(stdout).not.toContain(API_KEY)
    const seen = join(folder, 'seen.yaml')
    writeFileSync(seen, stdout)
    const stand = await startService({ overlays: [seen] })
    expect((await stand.get('/domains?verbose=1')).body.error.code).toBe('unknown_field')
    await stand.send('POST', '/domains', again)
    expect((await stand.send('POST', '/domains', again)).body.error.code).toBe('invalid_request_body')
  })

  it('joins evidence of several files, and writes the overlay to a file', async () => {
    const folder = temporaryFolder()
    const one = await writeObservations(join(folder, 'one.json'), see('head', 1))
    const other = await writeObservations(join(folder, 'other.json'), see('cors', 1))
    const out = join(folder, 'seen.yaml')
    const { code, stdout, stderr } = await runInProcess([
      'calibrate',
      '--evidence',
      one,
      '--evidence',
      other,
      '--out',
      out,
    ])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain('The service chooses 2 of 121 assumptions otherwise')
    expect(load(readFileSync(out, 'utf8'))).toMatchObject({
      actions: [
        { target: "$['x-settings']['head']", update: { value: 'wrong-method' } },
        { target: "$['x-settings']['cors']", update: { value: 'any-origin' } },
      ],
    })
    expect(statSync(out).isFile()).toBe(true)
  })

  it('ends with 1 where exchanges contradict each other, and says which', async () => {
    const file = await writeObservations(
      join(temporaryFolder(), 'e.json'),
      see('head', 0, 'r-1'),
      see('head', 1, 'r-2'),
    )
    const { code, stdout, stderr } = await runInProcess(['calibrate', '--evidence', file])
    expect(code).toBe(1)
    expect(stderr).toContain('Exchanges cannot agree on head: r-1, r-2.')
    expect(load(stdout)).toMatchObject({ actions: [{ target: '$', update: {} }] })
  })

  it('does not call it a success that nothing was seen', async () => {
    const file = join(temporaryFolder(), 'none.json')
    await writeEvidence(
      file,
      { exchanges: 0, judged: 0, findings: [], counts: {}, observations: [], messages: {} },
      { tool: 'check', choices },
    )
    const { code, stderr } = await runInProcess(['calibrate', '--evidence', file])
    expect(code).toBe(1)
    expect(stderr).toContain('No exchange with the service could be judged')
  })

  // To rehearse all requests takes long, so the quick run only shows, below, that verify is asked.
  it.each(['create-group-status-1'].slice(0, budget({ quick: 0, full: 1 })))(
    'asks a service with %s as verify does, and leaves its account as it was',
    async (name) => {
      const folder = temporaryFolder()
      const service = await startService({ overlays: [writeOverlay(folder, actionsFor(name))] })
      const args = ['calibrate', '--base-url', service.baseUrl, '--api-key', API_KEY]
      const { code, stdout, stderr } = await runInProcess(args, { folder })
      expect(code, stderr).toBe(0)
      expect(load(stdout)).toMatchObject({
        actions: expect.arrayContaining([
          { target: "$['paths']['/domaingroups']['post']['responses']['200']", remove: true },
        ]),
      })
      expect(stdout + stderr).not.toContain(API_KEY)
      const lists = await Promise.all([service.get('/domains'), service.get('/domaingroups')])
      expect(lists.map(({ body }) => body.data)).toEqual([{ domains: [] }, { groups: [], count: 0 }])
    },
  )

  it('ends like verify where the service cannot be asked', async ({ folder }) => {
    const args = ['calibrate', '--base-url', 'http://127.0.0.1:9/api/v1', '--api-key', 'a']
    const { code, stdout } = await runInProcess(args, { folder })
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
  })

  it('ends like verify where the service refuses the key', async ({ folder }) => {
    const service = await startService()
    const args = ['calibrate', '--base-url', service.baseUrl, '--api-key', 'of-nobody']
    const { code, stdout, stderr } = await runInProcess(args, { folder })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('verify: ')
    expect(stderr).not.toContain('of-nobody')
  })

  it('is based on the overlays that are given', async () => {
    const folder = temporaryFolder()
    const overlay = writeOverlay(folder, actionsFor('head-1'))
    const own = await readChoices([{ name: overlay, actions: actionsFor('head-1') as never }])
    const file = join(folder, 'evidence.json')
    await writeEvidence(
      file,
      { exchanges: 1, judged: 1, findings: [], counts: {}, observations: [see('cors', 1)], messages: {} },
      { tool: 'check', choices: own, overlays: [overlay] },
    )
    await expectRefusal(
      ['calibrate', '--evidence', file],
      2,
      beginning(`${file}#/contract/digest: This is evidence about another contract`),
    )
    const { code, stdout } = await runInProcess(['calibrate', '--evidence', file, '--overlay', overlay])
    expect(code).toBe(0)
    expect(stdout).toContain('Give it after')
    expect(JSON.stringify(load(stdout))).not.toContain('wrong-method')
  })

  it.each<[args: string[], message: string]>([
    [[], 'calibrate: needs HAR files, --evidence FILE, or --base-url URL and --api-key KEY'],
    [['--api-key', 'a'], '--api-key: needs --base-url URL, the service that is asked'],
    [
      ['--base-url', 'http://127.0.0.1:9/api/v1'],
      '--base-url http://127.0.0.1:9/api/v1: needs --api-key KEY to ask the service',
    ],
    [['a.har', '--wait'], '--wait: needs --api-key, with which the service is asked'],
    [['a.har', '--base-url', 'http://a/b', '--api-key', 'a'], '--api-key: cannot be used with recordings'],
    [['--evidence', 'nowhere.json'], 'nowhere.json: The evidence cannot be read (ENOENT).'],
    [['nowhere.har'], 'calibrate: nowhere.har: The file cannot be read (ENOENT).'],
    [['--evidence', 'a', '--evidence', 'a'], 'calibrate: a is given twice'],
    [
      ['a.har', '--out', '/nowhere/x.yaml'],
      '--out /nowhere/x.yaml: its folder does not exist; create it, or name another file',
    ],
    [['a.har', '--base-url', 'ftp://x'], '--base-url ftp://x: must be the base URL of the service'],
  ])('refuses %j', async (args, message) => {
    await expectRefusal(['calibrate', ...args], 2, beginning(message))
  })
})
