import { describe, expect, it } from 'vitest'
import { readLimits } from '../../src/admin/document.ts'
import { withKey } from '../support/account.ts'
import { controlApi, journalOf } from '../support/control-plane.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { asks } from '../support/rows.ts'
import { API_KEY } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const SECRET = 'northern-lamps.example'
const KEYS = '/accounts/default/keys'

type Ask = ReturnType<typeof asks>

/** Sends the secret in the body of a request of an account, and returns what the journal shows of the body. */
async function shown(service: ObservedService, { account = 'default', key = API_KEY, secret = SECRET } = {}) {
  await service.send('POST', '/domaingroups', { name: secret }, withKey(key))
  const entry = (await journalOf(service, account)).at(-1)
  return JSON.parse(entry?.request.body ?? '{}').name
}

async function create(service: ObservedService, body: object): Promise<string> {
  const { status, text, data } = await service.ask('POST', '/accounts', body)
  expect(status, text).toBe(201)
  return data.api_key
}

describe('the secret of a key is hidden', () => {
  it.each<[how: string, give: (service: ObservedService) => Promise<unknown>]>([
    ['that is added', asks('POST', KEYS, { key: SECRET })],
    ['that is imported', asks('PUT', '/accounts/default/state', { keys: [{ key: SECRET }] })],
    ['that a reset brings', asks('POST', '/accounts/default/reset', { fixture: { keys: [{ key: SECRET }] } })],
    [
      'that a snapshot brings back',
      async ({ ask }) => {
        const { data } = await ask('POST', KEYS, { key: SECRET })
        await ask('POST', '/accounts/default/snapshots', { name: 'before' })
        await ask('DELETE', `${KEYS}/${data.key.id}`)
        await ask('POST', '/accounts/default/snapshots/before/restore')
      },
    ],
  ])('%s', async (_, give) => {
    const service = await startObserved()
    await give(service)
    expect(await shown(service)).toBe('[redacted]')
    expect(await shown(service, { secret: `\\u006eorthern-lamps.example` })).toBe('[redacted]')
  })

  it('that comes with a fixture', async () => {
    const service = await startObserved({ fixture: { keys: [{ key: SECRET }] } })
    expect(await shown(service)).toBe('[redacted]')
  })

  it('of an account that was kept, from the first request with the key', async () => {
    const data = temporaryFolder()
    const before = await startObserved({ data, store: undefined })
    await before.ask('POST', KEYS, { key: SECRET })
    await before.stop()
    const service = await startObserved({ data, store: undefined })
    expect(await shown(service)).toBe(SECRET)
    await service.send('GET', '/domains', undefined, withKey(SECRET))
    expect(await shown(service)).toBe('[redacted]')
    const { data: listed } = await service.ask('GET', KEYS)
    await service.ask('DELETE', `${KEYS}/${listed.keys.at(-1).id}`)
    expect(await shown(service)).toBe(SECRET)
  })

  it('that is derived, also in base64', async () => {
    const service = await startObserved()
    const { data } = await service.ask('POST', KEYS, {})
    const secret = Buffer.from(`user:${data.api_key}`).toString('base64')
    expect(await shown(service, { secret })).toMatch(/^.{5,6}\[redacted\]$/)
  })

  it('in the account that has it, and in no other', async () => {
    const service = await startObserved()
    const key = await create(service, { id: 'acme', api_key: SECRET })
    await create(service, { id: 'bolt', api_key: 'key-of-bolt' })
    await service.ask('POST', '/accounts/acme/keys', { key: 'other-key-of-acme' })
    expect(await shown(service, { account: 'acme', key, secret: 'other-key-of-acme' })).toBe('[redacted]')
    expect(await shown(service, { account: 'acme', key: 'other-key-of-acme' })).toBe('[redacted]')
    expect(await shown(service, { account: 'bolt', key: 'key-of-bolt' })).toBe(SECRET)
    expect(await shown(service, { account: 'sandbox_1', key: 'sandbox_1' })).toBe(SECRET)
    expect(await shown(service)).toBe(SECRET)
  })

  it('everywhere: in lists, events, explanations, near misses and the verdict', async () => {
    const service = await startObserved()
    await service.ask('POST', KEYS, { key: SECRET })
    const events = await fetch(`${service.adminUrl}/events`)
    await service.send('POST', '/domains', { domains: [`${SECRET} `], [SECRET]: SECRET }, { 'x-note': SECRET })
    const { request_id } = await service.latest()
    const match = { operation: 'addDomains', body: { domains: [] } }
    const texts = [
      await service.ask('GET', '/requests'),
      await service.ask('GET', '/accounts/default/requests'),
      await service.ask('GET', `/explain/${request_id}`),
      await service.ask('GET', '/verdict'),
      await service.ask('POST', '/accounts/default/requests/verify', { match }),
    ].map(({ text }) => text)
    let streamed = ''
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader()
    while (!streamed.includes('data: ')) streamed += (await reader?.read())?.value ?? ''
    await reader?.cancel()
    for (const text of [...texts, streamed]) {
      expect(text).toContain('[redacted]')
      expect(text).not.toContain('northern')
    }
  })
})

