import { describe, expect, it } from 'vitest'
import type { ResponseContract } from '../../../src/contract/api.ts'
import type { Json } from '../../../src/ground/json.ts'
import {
  changed,
  corrupt,
  drawsOf,
  expectPromised,
  GROUP,
  group,
  outcomes,
  records,
  refusalOf,
  SEEDS,
  successOf,
  unauthorized,
  values,
} from './outcomes.ts'

const OPEN_POLICIES = { target: '$.components.schemas.Policy.enum', remove: true }

const OPTIONAL_PCT = { target: "$.components.schemas.DmarcRecord.required[?@ == 'pct']", remove: true }

const OPEN_RECORDS = { target: '$.components.schemas.DmarcRecord', update: { additionalProperties: true } }

describe('A compatible answer', () => {
  const response = successOf('listDmarc')
  const text = response.write(records)

  it.each<[answer: string, body: unknown, response: ResponseContract]>([
    ['records', records, response],
    ['a group', group, successOf('listDomainGroups')],
    [
      'groups',
      { success: true, data: { groups: [GROUP, { ...GROUP, domains: [] }], count: 2 } },
      successOf('listDomainGroups'),
    ],
    ['a refusal', unauthorized, refusalOf(401)],
  ])('says the same where the contract leaves no room: %s', (_, body, of) => {
    const made = outcomes('compatible', of.write(body), of)
    expect(made).toHaveLength(SEEDS.length)
    for (const { body: bytes } of made) expect(values(JSON.parse(bytes.toString()))).toEqual(values(body))
  })

  it.each<[how: string, change: RegExp, body: RegExp]>([
    ['with its properties in another order', /^The properties of the answer were written in another order\.$/, /^\{"/],
    [
      'with lines',
      /^The answer was written with a line for each value\.$/,
      /^\{\n {2}"success": true,\n {2}"data": \[\n/,
    ],
    ['with tabs', /^The answer was written with tabs and line breaks\.$/, /^\{\r\n\t"success": true,\r\n\t"data"/],
    [
      'with spaces',
      /^The answer was written with spaces after commas and colons\.$/,
      /^\{"success": true, "data": \[\{"/,
    ],
    ['with a line break at its end', /^The answer was ended with a line break\.$/, /\n$/],
    ['with escapes', /^The characters of \/data\/\d\/\w+ were written as their codes\.$/, /"(\\u00[0-9a-f]{2})+"/],
    ['with a number in other words', /^\/data\/\d\/\w+ was written as [\d.e+-]+ instead of [\d.]+\.$/i, /^\{"/],
    ['with an exponent', /^\/data\/\d\/\w+ was written as \d(\.\d+)?e\+?\d instead of /i, /:\d(\.\d+)?e\+?\d[,}]/i],
    [
      'without decimals',
      /^The numbers of the answer were written without zeros at their end\.$/,
      /"dmarc":100,.*"spf":0,/,
    ],
  ])('may be written %s', (_, change, body) => {
    const seeds = Array.from({ length: 300 }, (_, seed) => seed)
    const made = seeds.map((seed) => corrupt('compatible', text, response, drawsOf(seed)))
    expect(made.find((each) => each && change.test(each.change))?.body.toString()).toMatch(body)
  })

  it('may have its items in another order', () => {
    const data = records.data.map((record, index) => ({ ...record, domain: `${index}.example` }))
    const made = outcomes('compatible', response.write({ success: true, data }), response)
    const orders = made
      .filter(({ change }) => change === 'The items of /data were put in another order.')
      .map(({ body }) =>
        JSON.parse(body.toString())
          .data.map(({ domain }: Json) => domain)
          .join(),
      )
    expect(new Set(orders).size).toBeGreaterThan(1)
    expect(orders).not.toContain('0.example,1.example,2.example')
  })

  it('may escape all characters beyond ASCII, or all slashes', () => {
    const of = successOf('createDomainGroup')
    const made = outcomes('compatible', of.write(group), of).map(({ body }) => body.toString())
    expect(made.some((each) => each.includes('\\u00dcn\\u00efc\\u00f6d\\u00e9/\\ud83d\\ude00"'))).toBe(true)
    expect(made.some((each) => each.includes('Ünïcödé\\/😀"'))).toBe(true)
  })

  it('has a new value where an overlay took the list of values away, and no unknown value is left there', async () => {
    const open = successOf('listDmarc', await changed(OPEN_POLICIES))
    const made = outcomes('compatible', text, open)
    for (const corrupted of made) expectPromised('compatible', text, open, corrupted)
    const fresh = made.filter(({ change }) => / became the new value /.test(change))
    expect(fresh.length).toBeGreaterThan(SEEDS.length / 2)
    expect(new Set(fresh.map(({ change }) => change.split(/[/ ]/)[3]))).toEqual(new Set(['p', 'sp', 'np']))
    for (const { body } of fresh) expect(response.check(JSON.parse(body.toString()))).not.toEqual([])
    for (const { change } of outcomes('unknown-enum', text, open)) expect(change).toMatch(/^\/data\/\d\/testing /)
  })

  it('has no new error code, which the response lists beside its schema', async () => {
    const open = await changed({ target: '$.components.schemas.ErrorCode.enum', remove: true })
    const [refusal, answer] = [refusalOf(401, 'addDomains', open), JSON.stringify(unauthorized)]
    for (const { change } of outcomes('compatible', answer, refusal)) expect(change).not.toContain('new value')
    const made = outcomes('unknown-enum', answer, refusal)
    expect(made).toHaveLength(SEEDS.length)
    for (const corrupted of made) expectPromised('unknown-enum', answer, refusal, corrupted)
  })

  it('lacks a field that an overlay made optional, which no missing field is then', async () => {
    const open = successOf('listDmarc', await changed(OPTIONAL_PCT))
    const made = outcomes('compatible', text, open)
    for (const corrupted of made) expectPromised('compatible', text, open, corrupted)
    const without = made.filter(({ change }) => /^\/data\/\d\/pct, which is not required, was left out\.$/.test(change))
    expect(without.length).toBeGreaterThan(SEEDS.length / 2)
    for (const { body } of without) expect(body.toString().match(/"pct"/g)).toHaveLength(2)
    const missing = outcomes('missing-field', text, open)
    expect(missing).toHaveLength(SEEDS.length)
    for (const { change } of missing) expect(change).not.toContain('/pct')
  })

  it.each([
    ['allows them', OPEN_RECORDS],
    ['does not mention them', { target: '$.components.schemas.DmarcRecord.additionalProperties', remove: true }],
  ])('has a further property where an overlay %s, which no extra field is then', async (_, action) => {
    const open = successOf('listDmarc', await changed(action))
    const made = outcomes('compatible', text, open)
    for (const corrupted of made) expectPromised('compatible', text, open, corrupted)
    const added = made.filter(({ change }) => /^\/data\/\d\/\w+ was added\.$/.test(change))
    expect(added.length).toBeGreaterThan(SEEDS.length / 2)
    const extra = outcomes('extra-field', text, open)
    expect(extra).toHaveLength(SEEDS.length)
    for (const { change } of extra) expect(change).toMatch(/^\/\w+ was added\.$/)
  })

  it('uses every freedom of a contract that gives several', async () => {
    const open = successOf('listDmarc', await changed(OPEN_POLICIES, OPTIONAL_PCT, OPEN_RECORDS))
    const made = outcomes('compatible', text, open).map(({ change }) => change)
    for (const pattern of [
      / new value /,
      /pct, which is not required/,
      / was added/,
      / order\.$| codes\.$| written /,
    ]) {
      expect(made.filter((change) => pattern.test(change)).length).toBeGreaterThan(3)
    }
  })
})
