import { expect } from 'vitest'
import { createTest } from '../../../src/vitest.ts'

const test = createTest({ now: '2026-01-15T09:00:00Z', frozen: true, failOnViolation: true })

const post = (account: { baseUrl: string; headers: object }, path: string, body: object) =>
  fetch(account.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...account.headers },
    body: JSON.stringify(body),
  })

test('adds a domain, and does not look at the response', async ({ account }) => {
  await post(account, '/domains', { domains: ['a.example'] }).catch(() => {})
})

test('creates a group, which has the status 200', async ({ account, understudy }) => {
  expect((await post(account, '/domaingroups', { name: 'Retail' })).status).toBe(200)
  expect(await account.groups.list()).toHaveLength(1)
  expect(await account.clock.now()).toBe('2026-01-15T09:00:00Z')
  expect(await understudy.listAccounts()).toHaveLength(2)
})
