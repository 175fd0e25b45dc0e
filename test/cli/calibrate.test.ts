import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect } from 'vitest'
import { writeEvidence } from '../../src/evidence/evidence-file.ts'
import type { Json } from '../../src/ground/json.ts'
import type { ChoiceObservation } from '../../src/judge/open-choice.ts'
import { actionsFor } from '../support/alternatives.ts'
import { choices } from '../support/choices.ts'
import { exchangeWith } from '../support/exchanges.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { entryFrom, harOf, RECORDED_AT } from '../support/recorded.ts'
import { API_KEY, startService } from '../support/service.ts'

const see = (id: string, number: number, evidence = `r-${id}`): ChoiceObservation => ({
  id,
  permits: [number],
  evidence: [evidence],
  count: 1,
})

/** Writes what was observed of a service, in files of their own. */
async function writeSeen(folder: string, ...files: ChoiceObservation[][]): Promise<string[]> {
  const paths = files.map((_, index) => join(folder, `evidence-${index}.json`))
  for (const [index, observations] of files.entries()) {
    const exchanges = observations.length
    const conclusion = { exchanges, judged: exchanges, findings: [], observations, messages: {} }
    await writeEvidence(paths[index] ?? '', conclusion, {
      tool: 'check',
      choices,
      targets: ['https://a.example/api/v1'],
    })
  }
  return ['calibrate', ...paths.flatMap((path) => ['--evidence', path])]
}

describe('calibrate', () => {
  it('prints the overlay of what recordings show, with which a server behaves like the service', async ({ folder }) => {
    const service = await startService({ overlays: [writeOverlay(folder, actionsFor('already-monitored-2'))] })
    const again = { domains: ['a.example'] }
    const add = { path: '/domains', method: 'POST', body: again }
    const entries: Json[] = []
    for (const [index, asked] of [add, add].entries()) {
      entries.push(entryFrom(await exchangeWith(service.baseUrl, { ...asked, at: RECORDED_AT + 1000 * index })))
    }
    const [recording, report, seen] = [join(folder, 'a.har'), join(folder, 'report.json'), join(folder, 'seen.yaml')]
    writeFileSync(recording, harOf(entries))
    const args = ['calibrate', recording, '--report', `json=${report}`]
    const { code, stdout, stderr } = await runInProcess(args)
    expect(code, stderr).toBe(0)
    const found = JSON.parse(readFileSync(report, 'utf8'))
    const of = (id: string) => found.assumptions.find((each: Json) => each['id'] === id)
    expect(of('already-monitored')).toMatchObject({ verdict: 'alternative', alternative: 2 })
    expect(stdout).not.toContain(API_KEY)
    writeFileSync(seen, stdout)
    const stand = await startService({ overlays: [seen] })
    await stand.send('POST', '/domains', again)
    expect((await stand.send('POST', '/domains', again)).body.error.code).toBe('invalid_request_body')
  })

  it('joins evidence of several files, and writes the overlay to a file', async ({ folder }) => {
    const out = join(folder, 'seen.yaml')
    const args = [...(await writeSeen(folder, [see('domain-order', 1)], [see('already-monitored', 1)])), '--out', out]
    const { code, stdout, stderr } = await runInProcess(args)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain('and takes an alternative in 2; ')
    expect(load(readFileSync(out, 'utf8'))).toMatchObject({
      actions: [
        { target: "$['x-settings']['domain-order']", update: { value: 'alphabetical' } },
        { target: "$['x-settings']['already-monitored']", update: { value: 'skipped' } },
      ],
    })
  })

  it('writes its report also if the overlay cannot be written', async ({ folder }) => {
    const report = join(folder, 'report.json')
    const args = [
      ...(await writeSeen(folder, [see('domain-order', 1)])),
      '--out',
      '/dev/full',
      '--report',
      `json=${report}`,
    ]
    const { code, stderr } = await runInProcess(args)
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^dmarc-understudy: --out \/dev\/full: /m),
    })
    expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ exchanges: 1 })
  })

  it.for<[what: string, seen: ChoiceObservation[], says: string]>([
    [
      'exchanges contradict each other',
      [see('domain-order', 0, 'r-1'), see('domain-order', 1, 'r-2')],
      'Exchanges cannot agree on domain-order: r-1, r-2.',
    ],
    ['nothing was seen', [], 'No exchange with the service could be judged'],
  ])('ends with 1 and an overlay that changes nothing where %s', async ([, seen, says], { folder }) => {
    const { code, stdout, stderr } = await runInProcess(await writeSeen(folder, seen))
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(says) })
    expect(load(stdout)).toMatchObject({ actions: [{ target: '$', update: {} }] })
  })
})
