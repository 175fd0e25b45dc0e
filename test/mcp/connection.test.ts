import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectTools } from '../../src/mcp/connection.ts'
import { startUnderstudy } from '../../src/start/server.ts'
import { listenOn } from '../support/listening.ts'
import { Assistant } from './assistant.ts'

async function start(options: Parameters<typeof startUnderstudy>[0] = {}) {
  const service = await startUnderstudy({ seed: 42, ...options })
  onTestFinished(() => service.stop())
  return service
}

const attach = (adminUrl: string, token?: string) =>
  connectTools({ adminUrl, token, apiKey: undefined, overlays: undefined })

describe('what is attached', () => {
  it.each([
    ['of the control plane', '/__admin'],
    ['of the dashboard', '/__admin/'],
    ['of the server', ''],
    ['of the server, with a slash', '/'],
  ])('is found by the address %s', async (_, path) => {
    const service = await start()
    const assistant = await Assistant.with(await attach(new URL(service.baseUrl).origin + path))
    const { data } = await assistant.call('get_address')
    expect(data).toMatchObject({
      base_url: service.baseUrl,
      admin_url: service.adminUrl,
      api_key: service.apiKey,
    })
  })

  it('has assumptions of openapi.yaml, which the tool says', async () => {
    const service = await start()
    const tools = await attach(service.adminUrl ?? '')
    expect(tools.find(({ name }) => name === 'list_assumptions')?.description).toMatch(
      / overlays of the server .* are not known\.$/,
    )
  })

  it('is asked with its token', async () => {
    const { adminUrl = '' } = await start({ adminToken: 'T' })
    const needed = 'The control plane requires its token: Authorization: Bearer <token>. Give it with --admin-token.'
    await expect(attach(adminUrl)).rejects.toThrow(needed)
    await expect(attach(adminUrl, 'S')).rejects.toThrow(needed)
    const assistant = await Assistant.with(await attach(adminUrl, 'T'))
    expect((await assistant.call('list_accounts')).data).toMatchObject({ count: 1 })
  })

  it.each([
    [
      'another path of the server',
      (baseUrl: string) => baseUrl,
      /^Something other than the control plane .* \(40[14]\); --attach needs /,
    ],
    [
      'nothing',
      () => 'http://127.0.0.1:9/__admin',
      /^The stand-in does not answer at http:\S+ \(ECONNREFUSED\): it has stopped, or /,
    ],
  ])('cannot be %s', async (_, url, message) => {
    const { baseUrl } = await start()
    await expect(attach(url(baseUrl))).rejects.toThrow(message)
  })

  it.each([
    ['a page', 'text/html', '<p>hello</p>'],
    ['other JSON', 'application/json', '{"status":"ok"}'],
  ])('cannot be a server of %s', async (_, type, text) => {
    const other = createServer((_request, response) => response.setHeader('content-type', type).end(text))
    const url = `http://127.0.0.1:${await listenOn(other)}/__admin`
    await expect(attach(url)).rejects.toThrow(
      /^Something other than the control plane of dmarc-understudy answers at http:/,
    )
  })

  it('may die during the session, and be started again', async () => {
    const service = await start()
    const assistant = await Assistant.with(await attach(service.adminUrl ?? ''))
    await service.stop()
    const { text, isError } = await assistant.call('list_accounts')
    expect(text).toMatch(
      /^The stand-in does not answer at \S+ \(ECONN\w+\): it has stopped, or .*; start it again, or attach to another one\.$/,
    )
    expect(isError).toBe(true)
    await start({ port: Number(new URL(service.baseUrl).port) })
    expect((await assistant.call('list_accounts')).data).toMatchObject({ count: 1 })
  })
})

it.each([
  ['..', 'There is no account "..".'],
  ['.', 'There is no account ".".'],
  ['../requests', 'There is no account "../requests".'],
  ['\ud800', 'There is no account "\ufffd".'],
])('an account named %j is no other path of the control plane', async (account, message) => {
  const { adminUrl = '' } = await start()
  const assistant = await Assistant.with(await attach(adminUrl))
  for (const tool of ['get_account', 'delete_account', 'list_requests']) {
    expect(await assistant.call(tool, { account })).toMatchObject({ isError: true, text: message })
  }
})
