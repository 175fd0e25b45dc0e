import { expect, it } from 'vitest'
import { arrivalOf } from '../../src/doors/direct-arrival.ts'
import { type BodySettings, createBodyReader } from '../../src/http/body.ts'

const SETTINGS: BodySettings = {
  bodyLimit: 16 << 20,
  contentType: 'required',
  requestCharset: 'utf-8',
  byteOrderMark: 'refused',
  duplicateFields: 'last',
  unreadBodies: 'ignored',
}

function read(text: string) {
  const body = Buffer.from(text)
  const headers = ['Content-Type', 'application/json', 'Content-Length', `${body.length}`]
  const arrival = arrivalOf({ method: 'POST', target: '/', headers, body })
  return createBodyReader(SETTINGS).read(arrival, { readsBody: true, bodyOptional: false })
}

it.each([
  ['ok', (long: string) => JSON.stringify([long])],
  ['refused', (long: string) => `${JSON.stringify(long)},`],
])('other work has a turn before a long body is decoded, and before it is parsed: %s', async (_, write) => {
  const text = write('x'.repeat(3 << 20))
  let turns = 0
  const count = () => {
    turns++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const result = read(text)
  expect(result).toBeInstanceOf(Promise)
  const body = await result
  clearImmediate(counting)
  expect(turns).toBeGreaterThanOrEqual(2)
  expect(body?.content?.size).toBe(text.length)
  expect(body).toMatchObject(
    text.endsWith(']') ? { ok: true, value: JSON.parse(text) } : { ok: false, problems: [{ code: 'invalid_json' }] },
  )
})

it('a body that is not long is read at once', () => {
  expect(read('[1]')).toMatchObject({ ok: true, value: [1] })
})
