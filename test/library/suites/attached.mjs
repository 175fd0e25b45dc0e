import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareUnderstudy } from 'dmarc-understudy/node-test'

const shared = shareUnderstudy({ now: '2026-01-15T09:00:00Z', frozen: true, failOnViolation: true })
const post = (account, path, body) =>
  fetch(account.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...account.headers },
    body: JSON.stringify(body),
  })

test('adds a domain, and does not look at the response', async (t) => {
  await post(await shared.account(t), '/domains', { domains: ['a.example'] }).catch(() => {})
})
test('creates a group, which has the status 200', async (t) => {
  const account = await shared.account(t)
  assert.equal((await post(account, '/domaingroups', { name: 'Retail' })).status, 200)
  assert.equal((await account.groups.list()).length, 1)
  assert.equal(await account.clock.now(), '2026-01-15T09:00:00Z')
  assert.equal((await (await shared.understudy()).listAccounts()).length, 2)
})
