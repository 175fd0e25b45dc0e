import { expect, it } from 'vitest'
import { startUnderstudy } from '../../src/index.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { API_KEY } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const HEADERS = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }

it('What came by `fetch` is kept in a folder, with a port or without', async () => {
  const data = temporaryFolder()
  for (const [index, listen] of [false, true, false].entries()) {
    await using service = await startUnderstudy({ listen, data, fixture: 'empty', apiKey: API_KEY })
    expect(service.kept).toBe(index > 0)
    const send = (init: RequestInit) => service.fetch(`${service.baseUrl}/domains`, { headers: HEADERS, ...init })
    expect((await send({ method: 'POST', body: JSON.stringify({ domains: [`${index}.example`] }) })).status).toBe(200)
    const { data: read } = (await (await send({})).json()) as { data: { domains: string[] } }
    expect(read.domains).toHaveLength(index + 1)
  }
})

it('An overlay changes what `fetch` answers', async () => {
  const path = writeOverlay(temporaryFolder(), [{ target: "$['x-settings']['not-http']", update: { value: 'closed' } }])
  await using service = await startUnderstudy({ listen: false, fixture: 'empty', overlays: [path] })
  const refused = service.fetch(`${service.baseUrl}/domains`, { method: 'FROB' })
  await expect(refused).rejects.toMatchObject({ message: 'fetch failed', cause: { code: 'UND_ERR_SOCKET' } })
})

it('An aborted option `signal` stops a stand-in without a port', async () => {
  const stopping = new AbortController()
  const { fetch: send, baseUrl } = await startUnderstudy({ listen: false, fixture: 'empty', signal: stopping.signal })
  stopping.abort()
  await expect(send(baseUrl)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
})
