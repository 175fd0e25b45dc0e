import { expect, it } from 'vitest'

const { UNDERSTUDY_BASE_URL, UNDERSTUDY_API_KEY, SENDS = 'domains', FAILS } = process.env

async function call(key, path, body) {
  const response = await fetch(UNDERSTUDY_BASE_URL + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  return response.json()
}

it.each(['one', 'two', 'three'])('adds the domain %s.example', async (name) => {
  await call(`sandbox_${name}`, '/domains', { [SENDS]: [`${name}.example`] })
  const { data } = await call(`sandbox_${name}`, '/domains')
  if (SENDS === 'domains') expect(data.domains).toContain(`${name}.example`)
})

it('reads the account of its key', async () => {
  expect((await call(UNDERSTUDY_API_KEY, '/domains')).success).toBe(FAILS === undefined)
})
