import { expect, it } from 'vitest'
import { createUsualFields, type ToldQuota } from '../../src/http/usual-fields.ts'

it.each<[what: string, limits: ToldQuota | undefined]>([
  ['without a quota', undefined],
  ['with a quota', { limit: 60, remaining: 0, reset: 1_768_471_200 }],
])('The usual fields of an answer %s are the same one by one and as text', (_, limits) => {
  const usualFields = createUsualFields('application/json')
  for (const date of ['Thu, 15 Jan 2026 09:00:00 GMT', 'Thu, 15 Jan 2026 09:00:01 GMT']) {
    const { headers, written } = usualFields(170, date, '2b1c', limits)
    expect(written?.entries).toBe(headers.length)
    const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}\r\n`] : []))
    expect(lines[0]).toBe('Content-Length: 170\r\n')
    expect(written?.text).toBe(lines.slice(1).join(''))
  }
})
