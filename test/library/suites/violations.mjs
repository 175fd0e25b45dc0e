import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { shareUnderstudy } from 'dmarc-understudy/node-test'

const shared = shareUnderstudy({ failOnViolation: true })
const send = (account, path, body, headers = account.headers) =>
  fetch(account.baseUrl + path, {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
const violate = (account) => send(account, '/domains', { domain: ['a.example'] })
let cleaned = 0

const deeds = {
  'keeps the contract': (account) => send(account, '/domains'),
  'violates it': violate,
  async 'fails itself as well'(account) {
    await violate(account)
    throw new Error('the error of the test')
  },
  'deletes the account': async (account) => [await violate(account), await account.delete()],
  'misspells a path without a key': (account) => send(account, '/domain', undefined, {}),
}
for (const [name, act] of Object.entries(deeds)) test(name, async (t) => void (await act(await shared.account(t))))

test('is permitted to', async (t) => {
  const account = await shared.account(t, { failOnViolation: false, plan: 'above-stone' })
  assert.equal((await account.read()).plan, 'above-stone')
  await violate(account)
})
test('finds no account of those before it', async () => {
  assert.equal((await (await shared.understudy()).listAccounts()).length, 1)
})
test('has two accounts', async (t) => {
  const [one, other] = [await shared.account(t), await shared.account(t)]
  await send(one, '/domains')
  await violate(other)
})
test('cleans up all the same', async (t) => {
  const account = await shared.account(t)
  t.after(() => cleaned++)
  await violate(account)
})
test('has a hook that fails', async (t) => {
  await shared.account(t)
  t.after(() => {
    throw new Error('a hook')
  })
})
test('the rest was cleaned up', () => assert.equal(cleaned, 1))
describe('at the same time', { concurrency: true }, () => {
  let release
  const both = new Promise((resolve) => {
    release = resolve
  })
  test('one keeps it', async (t) => {
    const account = await shared.account(t)
    await both
    await send(account, '/domains')
  })
  test('another violates it', async (t) => {
    const account = await shared.account(t)
    release()
    await send(account, '/domain')
  })
})
