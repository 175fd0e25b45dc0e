import { expect, it } from 'vitest'
import { ACCOUNT, DISABLED_KEY } from '../support/account.ts'
import { startObserved } from '../support/observed-service.ts'
import { API_KEY } from '../support/service.ts'

const FORM = 'The header `Authorization` must be `Bearer <API key>`, with a capital B, one space and nothing else.'

it('The explanation of a 401 says what is wrong with the key, and the response does not', async () => {
  const service = await startObserved({ fixture: ACCOUNT })
  const sentences: Readonly<Record<string, string>> = {
    '': FORM,
    [API_KEY]: FORM,
    [`Basic ${API_KEY}`]: FORM,
    Bearer: FORM,
    [`bearer ${API_KEY}`]: FORM,
    [`Bearer  ${API_KEY}`]: FORM,
    none: 'The request has no header `Authorization`.',
    'Bearer $API_KEY': 'The key looks like a placeholder that was not replaced. It belongs to no account.',
    [`Bearer key_Nobody12.${'n'.repeat(48)}`]: 'The key belongs to no account of this server.',
    [`Bearer ${DISABLED_KEY}`]: `The key ${DISABLED_KEY.split('.')[0]} is disabled.`,
  }
  for (const [sent, sentence] of Object.entries(sentences)) {
    const authorization = sent === 'none' ? null : sent
    const { status, text } = await service.send('GET', '/domains', undefined, { authorization })
    expect([sent, status, text.includes(sentence)]).toEqual([sent, 401, false])
    const explanation = await service.explain()
    expect(explanation.summary).toContain(sentence)
    expect(JSON.stringify(explanation)).not.toContain(API_KEY.split('.')[1])
  }
})
