import { describe, expect, it } from 'vitest'
import { lastRecordText, layOut } from '../../../src/dashboard/domains/record-text.ts'

const RECORD = '{"domain":"a.example","p":"reject","pct":100,"dmarc":100.0,"note":"a \\"b\\": {c}, d"}'
const answer = (...records: string[]) =>
  `{"success":true,"data":{"days":[${records.map((text, index) => `{"date":"2026-01-1${index}","records":[${text}]}`).join(',')}]}}`

describe('the text of a record', () => {
  it('is that of the last day, with its decimals', () => {
    expect(lastRecordText(answer('{"domain":"a.example","dmarc":1.0}', RECORD))).toBe(RECORD)
  })

  it('is absent where there is no record on the last day', () => {
    expect(lastRecordText(answer(RECORD, ''))).toBeUndefined()
    expect(lastRecordText(answer())).toBeUndefined()
  })

  it('is laid out in lines without a change of any value', () => {
    expect(layOut(RECORD).split('\n')).toEqual([
      '{',
      '  "domain": "a.example",',
      '  "p": "reject",',
      '  "pct": 100,',
      '  "dmarc": 100.0,',
      '  "note": "a \\"b\\": {c}, d"',
      '}',
    ])
    expect(JSON.parse(layOut(RECORD))).toEqual(JSON.parse(RECORD))
  })
})
