import { afterEach, describe } from 'vitest'
import type { AccountWithKey } from '../../../src/index.ts'
import { createTest } from '../../../src/vitest.ts'

const test = createTest({ now: '2026-01-15T09:00:00Z', journal: 2, failOnViolation: true })

const send = (account: AccountWithKey, path: string, body?: unknown, headers: object = account.headers) =>
  fetch(account.baseUrl + path, {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
const read = (account: AccountWithKey) => send(account, '/domains')
const violate = (account: AccountWithKey) => send(account, '/domains', { domain: ['a.example'] })
const misspell = (account: AccountWithKey, headers?: object) => send(account, '/domain', undefined, headers)

test('keeps the contract', async ({ account }) => {
  await read(account)
  await account.domains.add('a.example')
  await send(account, '/domains', { domains: ['a.example'] })
  await send(account, '/domaingroups?id=nothing')
})

test('violates it', async ({ account }) => {
  await violate(account)
})

test('violates it five times', async ({ account }) => {
  for (let count = 0; count < 5; count++) await violate(account)
})

test('violates it in many ways', async ({ account }) => {
  for (let count = 0; count < 5; count++) await send(account, `/domain-${count}`)
})

test('fails itself as well', async ({ account }) => {
  await violate(account)
  throw new Error('the error of the test')
})

test('deletes the account', async ({ account }) => {
  await violate(account)
  await account.delete()
})

test('resets the account', async ({ account }) => {
  await violate(account)
  await account.reset()
})

test('clears the journal and the verdict', async ({ account, understudy }) => {
  await violate(account)
  await account.requests.clear()
  await understudy.clearVerdict()
})

test('fills the journal', async ({ account }) => {
  await violate(account)
  for (let count = 0; count < 5; count++) await read(account)
})

test('misspells a path', async ({ account }) => {
  await misspell(account)
})

test('misspells a path with a key of its own', async ({ account }) => {
  const { api_key } = await account.keys.create()
  await misspell(account, { authorization: `Bearer ${api_key}` })
})

test('misspells a path without a key', async ({ account }) => {
  await misspell(account, {})
})

test('uses another account', async ({ account: _, understudy }) => {
  await violate(understudy.account as AccountWithKey)
})

test('does not wait for the response', async ({ account }) => {
  // The connection is free again, so that the next request does not have to open one.
  await (await read(account)).text()
  violate(account).catch(() => {})
})

test('hides the violation behind a fault', async ({ account }) => {
  await account.faults.add({ phase: 'after', connection: 'reset' })
  await violate(account).catch(() => {})
})

describe('after each test', () => {
  afterEach<{ account: AccountWithKey }>(async ({ account }) => void (await violate(account)))

  test('violates it in a hook', async ({ account }) => {
    await read(account)
  })
})

describe('with permission', () => {
  test.override({ failOnViolation: false })

  test('may violate it', async ({ account }) => {
    await violate(account)
    await misspell(account, {})
  })
})

const lenient = test.extend({ failOnViolation: false })

lenient('is a test that may', async ({ account }) => {
  await violate(account)
})

test.fails('is expected to violate it', async ({ account }) => {
  await violate(account)
})

describe.concurrent('at the same time', () => {
  let waiting = 2
  let release = (): void => {}
  const all = new Promise<void>((resolve) => {
    release = resolve
  })
  /** Is there as soon as both of the first two tests are. */
  async function meet(): Promise<void> {
    waiting--
    if (waiting === 0) release()
    await all
  }

  test('one keeps it', async ({ account }) => {
    await meet()
    await read(account)
  })

  test('another violates it', async ({ account }) => {
    await meet()
    await misspell(account)
  })

  test('the third has no key', async ({ account }) => {
    await misspell(account, {})
  })
})
