import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  describeEvidence,
  digestOf,
  type EvidenceOptions,
  joinEvidence,
  readEvidence,
  writeEvidence,
} from '../../src/evidence/evidence-file.ts'
import { deriveKey } from '../../src/ground/secrets.ts'
import type { Conclusion } from '../../src/judge/judge.ts'
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
  message: 'The value at /data/domains is null but must be of type array.',
  count: 3,
}

const CONCLUSION: Omit<Conclusion, 'answers'> = {
  exchanges: 12,
  judged: 10,
  findings: [FINDING],
  observations: [
    { id: 'create-group-status', permits: [1], evidence: ['r-2'], count: 1 },
    { id: 'domain-order', permits: [0, 2], evidence: ['r-3'], count: 4 },
  ],
  messages: { not_found: ['No group has this id.'], addDomains: ['Done.'] },
}

const options = (more: Partial<EvidenceOptions> = {}): EvidenceOptions => ({ tool: 'check', choices, at: AT, ...more })

async function writeAndRead(conclusion: typeof CONCLUSION, more: Partial<EvidenceOptions> = {}) {
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
      format_version: 2,
      tool: 'check',
      written_at: '2026-03-10T12:00:00.000Z',
      contract: { digest: digestOf(choices), overlays: [] },
      targets: ['https://api.example.com:8443'],
      exchanges: 12,
      judged: 10,
      observations: CONCLUSION.observations,
      findings: [FINDING],
      messages: CONCLUSION.messages,
    })
  })

  it('can be read whatever a service has sent: endless texts, and any code', async () => {
    const long = 'x'.repeat(100_000)
    const messages = Object.fromEntries([
      ['__proto__', [long]],
      ...Array.from({ length: 500 }, (_, of) => [`${of}`, ['']]),
    ])
    const findings = [{ ...FINDING, id: long, method: long, path: `/${long}`, request_id: long, message: long }]
    const { evidence } = await writeAndRead({ ...CONCLUSION, findings, messages })
    expect(Object.keys(evidence.messages)).toHaveLength(501)
    expect(evidence.findings[0]?.message).toHaveLength(2000)
  })

  it.each([
    [FOREIGN_KEY, [FOREIGN_KEY]],
    [KEY, [KEY]],
    ['sandbox_team-7', []],
  ])('does not show a key that is known or looks like one, wherever it is: %s', async (secret, secrets) => {
    const { text } = await writeAndRead(
      {
        ...CONCLUSION,
        messages: { unauthorized: [`The key ${secret} is unknown.`] },
        observations: [{ id: 'retry-after', permits: [1], evidence: [secret], count: 1 }],
        findings: [
          { ...FINDING, message: `It sent ${secret}.`, request_id: secret, overlay: secret },
          { ...FINDING, path: `/domains?key=${secret}`, id: `contract-violation/${secret}` },
        ],
      },
      { secrets },
    )
    expect(text).not.toContain(secret)
  })

  it.each(['domain-order', 'contradicted', 'f'])('keeps its own words if the key is %s', async (key) => {
    const { evidence } = await writeAndRead(CONCLUSION, { secrets: [key] })
    expect(evidence.observations).toEqual(CONCLUSION.observations)
    expect(evidence.findings).toMatchObject([{ label: FINDING.label, pointer: FINDING.pointer }])
  })

  it.each<[what: string, changed: object | ((text: string) => string), message: string]>([
    ['another file', () => '{"log": {}}', 'This is no evidence file; verify, check and proxy write one'],
    ['a file of another version', { format_version: 3 }, '#/format_version: Another version of this program has made'],
    ['a missing part', { observations: undefined }, '#/observations: The value is missing.'],
    ['what has no name', { observations: [{ id: 'B' }] }, '#/observations/0/permits: The value is missing.'],
    [
      'another contract',
      { contract: { digest: '0'.repeat(64), overlays: ['ours.yaml'] } },
      '#/contract/digest: This is evidence about other choices, made with the overlay ours.yaml: give the same, or',
    ],
  ])('is refused: %s', async (_, changed, message) => {
    const file = join(temporaryFolder(), 'evidence.json')
    const evidence = describeEvidence(CONCLUSION, options())
    const isText = typeof changed === 'function'
    writeFileSync(file, isText ? changed(JSON.stringify(evidence)) : JSON.stringify({ ...evidence, ...changed }))
    await expect(readEvidence(file, choices)).rejects.toThrow(message)
  })
})

describe('joinEvidence', () => {
  it('joins files: equal observations are one, and counts are added', () => {
    const half = (name: string, permits: number[]) => {
      const observations = [...CONCLUSION.observations, { id: 'retry-after', permits, evidence: [name], count: 1 }]
      const messages = { not_found: [`From ${name}.`] }
      return describeEvidence(
        { ...CONCLUSION, observations, messages },
        options({ targets: [`https://${name}.example`] }),
      )
    }
    const joined = joinEvidence(half('a', [0, 1]), half('b', [1]))
    expect(joined).toMatchObject({
      exchanges: 24,
      judged: 20,
      targets: ['https://a.example', 'https://b.example'],
      messages: { not_found: ['From a.', 'From b.'] },
    })
    expect(joined.observations).toEqual([
      { id: 'create-group-status', permits: [1], evidence: ['r-2'], count: 2 },
      { id: 'domain-order', permits: [0, 2], evidence: ['r-3'], count: 8 },
      { id: 'retry-after', permits: [0, 1], evidence: ['a'], count: 1 },
      { id: 'retry-after', permits: [1], evidence: ['b'], count: 1 },
    ])
  })
})
