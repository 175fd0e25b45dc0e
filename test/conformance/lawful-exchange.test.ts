import { describe, expect, it } from 'vitest'
import { Permitted } from '../../src/choices/permitted.ts'
import { type ArrivedRequest, createLawfulCheck } from '../../src/conformance/lawful-exchange.ts'
import { judgeSingle } from '../../src/conformance/single-exchange.ts'
import { readChoices } from '../../src/contract/choices.ts'
import type { SeenResponse } from '../../src/exchanges/exchange.ts'
import { Keys, readFields } from '../../src/exchanges/keys.ts'
import { createReader } from '../../src/exchanges/reading.ts'

const KEY = ['Authorization', 'Bearer key_aB3dE5gH.0123456789']
const JSON_TYPE = ['Content-Type', 'application/json']
const FIELDS = {
  'content-type': 'application/json',
  'x-request-id': '6b5bd7b8-6a8e-4c5c-9f4f-0c8d5a1f0b11',
  'x-ratelimit-limit': '30',
  'x-ratelimit-remaining': '29',
  'x-ratelimit-reset': '1768471200',
}
const LIST = '{"success":true,"data":{"domains":["a.example"]}}'
const ADDED = '{"success":true,"data":{"message":"Added.","domains":["a.example"],"count":1}}'

const request = (more: Partial<Omit<ArrivedRequest, 'body'>> & { text?: string } = {}): ArrivedRequest => {
  const { text = '', ...others } = more
  const body = { isKnown: true, bytes: Buffer.from(text) } as const
  return { method: 'GET', target: '/api/v1/domains', rawHeaders: KEY, body, ...others }
}
const adding = (text: string, rawHeaders = [...KEY, ...JSON_TYPE]) => request({ method: 'POST', text, rawHeaders })
const response = (text: string, fields: object = {}, status = 200): SeenResponse => {
  const headers = Object.entries({ ...FIELDS, ...fields }).filter(([, value]) => value !== undefined)
  return {
    status,
    headers: readFields(headers, (each) => each),
    body: { isKnown: true, bytes: Buffer.from(text) },
  }
}

const REQUESTS: Record<string, ArrivedRequest> = {
  list: request(),
  add: adding('{"domains":["a.example"]}'),
  'add with a charset': adding('{"domains":["a.example"]}', [
    ...KEY,
    'content-type',
    'application/json; charset=utf-8',
  ]),
  'a wrong type': adding('{"domains":3}'),
  'an unknown field': adding('{"domains":["a.example"],"x":1}'),
  'no hostname': adding('{"domains":["-"]}'),
  'no JSON': adding('{'),
  'no body': adding(''),
  'invalid UTF-8': { ...adding(''), body: { isKnown: true, bytes: Buffer.from([0x22, 0xff, 0x22]) } },
  'two types': adding('{"domains":["a.example"]}', [...KEY, ...JSON_TYPE, ...JSON_TYPE]),
  'another type': adding('{"domains":["a.example"]}', [...KEY, 'Content-Type', 'text/plain']),
  'a coding': adding('{"domains":["a.example"]}', [...KEY, ...JSON_TYPE, 'Content-Encoding', 'gzip']),
  'no key': request({ rawHeaders: [] }),
  'two keys': request({ rawHeaders: [...KEY, ...KEY] }),
  'another scheme': request({ rawHeaders: ['Authorization', 'Basic a:b'] }),
  'two words': request({ rawHeaders: ['Authorization', 'Bearer a b'] }),
  'an unknown parameter': request({ target: '/api/v1/domains?x=1' }),
  'an unknown path': request({ target: '/api/v1/nothing' }),
  'another base path': request({ target: '/api/v10/domains' }),
  'a final slash': request({ target: '/api/v1/domains/' }),
  'an unknown method': request({ method: 'PATCH' }),
  head: request({ method: 'HEAD' }),
}
const RESPONSES: Record<string, SeenResponse> = {
  list: response(LIST),
  added: response(ADDED),
  created: response(ADDED, {}, 201),
  'another status': response(LIST, {}, 418),
  'a failure': response(LIST, {}, 503),
  'a wrong type': response('{"success":true,"data":{"domains":3}}'),
  'no data': response('{"success":true}'),
  'no success': response('{"data":{"domains":[]}}'),
  'an unknown field': response('{"success":true,"data":{"domains":[],"total":0}}'),
  'no hostname': response('{"success":true,"data":{"domains":["-"]}}'),
  'a refusal': response('{"success":false,"error":{"code":"unauthorized","message":"No."}}', {}, 401),
  'no JSON': response('['),
  empty: response(''),
  unknown: { ...response(LIST), body: { isKnown: false, reason: 'It is too long.' } },
  'no type': response(LIST, { 'content-type': undefined }),
  html: response(LIST, { 'content-type': 'text/html' }),
  'no id': response(LIST, { 'x-request-id': undefined }),
  'a wrong id': response(LIST, { 'x-request-id': '[1]' }),
  'no limit': response(LIST, { 'x-ratelimit-limit': undefined }),
  'more left than the limit': response(LIST, { 'x-ratelimit-remaining': '31' }),
  'a limit that is no number': response(LIST, { 'x-ratelimit-limit': 'many' }),
}

const permitted = await Permitted.read(await readChoices([]))
const check = createLawfulCheck(permitted)
const read = createReader(permitted.contract)

/** What the whole judgement finds. */
function findingsOf({ rawHeaders, ...sent }: ArrivedRequest, answer: SeenResponse): string[] {
  const fields = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, `${rawHeaders[at + 1]}`] as const] : []))
  const seen = { ...sent, headers: readFields(fields, (each) => each), credentials: new Keys().credentialsOf(fields) }
  const reading = read({ id: '', at: 0, until: 0, overlaps: false, request: seen, response: answer })
  if (reading === undefined) throw new Error('There is a response.')
  return judgeSingle(reading, permitted).map(({ id }) => id)
}

describe('the quick check of lawful exchanges', () => {
  const isLawful = (sent: ArrivedRequest, answer: SeenResponse) => {
    const operation = check.operationOf(sent)
    return operation !== undefined && check.isSuccess(operation, answer)
  }

  it.each(Object.entries(REQUESTS))('lets nothing pass in which the whole judgement finds something: %s', (_, sent) => {
    for (const answer of Object.values(RESPONSES)) {
      if (isLawful(sent, answer)) expect(findingsOf(sent, answer)).toEqual([])
    }
  })

  it('recognises the usual exchanges, and only those', () => {
    const pairs = Object.entries(REQUESTS).flatMap(([name, sent]) =>
      Object.entries(RESPONSES).flatMap(([other, answer]) => (isLawful(sent, answer) ? [`${name} → ${other}`] : [])),
    )
    expect(pairs).toEqual([
      'list → list',
      'add → added',
      'add → created',
      'add with a charset → added',
      'add with a charset → created',
      // An alternative ignores it.
      'an unknown parameter → list',
    ])
  })
})
