import { createTest } from 'dmarc-understudy/vitest'
import { afterEach, describe } from 'vitest'

const test = createTest({ now: '2026-01-15T09:00:00Z', failOnViolation: true })

const send = (account, path, body, headers = account.headers) =>
  fetch(account.baseUrl + path, {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
const read = (account) => send(account, '/domains')
const violate = (account) => send(account, '/domains', { domain: ['a.example'] })
const misspell = (account, headers) => send(account, '/domain', undefined, headers)

/** What each test does, by its name. */
const DEEDS = {
  async 'keeps the contract'(account) {
    await send(account, '/domains', { domains: ['a.example'] })
    await send(account, '/domaingroups?id=nothing')
  },
  'violates it': violate,
  async 'fails itself as well'(account) {
    await violate(account)
    throw new Error('the error of the test')
  },
  'deletes the account': async (account) => [await violate(account), await account.delete()],
  'misspells a path without a key': (account) => misspell(account, {}),
  'uses another account': (_, understudy) => violate(understudy.account),
  async 'does not wait for the response'(account) {
    // The connection is free again, so that the next request does not have to open one.
    await (await read(account)).text()
    violate(account).catch(() => {})
  },
  async 'hides the violation behind a fault'(account) {
    await account.faults.add({ phase: 'after', connection: 'reset' })
    await violate(account).catch(() => {})
  },
}

for (const [name, act] of Object.entries(DEEDS)) {
  test(name, async ({ account, understudy }) => void (await act(account, understudy)))
}

describe('after each test', () => {
  afterEach(async ({ account }) => void (await violate(account)))
  test('violates it in a hook', ({ account }) => void account)
})

describe('with permission', () => {
  test.override({ failOnViolation: false })
  test('may violate it', async ({ account }) => [await violate(account), await misspell(account, {})])
})

test.extend({ failOnViolation: false })('is a test that may', ({ account }) => violate(account))

test.fails('is expected to violate it', ({ account }) => violate(account))

describe.concurrent('at the same time', () => {
  let waiting = 2
  let release
  const all = new Promise((resolve) => {
    release = resolve
  })
  /** Is there as soon as both of the first two tests are. */
  async function meet() {
    if (--waiting === 0) release()
    await all
  }

  test('one keeps it', async ({ account }) => [await meet(), await read(account)])
  test('another violates it', async ({ account }) => [await meet(), await misspell(account)])
  test('the third has no key', ({ account }) => misspell(account, {}))
})
