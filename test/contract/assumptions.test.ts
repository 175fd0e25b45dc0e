import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Assumption, overlayFor } from '../../src/contract/assumptions.ts'
import { type Contract, loadContract } from '../../src/contract/contract.ts'
import type { ErrorCode } from '../../src/domain/errors.ts'
import { type Json, mergePatch, valueAt } from '../../src/ground/json.ts'
import { alternatives, assumptions, document } from '../support/alternatives.ts'
import { objectAt } from '../support/own-document.ts'

describe('every assumption', () => {
  it.each(assumptions.map((assumption) => [assumption.id, assumption] as const))('%s', (_, assumption) => {
    expect(assumption.spec).toMatch(/^\S[^\n]*[^.\s]\.$/)
    expect(valueAt(document.source, `${assumption.place}/x-assumption/id`)).toBe(assumption.id)
    for (const alternative of assumption.alternatives) {
      const holder = objectAt(document.source, assumption.place)
      expect(mergePatch(holder, alternative), 'an alternative differs from the choice').not.toEqual(holder)
    }
  })
})

/** Each operation answers each of its codes with all of the statuses of the catalogue and with no other. */
function expectCodesInPlace(contract: Contract): void {
  for (const operation of contract.operations) {
    const declared = new Map<string, number[]>()
    for (const { status, codes, constantHeaders } of operation.responses.values()) {
      expect(codes.size > 0, `${operation.id} ${status}`).toBe(status >= 400)
      for (const code of codes) declared.set(code, [...(declared.get(code) ?? []), status].toSorted())
      if (!codes.has('unauthorized')) expect(constantHeaders, `${operation.id} ${status}`).toEqual({})
    }
    for (const [code, statuses] of declared) {
      const stated = [...contract.catalogue.statusesOf(code as ErrorCode)].toSorted()
      expect(statuses, `${operation.id} ${code}`).toEqual(stated)
    }
    expect([...declared.keys()]).toEqual(expect.arrayContaining(['unauthorized', 'rate_limited', 'internal_error']))
  }
}

describe('an overlay of alternatives', () => {
  const load = (chosen: readonly (typeof alternatives)[number][]) =>
    loadContract({
      overlays: chosen.map(([, , assumption, alternative]) => overlayFor(assumption, alternative, document.source)),
    })
  it('loads whichever are chosen together, and every code stands under its statuses (seed 20260115)', async () => {
    const choices = assumptions
      .map(({ id }) => alternatives.filter(([of]) => of === id))
      .filter(({ length }) => length > 0)
      .map((each) => fc.option(fc.constantFrom(...each), { freq: 2 }))
    await fc.assert(
      fc.asyncProperty(fc.tuple(...choices), async (chosen) => {
        expectCodesInPlace(await load(chosen.filter((each) => each !== null)))
      }),
      { seed: 20260115, numRuns: 3 },
    )
  })

  it('says what a removed field and a replaced one come to', () => {
    const holder = { a: { kept: [1] }, b: [1], c: 'x' }
    const assumption: Assumption = { id: 'x', place: "/it's/0", spec: 'Open.', choice: {}, alternatives: [] }
    const alternative = { a: { more: 1 }, b: [2], c: null, d: 4 }
    expect(overlayFor(assumption, alternative, { "it's": [holder] })).toEqual({
      name: 'x',
      actions: [
        { target: String.raw`$['it\'s'][0]['b']`, remove: true },
        { target: String.raw`$['it\'s'][0]['c']`, remove: true },
        { target: String.raw`$['it\'s'][0]`, update: { a: { more: 1 }, b: [2], d: 4 } },
      ],
    })
  })
})

describe('what is listed of an assumption', () => {
  const group = { $ref: '#/components/schemas/DomainGroup' }

  it.each<[id: string, choice: Json]>([
    ['body-limit', { value: 1_048_576 }],
    [
      'add-domains-status',
      { responses: { '200': { $ref: '#/components/responses/DomainsAdded' }, '202': null, '201': null } },
    ],
    ['request-id-format', { format: 'uuid', pattern: null }],
    ['www-authenticate', { headers: { 'WWW-Authenticate': { $ref: '#/components/headers/WWW-Authenticate' } } }],
    ['update-group-response', { required: ['group'], properties: { message: null, group } }],
    ['policies', { type: 'string', enum: ['none', 'quarantine', 'reject'], description: expect.any(String) }],
  ])('%s is the choice of the document, where an alternative would change it', (id, choice) => {
    expect(assumptions.find((assumption) => assumption.id === id)?.choice).toEqual(choice)
  })
})
