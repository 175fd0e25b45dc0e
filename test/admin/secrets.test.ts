import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withKey } from '../support/account.ts'
import { controlApi, journalOf, startControlPlane } from '../support/control-plane.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { asks } from '../support/rows.ts'
import { API_KEY } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const SECRET = 'northern-lamps.example'
const ACCOUNT = '/accounts/default'
const KEYS = `${ACCOUNT}/keys`
/** Sends the secret in the body of a request of an account, and returns what the journal shows of the body. */
async function shown(service: ObservedService, { account = 'default', key = API_KEY, secret = SECRET } = {}) {
  await service.send('POST', '/domaingroups', { name: secret }, withKey(key))
  const entry = (await journalOf(service, account)).at(-1)
  return JSON.parse(entry?.request.body ?? '{}').name
}

describe('the secret of a key is hidden in the bodies of every account', () => {
  it.each<[how: string, give: (service: ObservedService) => Promise<unknown>]>([
    ['that is added', asks('POST', KEYS, { key: SECRET })],
    ['that is imported', asks('PUT', `${ACCOUNT}/state`, { keys: [{ key: SECRET }] })],
  ])('%s', async (_, give) => {
    const service = await startObserved()
    await give(service)
    expect(await shown(service)).toBe('[redacted]')
    expect(await shown(service, { account: 'sandbox_b', key: 'sandbox_b' })).toBe('[redacted]')
  })

  it('everywhere: in lists, events, explanations, near misses and the verdict', async () => {
    const service = await startObserved()
    await service.ask('POST', KEYS, { key: SECRET })
    const events = await fetch(`${service.adminUrl}/events`)
    await service.send(
      'POST',
      '/domains',
      { domains: [`${SECRET} `], [SECRET]: SECRET },
      { ...withKey(SECRET), 'x-note': SECRET },
    )
    const { request_id } = await service.latest()
    const match = { operation: 'addDomains', body: { domains: [] } }
    const texts = [
      await service.ask('GET', '/requests'),
      await service.ask('GET', `${ACCOUNT}/requests`),
      await service.ask('GET', `/explain/${request_id}`),
      await service.ask('GET', '/verdict'),
      await service.ask('POST', `${ACCOUNT}/requests/verify`, { match }),
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

it('A secret stands in no answer but the one that gives it, in no log and in no file', async () => {
  const data = temporaryFolder()
  const logged: string[] = []
  const keep = (fields: object, message: string) => {
    const plain = Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? value.stack : value])
    logged.push(JSON.stringify({ ...Object.fromEntries(plain), message }))
  }
  const log = { info: keep, warn: keep, error: keep }
  const options = { data, log, adminToken: 'token-of-the-control-plane', apiKey: 'secret-of-the-default-account' }
  const plane = await startControlPlane(options)
  const { create, post, get: read, put, delete: remove, send, ask } = plane
  const { id, key } = await create({ fixture: { keys: [{ key: 'secret-of-the-fixture' }] }, api_key: 'secret-of-mine' })
  const given = await post(`/accounts/${id}/keys`, { label: 'CI' })
  const known = ['secret-of-the-default-account', 'secret-of-the-fixture', key, given.data.api_key]
  for (const secret of [...known, 'secret-of-nobody']) await ask(secret, 'GET', '/domains')
  await send('GET', '/accounts', undefined, { authorization: 'Bearer wrong-token' })
  const { data: state } = await read(`/accounts/${id}/state`)
  const answers = [
    await put(`/accounts/${id}/state`, { ...state, keys: [{ key: 'secret-of-an-import' }] }),
    await post(`/accounts/${id}/keys`, { key }),
    await post('/accounts', { api_key: key }),
    await post(`/accounts/${id}/reset`),
  ]
  for (const operation of controlApi.operations) {
    if (operation.method !== 'GET' || operation.id.startsWith('stream')) continue
    answers.push(await read(operation.path.replace('{account}', id).replace('{request-id}', 'x')))
  }
  const { data: journal } = await read('/requests')
  for (const { request_id } of journal.requests) answers.push(await read(`/explain/${request_id}`))
  answers.push(await remove(`/accounts/${id}`))
  await plane.stop()
  const files = readdirSync(data).filter((name) => name.endsWith('.json'))
  const texts = {
    answers: answers.map(({ text }) => text).join(),
    log: logged.join(),
    files: files.map((name) => readFileSync(join(data, name), 'utf8')).join(),
  }
  const all = [...known, options.adminToken, 'secret-of-an-import', 'secret-of-nobody', 'wrong-token']
  for (const [place, text] of Object.entries(texts)) {
    expect(text.length).toBeGreaterThan(100)
    expect(
      all.filter((secret) => text.includes(secret)),
      `in the ${place}`,
    ).toEqual([])
  }
  expect(JSON.stringify(state)).not.toMatch(/"hash"|[0-9a-f]{64}/)
})
