import { describe, expect, it } from 'vitest'
import { type Json, valueAt } from '../../../src/ground/json.ts'
import { contract } from '../../service/refusals.ts'
import { corrupt, differences, drawsOf, outcomes, records, refusalOf, successOf, unauthorized } from './outcomes.ts'

describe('A value of the wrong type', () => {
  it.each<[text: string]>([
    ['"dmarc":"100.0"'],
    ['"dmarc":[100.0]'],
    ['"dmarc":null'],
    ['"domain":9,'],
    ['"domain":{"value":"a.example"}'],
    ['"data":{"0":{"domain"'],
    ['"data":null}'],
    ['"data":""}'],
    [':[[{"domain"'],
  ])('may be written %s', (part) => {
    const response = successOf('listDmarc')
    const one = { success: true, data: records.data.slice(0, 1) }
    const seeds = Array.from({ length: 600 }, (_, seed) => seed)
    const made = seeds.map((seed) =>
      corrupt('wrong-type', response.write(one), response, drawsOf(seed))?.body.toString(),
    )
    expect(made.some((text) => text?.includes(part))).toBe(true)
  })

  it('touches no other byte', () => {
    const response = successOf('listDmarc')
    const text = response.write(records)
    const scalars = outcomes('wrong-type', text, response).filter(({ change }) => /^\/data\/\d\/\w+ /.test(change))
    expect(scalars.length).toBeGreaterThan(20)
    for (const { body } of scalars) {
      const corrupted = body.toString()
      const [ahead, behind] = [commonStart(text, corrupted), commonStart(reversed(text), reversed(corrupted))]
      const [difference] = differences(JSON.parse(text), JSON.parse(corrupted))
      expect(text.length - ahead - behind).toBeLessThanOrEqual(JSON.stringify(difference?.before).length + '.0'.length)
    }
  })
})

function commonStart(one: string, other: string): number {
  let length = 0
  while (length < Math.min(one.length, other.length) && one[length] === other[length]) length++
  return length
}

function reversed(text: string): string {
  return [...text].toReversed().join('')
}

describe('An unknown value', () => {
  it('is in no list of the contract', () => {
    const response = successOf('listDmarc')
    const policies = valueAt(contract.document.resolved, '/components/schemas/Policy/enum') as string[]
    const made = outcomes('unknown-enum', response.write(records), response).map(({ body }) => JSON.parse(`${body}`))
    const policiesMade = new Set(made.flatMap(({ data }) => data.flatMap((each: Json) => [each['p'], each['np']])))
    expect(policiesMade.size).toBeGreaterThan(5)
    expect([...policiesMade].filter((policy) => !policies.includes(policy as string)).length).toBeGreaterThan(4)
  })

  it('of an error code is neither one of the response nor of another', () => {
    const codes = new Set(contract.catalogue.codes)
    for (const { body } of outcomes('unknown-enum', JSON.stringify(unauthorized), refusalOf(401))) {
      expect(codes.has(JSON.parse(body.toString()).error.code)).toBe(false)
    }
  })
})
