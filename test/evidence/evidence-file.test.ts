import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Conclusion } from '../../src/conformance/investigation.ts'
import {
  describeEvidence,
  digestOf,
  type EvidenceOptions,
  mergeEvidence,
  readEvidence,
  writeEvidence,
} from '../../src/evidence/evidence-file.ts'
import { deriveKey } from '../../src/ground/secrets.ts'
import { choices } from '../support/choices.ts'
import { expectReport } from '../support/report-schema.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const AT = Date.UTC(2026, 2, 10, 12)
const KEY = deriveKey(42, 'default')
const FOREIGN_KEY = 'live-51Hq9zLqUe8rT2'

const FINDING: Conclusion['findings'][number] = {
  id: 'contract-violation/listDomains/200/response/data/domains',
  label: 'contract violation',
  request_id: 'r-1',
  method: 'GET',
  path: '/domains?verbose=1',
  status: 200,
  pointer: '/components/schemas/Domains',
  line: 12,
  message: 'The value at /data/domains is null but must be of type array.',
}

const CONCLUSION: Conclusion = {
  exchanges: 12,
  judged: 10,
  findings: [FINDING],
  counts: { [FINDING.id]: 3 },
  observations: [
    { allows: [{ head: 1 }], evidence: ['r-2'], count: 1 },
    {
      allows: [
        { 'domain-order': 0, 'canonical-form': 0 },
        { 'domain-order': 2, 'canonical-form': 1 },
      ],
      evidence: ['r-3'],
      count: 4,
    },
  ],
  messages: { not_found: ['No group has this id.'], addDomains: ['Done.'] },
}

const options = (more: Partial<EvidenceOptions> = {}): EvidenceOptions => ({ tool: 'check', choices, at: AT, ...more })

async function writeAndRead(conclusion: Conclusion, more: Partial<EvidenceOptions> = {}) {
  const file = join(temporaryFolder(), 'evidence.json')
  await writeEvidence(file, conclusion, options(more))
  return { file, text: readFileSync(file, 'utf8'), evidence: await readEvidence(file, choices) }
}

describe('an evidence file', () => {
  it('holds what was found out, as its schema says', async () => {
    const { evidence } = await writeAndRead(CONCLUSION, { targets: ['https://me:secret@api.example.com:8443/api/v1'] })
    expectReport('evidence', evidence)
    expect(evidence).toMatchObject({
      format: 'dmarc-understudy evidence',
      format_version: 1,
      tool: 'check',
      written_at: '2026-03-10T12:00:00.000Z',
      contract: { digest: digestOf(choices), overlays: [] },
      targets: ['https://api.example.com:8443'],
      counts: { exchanges: 12, judged: 10, findings: CONCLUSION.counts },
      observations: CONCLUSION.observations,
      findings: CONCLUSION.findings,
      messages: CONCLUSION.messages,
    })
    const head = evidence.verdicts.find(({ id }) => id === 'head')
    expect(head).toEqual({ id: 'head', verdict: 'alternative', alternative: 1, evidence: ['r-2'] })
    expect(evidence.verdicts).toHaveLength(choices.ids.length)
  })

  it.each<[what: string, change: (secret: string) => Partial<Conclusion>]>([
    ['a message', (secret) => ({ messages: { unauthorized: [`The key ${secret} is unknown.`] } })],
    ['a finding', (secret) => ({ findings: [{ ...FINDING, message: `It sent ${secret}.` }] })],
    ['base64', (secret) => ({ messages: { unauthorized: [Buffer.from(`user:${secret}`).toString('base64')] } })],
  ])('does not show a key in %s, whether it is known or looks like one', async (_, change) => {
    for (const [secret, secrets] of [
      [FOREIGN_KEY, [FOREIGN_KEY]],
      [KEY, [KEY]],
      ['sandbox_team-7', []],
    ] as const) {
      const { text } = await writeAndRead({ ...CONCLUSION, ...change(secret) }, { secrets })
      expect(text).not.toContain(secret)
      if (secrets.length > 0) expect(text).not.toContain(Buffer.from(`user:${secret}`).toString('base64'))
    }
  })

  it.each(['head', 'contradicted', 'f'])('keeps its own words if the key is %s', async (key) => {
    const { evidence } = await writeAndRead(CONCLUSION, { secrets: [key] })
    expect(evidence.observations).toEqual(CONCLUSION.observations)
    expect(evidence.findings).toMatchObject([{ label: FINDING.label, pointer: FINDING.pointer }])
  })

  const observing = (...allows: Record<string, unknown>[]) => ({ observations: [{ allows, evidence: [], count: 1 }] })

  it.each<[what: string, changed: object | ((text: string) => string), message: string]>([
    ['another file', () => '{"log": {}}', 'This is no evidence file; verify, check and proxy write one'],
    [
      'a newer format',
      { format_version: 2 },
      '#/format_version: The format 2 is newer than this program, which reads 1; install a newer one.',
    ],
    [
      'an unknown assumption',
      observing({ heads: 1 }),
      '#/observations/0/allows/0/heads: The contract has no assumption heads. This is evidence about another contract',
    ],
    [
      'an unknown alternative',
      observing({ head: 2 }),
      '#/observations/0/allows/0/head: The assumption head has 1 alternatives, not 2.',
    ],
    [
      'another contract',
      { contract: { digest: '0'.repeat(64), overlays: ['ours.yaml'] } },
      '#/contract/digest: This is evidence about another contract. It was made with the overlay ours.yaml; give the same',
    ],
  ])('is refused: %s', async (_, changed, message) => {
    const file = join(temporaryFolder(), 'evidence.json')
    const evidence = describeEvidence(CONCLUSION, options())
    const isText = typeof changed === 'function'
    writeFileSync(file, isText ? changed(JSON.stringify(evidence)) : JSON.stringify({ ...evidence, ...changed }))
    await expect(readEvidence(file, choices)).rejects.toThrow(message)
  })
})

describe('mergeEvidence', () => {
  it('joins files: equal observations are one, counts are added, and verdicts are decided together', () => {
    const half = (id: string, ...allows: Record<string, number>[]) => {
      const observations = [...CONCLUSION.observations, { allows, evidence: [id], count: 1 }]
      const more = { targets: [`https://${id}.example`] }
      return { file: `${id}.json`, evidence: describeEvidence({ ...CONCLUSION, observations }, options(more)) }
    }
    const files = [half('a', { cors: 0, head: 0 }, { cors: 1, head: 1 }), half('b', { cors: 1 })]
    const merged = mergeEvidence(files, choices, AT)
    expect(merged).toMatchObject({
      counts: { exchanges: 24, judged: 20, findings: { [FINDING.id]: 6 } },
      targets: ['https://a.example', 'https://b.example'],
      messages: CONCLUSION.messages,
    })
    expect(merged.observations).toHaveLength(4)
    expect(merged.observations[0]).toMatchObject({ allows: [{ head: 1 }], count: 2, evidence: ['r-2'] })
    expect(merged.verdicts.find(({ id }) => id === 'cors')).toMatchObject({ verdict: 'alternative', alternative: 1 })
    expectReport('evidence', merged)
  })
})
