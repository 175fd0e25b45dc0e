import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import type { Json } from '../../src/ground/json.ts'

const text = { type: 'string' }
const whole = { type: 'integer', minimum: -1 }
const duration = { type: 'number', minimum: -1 }
const list = (items: Json): Json => ({ type: 'array', items })

/** An object with these fields. Others are allowed only with an underscore before their names, as the format says. */
function object(required: Json, optional: Json = {}): Json {
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional, comment: text },
    patternProperties: { '^_': {} },
    additionalProperties: false,
  }
}

const pairs = list(object({ name: text, value: text }))
const cookies = list(
  object(
    { name: text, value: text },
    { path: text, domain: text, expires: text, httpOnly: { type: 'boolean' }, secure: { type: 'boolean' } },
  ),
)
const instant = { type: 'string', pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$` }
const program = object({ name: text, version: text })

const entry = object(
  {
    startedDateTime: instant,
    time: { type: 'number', minimum: 0 },
    request: object(
      {
        method: text,
        url: { type: 'string', pattern: '^https?://[^#]+$' },
        httpVersion: text,
        cookies,
        headers: pairs,
        queryString: pairs,
        headersSize: whole,
        bodySize: whole,
      },
      {
        postData: object({
          mimeType: text,
          params: list(object({ name: text }, { value: text, fileName: text, contentType: text })),
          text,
        }),
      },
    ),
    response: object({
      status: { type: 'integer', minimum: 0 },
      statusText: text,
      httpVersion: text,
      cookies,
      headers: pairs,
      content: object({ size: whole, mimeType: text }, { compression: { type: 'integer' }, text, encoding: text }),
      redirectURL: text,
      headersSize: whole,
      bodySize: whole,
    }),
    cache: object({}, { beforeRequest: {}, afterRequest: {} }),
    timings: object(
      { send: duration, wait: duration, receive: duration },
      { blocked: duration, dns: duration, connect: duration, ssl: duration },
    ),
  },
  { pageref: text, serverIPAddress: text, connection: text },
)

/** The format HAR 1.2, as its description says it: http://www.softwareishard.com/blog/har-12-spec/ */
const HAR_SCHEMA = object({
  log: object(
    { version: { const: '1.2' }, creator: program, entries: list(entry) },
    { browser: program, pages: list({}) },
  ),
})

const validate = new Ajv2020({ strict: false, allErrors: true }).compile(HAR_SCHEMA)

/** Fails unless a text is a HAR 1.2 document; returns its entries. */
export function expectHar(written: string): readonly Json[] {
  const document: unknown = JSON.parse(written)
  validate(document)
  expect(validate.errors).toBeNull()
  return (document as { log: { entries: Json[] } }).log.entries
}
