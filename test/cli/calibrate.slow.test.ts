import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect } from 'vitest'
import type { ChoiceObservation } from '../../src/choices/observation.ts'
import { readChoices } from '../../src/contract/choices.ts'
import { writeEvidence } from '../../src/evidence/evidence-file.ts'
import type { Json } from '../../src/ground/json.ts'
import { actionsFor } from '../support/alternatives.ts'
import { choices } from '../support/choices.ts'
import { exchangeWith } from '../support/exchanges.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { entryFrom, harOf, RECORDED_AT } from '../support/recorded.ts'
import { expectReport } from '../support/report-schema.ts'
import { API_KEY, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Writes what was observed of so many exchanges with a service that has these choices. */
async function writeObservations(
  observations: ChoiceObservation[],
  exchanges = 3,
  overlays: string[] = [],
): Promise<string> {
  const file = join(temporaryFolder(), 'evidence.json')
  const made =
    overlays.length === 0 ? choices : await readChoices([{ name: 'head', actions: actionsFor('head-1') as never }])
  await writeEvidence(
    file,
    { exchanges, judged: exchanges, findings: [], counts: {}, observations, messages: {} },
    { tool: 'check', choices: made, overlays, targets: ['https://api.example.com/api/v1'] },
  )
  return file
}

const see = (id: string, number: number, evidence = `r-${id}`): ChoiceObservation => ({
  allows: [{ [id]: number }],
  evidence: [evidence],
  count: 1,
})

describe('calibrate', () => {
  it('prints the overlay of what recordings show, with which a server behaves like the service', async () => {
    const folder = temporaryFolder()
    const overlay = writeOverlay(folder, [
      ...actionsFor('unknown-query-parameters-1'),
      ...actionsFor('already-monitored-2'),
    ])
    const service = await startService({ overlays: [overlay] })
    const again = { domains: ['a.example'] }
    const entries: Json[] = []
    const add = { path: '/domains', method: 'POST', body: again }
    for (const [index, asked] of [{ path: '/domains?verbose=1' }, add, add].entries()) {
      entries.push(entryFrom(await exchangeWith(service.baseUrl, { ...asked, at: RECORDED_AT + 1000 * index })))
    }
    const recording = join(folder, 'traffic.har')
    writeFileSync(recording, harOf(entries))
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
    const [one, other] = [await writeObservations([see('head', 1)]), await writeObservations([see('cors', 1)])]
    const out = join(temporaryFolder(), 'seen.yaml')
    const args = ['calibrate', '--evidence', one, '--evidence', other, '--out', out]
    const { code, stdout, stderr } = await runInProcess(args)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain('and takes an alternative in 2; ')
    expect(load(readFileSync(out, 'utf8'))).toMatchObject({
      actions: [
        { target: "$['x-settings']['head']", update: { value: 'wrong-method' } },
        { target: "$['x-settings']['cors']", update: { value: 'any-origin' } },
      ],
    })
    expect(statSync(out).isFile()).toBe(true)
  })

  it('writes its report also if the overlay cannot be written', async ({ folder }) => {
    const report = join(folder, 'report.json')
    const evidence = await writeObservations([see('head', 1)])
    const args = ['calibrate', '--evidence', evidence, '--out', '/dev/full', '--report', `json=${report}`]
    const { code, stderr } = await runInProcess(args)
    expect(stderr).toMatch(/^dmarc-understudy: --out \/dev\/full: /m)
    expect(code).toBe(2)
    expectReport('calibration', JSON.parse(readFileSync(report, 'utf8')))
  })

  it('reads files and asks no service if a key for verify is in the environment', async () => {
    const evidence = await writeObservations([see('head', 1)])
    const environment = { DMARC_UNDERSTUDY_API_KEY: 'key_for_verify' }
    expect(await runInProcess(['calibrate', '--evidence', evidence], { environment })).toMatchObject({ code: 0 })
    const recording = join(temporaryFolder(), 'traffic.har')
    writeFileSync(recording, harOf([]))
    const args = ['calibrate', recording, '--base-url', 'https://api.example.com/api/v1']
    const { stderr } = await runInProcess(args, { environment })
    expect(stderr).toContain('No exchange with the service could be judged')
  })

  it('ends with 1 where exchanges contradict each other, and says which', async () => {
    const file = await writeObservations([see('head', 0, 'r-1'), see('head', 1, 'r-2')])
    const { code, stdout, stderr } = await runInProcess(['calibrate', '--evidence', file])
    expect(code).toBe(1)
    expect(stderr).toContain('Exchanges cannot agree on head: r-1, r-2.')
    expect(load(stdout)).toMatchObject({ actions: [{ target: '$', update: {} }] })
  })

  it('does not call it a success that nothing was seen', async () => {
    const file = await writeObservations([], 0)
    const { code, stderr } = await runInProcess(['calibrate', '--evidence', file])
    expect(code).toBe(1)
    expect(stderr).toContain('No exchange with the service could be judged')
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
    const overlay = writeOverlay(temporaryFolder(), actionsFor('head-1'))
    const file = await writeObservations([see('cors', 1)], 1, [overlay])
    const message = `${file}#/contract/digest: This is evidence about another contract…`
    await expectRefusal(['calibrate', '--evidence', file], 2, message)
    const { code, stdout } = await runInProcess(['calibrate', '--evidence', file, '--overlay', overlay])
    expect(code).toBe(0)
    expect(stdout).toContain('Give it after')
    expect(JSON.stringify(load(stdout))).not.toContain('wrong-method')
  })

  it('asks a service as verify does, and leaves its account as it was', { timeout: 600_000 }, async () => {
    const folder = temporaryFolder()
    const service = await startService({ overlays: [writeOverlay(folder, actionsFor('create-group-status-1'))] })
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
  })
})