it('an explanation shows no secret in what is to be sent before, and still names the account', async () => {
  const service = await startObserved()
  const sandbox = withKey('sandbox_1')
  const { body } = await service.send('POST', '/domaingroups', { name: 'a' }, sandbox)
  await service.ask('POST', '/accounts/sandbox_1/keys', { key: SECRET })
  await service.ask('PATCH', '/accounts/sandbox_1', { plan: 'below-stone' })
  const path = `/domaingroups?id=${body.data.group.id}`
  await service.send('PATCH', path, { add_domains: [SECRET] }, sandbox)
  const refused = await service.explain()
  expect(refused.correction?.before.join()).toContain('/accounts/sandbox_1')
  await service.ask('PATCH', '/accounts/sandbox_1', { plan: 'stone' })
  await service.send('PATCH', path, { add_domains: [SECRET] }, sandbox)
  const explained = await service.explain()
  expect(explained).toMatchObject({ code: 'not_monitored', correction: { curl: expect.any(String) } })
  expect(JSON.stringify(explained)).not.toContain('northern')
})

describe('the secret of a key is forgotten', () => {
  it.each<[how: string, lose: (service: ObservedService, id: string) => Promise<unknown>]>([
    ['with the key', ({ ask }, id) => ask('DELETE', `${KEYS}/${id}`)],
    ['by a reset', asks('POST', '/accounts/default/reset', {})],
    ['by an older snapshot', asks('POST', '/accounts/default/snapshots/before/restore')],
  ])('%s', async (_, lose) => {
    const service = await startObserved()
    await service.ask('POST', '/accounts/default/snapshots', { name: 'before' })
    const { data } = await service.ask('POST', KEYS, { key: SECRET })
    expect(await shown(service)).toBe('[redacted]')
    await lose(service, data.key.id)
    expect(await shown(service)).toBe(SECRET)
  })

  it('with its account', async () => {
    const service = await startObserved()
    await create(service, { id: 'acme', api_key: SECRET })
    expect((await service.ask('DELETE', '/accounts/acme')).status).toBe(200)
    const key = await create(service, { id: 'acme' })
    expect(await shown(service, { account: 'acme', key })).toBe(SECRET)
    await service.send('GET', `/${SECRET}`, undefined, { authorization: null })
    expect((await service.latest()).path).toBe(`/api/v1/${SECRET}`)
  })

  it('when its sandbox is evicted', async () => {
    const service = await startObserved({ maxAccounts: 2, sandboxIdle: '0s' })
    const open = () => service.send('GET', '/domains', undefined, withKey('sandbox_1'))
    await open()
    await service.ask('POST', '/accounts/sandbox_1/keys', { key: SECRET })
    expect(await shown(service, { account: 'sandbox_1', key: 'sandbox_1' })).toBe('[redacted]')
    await service.send('GET', '/domains', undefined, withKey('sandbox_2'))
    await open()
    expect(await shown(service, { account: 'sandbox_1', key: 'sandbox_1' })).toBe(SECRET)
  })
})

describe('the secret of a key that was refused is not hidden', () => {
  const { keysPerAccount } = readLimits(controlApi)
  const forNewAccount = (body: object) => asks('POST', '/accounts', { api_key: SECRET, ...body })
  const acme = { id: 'acme', api_key: SECRET }
  const manyKeys = Array.from({ length: keysPerAccount - 1 }, (_, index) => ({ key: `key-${index}` }))
  it.each<[status: number, what: string, refused: Ask, before?: Ask]>([
    [409, 'another account has it', asks('POST', KEYS, { key: SECRET }), asks('POST', '/accounts', acme)],
    [409, 'another one has it, for a new account', forNewAccount({ id: 'bolt' }), asks('POST', '/accounts', acme)],
    [409, 'its account is there already', forNewAccount({ id: 'default' })],
    [
      409,
      'there are too many',
      asks('POST', KEYS, { key: SECRET }),
      asks('PUT', '/accounts/default/state', { keys: manyKeys }),
    ],
    [400, 'it is to be made in the future', asks('POST', KEYS, { key: SECRET, created_at: '2099-01-01T00:00:00Z' })],
    [400, 'its fixture is wrong', forNewAccount({ id: 'acme', fixture: { domains: ['x y'] } })],
    [507, 'there is no room', forNewAccount({ id: 'acme' })],
  ])('with %i, because %s', async (status, _, refused, before) => {
    const service = await startObserved(status === 507 ? { maxAccounts: 1 } : {})
    await before?.(service)
    expect((await refused(service)).status).toBe(status)
    expect(await shown(service)).toBe(SECRET)
  })
})

describe('a request of no account', () => {
  it('shows neither the key of an account nor the token of the control plane', async () => {
    const token = 'a-token-for-the-control-plane'
    const service = await startObserved({ adminToken: token, apiKey: SECRET })
    const paths = [`/domains/${SECRET}`, `/${token}`, `/nothing?x=${token}`, `/${encodeURIComponent('sandbox_a b')}`]
    const headers = { authorization: null, 'x-note': `a ${SECRET}` }
    for (const path of paths) await service.send('GET', path, undefined, headers)
    const response = await fetch(`${service.adminUrl}/requests`, { headers: { authorization: `Bearer ${token}` } })
    const text = await response.text()
    expect(JSON.parse(text).data.count).toBe(4)
    for (const secret of ['northern', 'a-token', 'sandbox']) expect(text).not.toContain(secret)
  })
})
