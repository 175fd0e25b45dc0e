import fc from 'fast-check'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { type Alternative, nameOf } from '../../src/contract/choices.ts'
import { applyOverlay } from '../../src/contract/overlay.ts'
import { calibrate, messagesIn, readCalibration } from '../../src/evidence/calibration.ts'
import { describeEvidence, type Evidence } from '../../src/evidence/evidence-file.ts'
import { type Json, mergePatch, stepsOf, valueAt } from '../../src/ground/json.ts'
import type { ChoiceObservation } from '../../src/judge/open-choice.ts'
import { choices } from '../support/choices.ts'

const SEED = 14_018
const { source } = choices.contract.document

function evidenceOf(observations: ChoiceObservation[], messages: Record<string, string[]> = {}): Evidence {
  return describeEvidence(
    { exchanges: 5, judged: 5, findings: [], observations, messages },
    { tool: 'check', choices, targets: ['https://api.example.com'], at: 0 },
  )
}

const see = (id: string, permits: number[], ...evidence: string[]): ChoiceObservation => {
  return { id, permits, evidence, count: 1 }
}
const seen = ({ id, number }: Pick<Alternative, 'id' | 'number'>) => see(id, [number], `r-${id}`)

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

async function documentAfter(evidence: Evidence): Promise<Json> {
  return applyOverlay(source, await readCalibration(await calibrate(evidence, choices), 'seen'))
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
      { seed: SEED, numRuns: 3 },
    )
  })

  it('explains each group of actions in a comment', async () => {
    const evidence = evidenceOf([see('create-group-status', [1], 'r-1', 'r\n2: [x]')])
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
      see('already-monitored', [0], 'r-1'),
      see('already-monitored', [1, 2], 'r-2'),
      see('body-limit', [1, 2], 'r-3'),
    ])
    const { text, chosen, assumptions } = await calibrate(evidence, choices)
    expect(chosen).toEqual([])
    expect(text).toContain('Not in here, because exchanges contradict each other: already-monitored (r-1, r-2).')
    const of = (id: string) => assumptions.find((each) => each.id === id)
    expect(of('already-monitored')).toMatchObject({
      verdict: 'contradicted',
      evidence: ['r-1', 'r-2'],
      decide_with: { requests: [{ method: 'POST', path: '/domains' }], look: expect.any(String) },
    })
    expect(of('body-limit')).toMatchObject({ verdict: 'undecided', left: [1, 2], decide_with: expect.anything() })
    expect(of('plan-names')).toMatchObject({ verdict: 'undecided', unobservable: expect.any(String) })
  })
})

describe('messages', () => {
  it.each<[what: string, code: string, texts: string[], isCertain: boolean]>([
    ['that was always the same', 'no_fields_to_update', ['Nothing to update.'], true],
    ['that was another one once', 'no_fields_to_update', ['Nothing.', 'Never.'], false],
    [
      'that the document has already',
      'no_fields_to_update',
      [`${valueAt(source, '/x-errors/no_fields_to_update/message')}`],
      false,
    ],
    ['that a domain may be in', 'not_monitored', ['There is no shop.example.'], false],
    ['that an id may be in', 'missing_id', ['No kT6hGx2a was found.'], false],
    ['that a number may be in', 'missing_id', ['Only 3 are left.'], false],
    ['that quotes something', 'missing_id', ['The parameter `id` is missing.'], false],
    ['that the name of a group may be in', 'duplicate_name', ['Shop exists already.'], false],
    ['of a code with several reasons', 'unauthorized', ['No.'], false],
    ['of an unknown code', '__proto__', ['No.'], false],
  ])('%s: of %s, %j', (_, of, texts, isCertain) => {
    const found = messagesIn(Object.fromEntries([[of, texts]]), source)
    expect(found.map((each) => [each.of, each.text])).toEqual(isCertain ? [[of, texts[0]]] : [])
  })

  it('are put where a server reads them', async () => {
    const messages = {
      conflicting_fields: ['Not both.'],
      deleteDomains: ['They are gone.'],
      deleteDomainGroup: ['It is gone.'],
      updateDomainGroup: ['It is changed.'],
    }
    // Only under this alternative, a changed group is answered with a message.
    const choice = seen({ id: 'update-group-response', number: 1 })
    const document = await documentAfter(evidenceOf([choice], messages))
    expect(valueAt(document, '/x-errors/conflicting_fields/message')).toBe('Not both.')
    const textOf = (schema: string) => valueAt(document, `/components/schemas/${schema}/properties/message/default`)
    const texts = ['DeletedDomains', 'DeletedDomainGroup', 'UpdatedDomainGroup'].map(textOf)
    expect(texts).toEqual(['They are gone.', 'It is gone.', 'It is changed.'])
  })
})
