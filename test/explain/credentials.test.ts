import { describe, expect, it } from 'vitest'
import { ACCOUNT, DISABLED_KEY } from '../support/account.ts'
import { startObserved } from '../support/observed-service.ts'
import { API_KEY } from '../support/service.ts'

const FORM = 'The header `Authorization` must be `Bearer <API key>`, with a capital B, one space and nothing else.'
const NOBODY = `key_Nobody12.${'n'.repeat(48)}`

describe('the explanation of a 401 says what is wrong with the key', () => {
  it.each<[authorization: string | null, sentence: string]>([
    [null, 'The request has no header `Authorization`.'],
    ['', FORM],
    [API_KEY, FORM],
    [`Basic ${API_KEY}`, FORM],
    ['Bearer', FORM],
    [`bearer ${API_KEY}`, FORM],
    [`Bearer  ${API_KEY}`, FORM],
    ['Bearer $API_KEY', 'The key looks like a placeholder that was not replaced. It belongs to no account.'],
    [`Bearer ${NOBODY}`, 'The key belongs to no account of this server.'],
    [`Bearer ${DISABLED_KEY}`, `The key ${DISABLED_KEY.split('.')[0]} is disabled.`],
  ])('%j', async (authorization, sentence) => {
    const service = await startObserved({ fixture: ACCOUNT })
    const { status, text } = await service.send('GET', '/domains', undefined, { authorization })
    expect(status).toBe(401)
    const explanation = await service.explain()
    expect(explanation.summary).toContain(sentence)
    expect(text, 'the response says no more than the service').not.toContain(sentence)
    expect(JSON.stringify(explanation)).not.toContain(API_KEY.split('.')[1])
  })
})
