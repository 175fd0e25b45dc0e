import fc from 'fast-check'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import type { ChoiceObservation } from '../../src/choices/observation.ts'
import { type Alternative, nameOf } from '../../src/contract/choices.ts'
import { applyOverlay } from '../../src/contract/overlay.ts'
import { calibrate, readCalibration } from '../../src/evidence/calibration.ts'
import { describeEvidence, type EvidenceContent } from '../../src/evidence/evidence-file.ts'
import { messagesIn } from '../../src/evidence/messages.ts'
import { isObject, type Json, mergePatch, stepsOf, valueAt } from '../../src/ground/json.ts'
import { choices } from '../support/choices.ts'

const SEED = 14_018
const { source } = choices.contract.document

function evidenceOf(observations: ChoiceObservation[], messages: Record<string, string[]> = {}): EvidenceContent {
  return describeEvidence(
    { exchanges: 5, judged: 5, findings: [], counts: {}, observations, messages },
    { tool: 'check', choices, targets: ['https://api.example.com'], at: 0 },
  )
}

const see = (evidence: string, ...allows: ChoiceObservation['allows'][number][]): ChoiceObservation => ({
  allows,
  evidence: [evidence],
  count: 1,
})
const seen = ({ id, number }: Pick<Alternative, 'id' | 'number'>) => see(`r-${id}`, { [id]: number })

/** The document with alternatives, without any overlay. */
function patched(alternatives: readonly Alternative[]): Json {
  return alternatives.reduce(
    (document, { assumption, value }) => patchAt(document, stepsOf(assumption.place), value),
    source,
  )
}

function patchAt<Value>(value: Value, [step, ...rest]: readonly string[], patch: Json): Value {
  if (step === undefined) return mergePatch(value, patch) as Value
  const inner = patchAt((value as Json)[step], rest, patch)
  if (Array.isArray(value)) return value.with(Number(step), inner) as Value
  return { ...value, [step]: inner }
}

async function overlayOf(evidence: EvidenceContent) {
  return readCalibration(await calibrate(evidence, choices), 'seen')
}

async function documentAfter(evidence: EvidenceContent): Promise<Json> {
  return applyOverlay(source, await overlayOf(evidence))
}

describe('calibrate', () => {
  it(`makes one overlay of one choice or several, in which each has its effect (seed ${SEED})`, async () => {
    const ids = choices.ids.filter((id) => choices.alternatives.some((each) => each.id === id))
    const sets = fc
      .subarray(ids, { minLength: 1 })
      .chain((some) =>
        fc.tuple(...some.map((id) => fc.constantFrom(...choices.alternatives.filter((each) => each.id === id)))),
      )
    await fc.assert(
      fc.asyncProperty(sets, async (some) => {
        expect(await documentAfter(evidenceOf(some.map(seen)))).toEqual(patched(some))
      }),
      { seed: SEED, numRuns: 6 },
    )
  })

  it('explains each group of actions in a comment', async () => {
    const evidence = evidenceOf([{ allows: [{ 'create-group-status': 1 }], evidence: ['r-1', 'r\n2: [x]'], count: 2 }])
    const { text, chosen } = await calibrate(evidence, choices)
    expect(chosen.map(nameOf)).toEqual(['create-group-status/1'])
    const { spec } = choices.assumptions.find(({ id }) => id === 'create-group-status') ?? {}
    expect(text.replaceAll(/\n *# /g, ' ')).toContain(
      `create-group-status: ${spec} Alternative 1, seen in r-1, r\\u000a2: [x].`,
    )
    const info = { title: 'What https://api.example.com was seen to do' }
    expect(load(text)).toMatchObject({ overlay: '1.0.0', info })
  })

  it('leaves out what is contradicted or undecided, and says what would decide it', async () => {
    const evidence = evidenceOf([
      seen({ id: 'head', number: 0 }),
      see('r-2', { head: 1 }),
      see('r-3', { 'body-limit': 1 }, { 'body-limit': 2 }),
    ])
    const { text, chosen, assumptions } = await calibrate(evidence, choices)
    expect(chosen).toEqual([])
    expect(text).toContain('Not in here, because exchanges contradict each other: head (')
    const of = (id: string) => assumptions.find((each) => each.id === id)
    expect(of('head')).toMatchObject({
      verdict: 'contradicted',
      evidence: expect.arrayContaining(['r-head', 'r-2']),
      decide_with: { requests: [{ method: 'HEAD', path: '/domains' }], look: 'the status' },
    })
    expect(of('body-limit')).toMatchObject({ verdict: 'undecided', left: [1, 2], decide_with: expect.anything() })
    expect(of('count-period')).toMatchObject({ verdict: 'undecided', unobservable: expect.any(String) })
  })
})

describe('messages', () => {
  const NAMES = ['The parameter `id` is missing.', 'The parameter `group` is missing.']

  it.each<[code: string, texts: string[], template?: string]>([
    ['no_fields_to_update', ['Nothing to update'], 'Nothing to update'],
    ['missing_id', NAMES, 'The parameter {field} is missing.'],
    // What a request had may be in it.
    ['duplicate_name', ['Shop exists already.']],
    // Several reasons share the code.
    ['unauthorized', ['No.']],
    // No placeholder stands for what is different.
    ['no_fields_to_update', ['Nothing.', 'Never.']],
  ])('of %s that are %j become the template %j', (of, texts, template) => {
    const found = messagesIn({ [of]: texts }, choices.contract, source)
    expect(found.map((each) => each.template)).toEqual(template === undefined ? [] : [template])
  })

  it('are put where a server reads them', async () => {
    const messages = { conflicting_fields: ['Not both.'], deleteDomains: ['They are gone.'] }
    const document = await documentAfter(evidenceOf([], messages))
    expect(valueAt(document, '/components/x-errors/conflicting_fields/message')).toBe('Not both.')
    expect(valueAt(document, '/components/schemas/DeletedDomains/properties/message/default')).toBe('They are gone.')
    const changed = Object.keys(document).filter((key) => isObject(document[key]) && document[key] !== source[key])
    expect(changed).toEqual(['components'])
  })
})
