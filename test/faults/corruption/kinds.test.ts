import { describe, expect, it } from 'vitest'
import type { ResponseContract } from '../../../src/contract/api.ts'
import { type Json, valueAt } from '../../../src/ground/json.ts'
import { contract } from '../../service/refusals.ts'
import { corrupt, differences, drawsOf, outcomes, records, refusalOf, successOf, unauthorized } from './outcomes.ts'

describe('A bad envelope', () => {
  const texts = (answer: unknown, response: ResponseContract) =>
    new Set(outcomes('bad-envelope', response.write(answer), response).map(({ body }) => body.toString()))

  it('of a success is one of these', () => {
    const data = '{"group":{"id":"4fTq81Zb","name":"Lamps","domains":["a.example"]}}'
    const error = '{"code":"unknown","message":"Unknown error."}'
    expect(texts({ success: true, data: JSON.parse(data) }, successOf('createDomainGroup'))).toEqual(
      new Set([
        `{"data":${data}}`,
        `{"success":false,"data":${data}}`,
        `{"success":"true","data":${data}}`,
        `{"success":1,"data":${data}}`,
        '{"success":true}',
        `{"success":true,"data":${data},"error":null}`,
        `{"success":true,"data":${data},"error":${error}}`,
        data,
        `[{"success":true,"data":${data}}]`,
        '{}',
        '[]',
        'null',
      ]),
    )
  })

  it('of a refusal is one of these', () => {
    const error = '{"code":"unauthorized","message":"A valid API key is required."}'
    expect(texts(unauthorized, refusalOf(401))).toEqual(
      new Set([
        `{"error":${error}}`,
        `{"success":true,"error":${error}}`,
        `{"success":"false","error":${error}}`,
        `{"success":0,"error":${error}}`,
        '{"success":false}',
        `{"success":false,"error":${error},"data":null}`,
        `{"success":false,"error":${error},"data":{}}`,
        error,
        `[{"success":false,"error":${error}}]`,
        '{}',
        '[]',
        'null',
      ]),
    )
  })
})

describe('Malformed JSON', () => {
  const response = successOf('listDmarc')
  const text = response.write(records)
  const made = outcomes('malformed-json', text, response)

  it.each<[how: string, change: RegExp, body: RegExp]>([
    ['cut off', /^The answer was cut off after \d+ of \d+ characters\.$/, /^\{/],
    ['with a trailing comma', /^(The answer|\/data(\/\d)?) got a trailing comma\.$/, /,[}\]]/],
    [
      'in single quotes',
      /^The strings of the answer were put in single quotes\.$/,
      /^\{'success':true,'data':\[\{'dom/,
    ],
    ['an error page', /^The answer became an error page in HTML\.$/, /^<html>/],
    ['with NaN', /^\/data\/\d\/(pct|dmarc|dkim|spf|count) became NaN\.$/, /:NaN[,}]/],
    ['with a raw line break', /^\/data\/\d\/\w+ got a line break that is not escaped\.$/, /\n"/],
    ['two documents', /^The answer was sent twice\.$/, /\}\n\{"success"/],
  ])('may be %s', (_, change, body) => {
    const found = made.find((corrupted) => change.test(corrupted.change))
    expect(found?.body.toString()).toMatch(body)
  })

  it('is never cut within a character', () => {
    const answer = response.write({ success: true, data: '😀'.repeat(200) })
    for (const { body } of outcomes('malformed-json', answer, { ...response, check: () => [] })) {
      expect(body.toString()).not.toContain('\ufffd')
    }
  })
})

describe('A value of the wrong type', () => {
  const WAYS = ['"dmarc":"100.0"', '"dmarc":[100.0]', '"dmarc":null', '"domain":9,', '"domain":{"value":"a.example"}']
  it.each([...WAYS, '"data":{"0":{"domain"', '"data":null}', '"data":""}', ':[[{"domain"'])(
    'may be written %s',
    (part) => {
      const response = successOf('listDmarc')
      const one = response.write({ success: true, data: records.data.slice(0, 1) })
      const seeds = Array.from({ length: 600 }, (_, seed) => seed)
      const made = seeds.map((seed) => corrupt('wrong-type', one, response, drawsOf(seed))?.body.toString())
      expect(made.some((text) => text?.includes(part))).toBe(true)
    },
  )

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
  it('is in every field of every record whose values the contract lists, and in no list of the contract', () => {
    const response = successOf('listDmarc')
    const policies = valueAt(contract.document.resolved, '/components/schemas/Policy/enum')
    const made = outcomes('unknown-enum', response.write(records), response)
    for (const { body, change } of made) {
      const data: Json[] = JSON.parse(`${body}`).data
      for (const { p, sp, np } of data) for (const value of [p, sp, np]) expect(policies).not.toContain(value)
      for (const record of data) expect(['y', 'n']).not.toContain(record['testing'])
      expect(change).toMatch(/^\/data\/0\/\w+ became the new value .+, and 11 more fields got new values, too\.$/)
    }
    expect(new Set(made.map(({ body }) => JSON.parse(`${body}`).data[0].p)).size).toBeGreaterThan(4)
  })

  it('of an error code is neither one of the response nor of another', () => {
    const codes = new Set(contract.catalogue.codes)
    for (const { body } of outcomes('unknown-enum', JSON.stringify(unauthorized), refusalOf(401))) {
      expect(codes.has(JSON.parse(body.toString()).error.code)).toBe(false)
    }
  })
})
