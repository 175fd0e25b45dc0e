import { describe, expect, it } from 'vitest'
import { valueAt } from '../../src/ground/json.ts'
import { controlApi } from '../support/control-plane.ts'
import { contract } from './accepted.ts'
import { answersTo, expectPromised, values } from './corrupted-answers.ts'

const KINDS = valueAt(controlApi.document.source, '/components/schemas/FaultRule/properties/corrupt/enum') as string[]
const RECORDS = 'GET /dmarc'
const OPEN_POLICIES = { target: '$.components.schemas.Policy.enum', remove: true }

/** The requests of which each kind changes the answer; only two answers have values from a list. */
const REQUESTS: readonly [request: string, hasEnum: boolean][] = [
  [RECORDS, true],
  ['GET /domains', false],
  ['GET /domaingroups', false],
  // A refusal, because the id is missing.
  ['DELETE /domaingroups', true],
]

describe('An answer is changed as the kind promises and the contract proves, in many ways', () => {
  it.each(REQUESTS.flatMap(([request, hasEnum]) => KINDS.map((kind) => [kind, request, hasEnum] as const)))(
    '%s: %s',
    async (kind, request, hasEnum) => {
      const answers = await answersTo(kind, { request, count: 8 })
      const { changed, genuine } = answers
      expect(answers.response.check(JSON.parse(genuine))).toEqual([])
      if (kind === 'unknown-enum' && !hasEnum) {
        const change = 'The answer has nothing that unknown-enum could change.'
        expect(changed).toEqual(changed.map(() => ({ text: genuine, change, injected: false })))
        return
      }
      for (const each of changed) expectPromised(kind, answers, each)
      if (request === RECORDS) expect(new Set(changed.map(({ text }) => text)).size).toBeGreaterThan(3)
    },
  )

  it('at places all over a long one', async () => {
    const domains = Array.from({ length: 400 }, (_, index) => `d${index}.example`)
    const { changed } = await answersTo('missing-field', { request: RECORDS, fixture: { domains } })
    const places = changed.map(({ change }) => Number(change.split('/')[2]))
    expect([Math.min(...places) < 100, Math.max(...places) > 300, new Set(places).size > 20]).toEqual([
      true,
      true,
      true,
    ])
  })
})

describe('A bad envelope', () => {
  it('of a success is one of these', async () => {
    const { genuine, changed } = await answersTo('bad-envelope', { request: 'GET /domains', count: 120 })
    const data = JSON.stringify(JSON.parse(genuine).data)
    expect(new Set(changed.map(({ text }) => text))).toEqual(
      new Set([
        `{"data":${data}}`,
        `{"success":false,"data":${data}}`,
        `{"success":"true","data":${data}}`,
        '{"success":true}',
        `{"success":true,"data":${data},"error":null}`,
        data,
        `[{"success":true,"data":${data}}]`,
        '{}',
        'null',
      ]),
    )
  })
})

describe('Malformed JSON', async () => {
  const { changed } = await answersTo('malformed-json', { request: RECORDS, count: 80 })

  it.each<[how: string, change: RegExp, text: RegExp]>([
    ['cut off', /^The answer was cut off after \d+ of \d+ characters\.$/, /^\{/],
    ['with a trailing comma', /^The answer got a trailing comma\.$/, /,\}$/],
    ['in single quotes', /^The strings of the answer were put in single quotes\.$/, /^\{'success':true,'data':\[/],
    ['an error page', /^The answer became an error page in HTML\.$/, /^<html>/],
    ['two documents', /^The answer was sent twice\.$/, /\}\n\{"success"/],
  ])('may be %s', (_, change, text) => {
    expect(changed.find((each) => change.test(each.change))?.text).toMatch(text)
  })
})

describe('A value', async () => {
  const fixture = { domains: [{ name: 'a.example', record: { dmarc: 100 } }] }
  const { changed: mistyped } = await answersTo('wrong-type', { request: RECORDS, count: 200, fixture })

  it.each([
    ...['"dmarc":"100"', '"dmarc":[100]', '"dmarc":null', '"domain":9,', '"domain":{"value":"a.example"}'],
    ...['"data":{"0":{"domain"', '"data":null}', '"data":""}', ':[[{"domain"'],
  ])('of the wrong type may be written %s', (part) => {
    expect(mistyped.some(({ text }) => text.includes(part))).toBe(true)
  })

  it('that is unknown is in every field of every record whose values the contract lists', async () => {
    const policies = valueAt(contract.document.resolved, '/components/schemas/Policy/enum')
    const { changed } = await answersTo('unknown-enum', { request: RECORDS })
    for (const { text, change } of changed) {
      for (const { p, sp, np, testing } of JSON.parse(text).data) {
        for (const value of [p, sp, np]) expect(policies).not.toContain(value)
        expect(['y', 'n']).not.toContain(testing)
      }
      expect(change).toMatch(/^\/data\/0\/\w+ became the new value .+, and 11 more fields got new values, too\.$/)
    }
  })
})

describe('A compatible answer', async () => {
  const { changed } = await answersTo('compatible', { request: RECORDS, count: 200 })

  it.each(REQUESTS)('says the same where the contract leaves no room: %s', async (request) => {
    const { genuine, changed: some } = await answersTo('compatible', { request })
    for (const { text } of some) expect(values(JSON.parse(text))).toEqual(values(JSON.parse(genuine)))
  })

  it.each<[how: string, change: RegExp, text: RegExp]>([
    ['with its properties in another order', /^The properties of the answer were written in another/, /^\{"/],
    [
      'with lines',
      /^The answer was written with a line for each value\.$/,
      /^\{\n {2}"success": true,\n {2}"data": \[\n/,
    ],
    ['with a line break at its end', /^The answer was ended with a line break\.$/, /\n$/],
    ['with escapes', /^All dots between letters of the answer were written as escapes\.$/, /[a-z]\\u002e[a-z]/],
    ['without decimals', /^The numbers of the answer were written without zeros/, /"dmarc":100,.*"spf":0,/],
    ['with its items in another order', /^The items of \/data were put in another order/, /"b\.example".*"a\.example"/],
  ])('may be written %s', (_, change, text) => {
    expect(changed.filter((each) => change.test(each.change)).some((each) => text.test(each.text))).toBe(true)
  })

  it('has a new value where an overlay took the list of values away, and no unknown value is left there', async () => {
    const open = await answersTo('compatible', { request: RECORDS, actions: [OPEN_POLICIES] })
    for (const each of open.changed) expectPromised('compatible', open, each)
    const fresh = open.changed.filter(({ change }) => change.includes(' became the new value '))
    expect(fresh.length).toBeGreaterThan(5)
    const unknown = await answersTo('unknown-enum', { request: RECORDS, actions: [OPEN_POLICIES] })
    for (const { change } of unknown.changed) expect(change).toMatch(/^\/data\/\d\/testing /)
  })
})
