import { describe, expect, it } from 'vitest'
import { outcomes, records, successOf } from './outcomes.ts'

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
