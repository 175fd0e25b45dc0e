import { expect, it } from 'vitest'
import { Accounts } from '../../src/store/accounts.ts'
import { askControl } from '../support/control-plane.ts'
import { startService } from '../support/service.ts'
import { AUTHORIZED, bodyOf, Connection, chunked, type Header, JSON_BODY, requestBytes } from '../support/wire.ts'

const READ = requestBytes({ target: '/api/v1/domains' })
const CHUNKED: Header = ['Transfer-Encoding', 'chunked']
const BODY = '{"domains":["new.example"]}'

const change = (headers: Header[], body: string | Buffer) =>
  requestBytes({ method: 'POST', target: '/api/v1/domains', headers: [AUTHORIZED, JSON_BODY, ...headers], body })

/** A service whose changes wait until they are let through. */
async function open() {
  const store = new Accounts()
  const { update } = store
  let release = (): void => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  let began = false
  store.update = async (...given) => {
    began = true
    await held
    return Reflect.apply(update, store, given)
  }
  const service = await startService({ store })
  return { service, release, began: () => began }
}

it.each<[what: string, bytes: Buffer]>([
  ['a body of a known length', change([], BODY)],
  ['a body in chunks', change([CHUNKED], chunked(BODY))],
])('A request with %s is not overtaken by those that come with it, and others wait for none', async (_, bytes) => {
  const { service, release, began } = await open()
  const connection = await Connection.open(service)
  await connection.write(Buffer.concat([READ, bytes, READ]))
  expect(bodyOf(await connection.next())?.data).toEqual({ domains: [] })
  await expect.poll(began).toBe(true)
  const other = await Connection.open(service)
  await other.write(READ)
  expect((await other.next()).status).toBe(200)
  const journal = async () => (await askControl(service, 'GET', '/requests')).data.count
  expect(await journal()).toBe(2)
  release()
  expect((await connection.next()).status).toBe(200)
  expect(bodyOf(await connection.next())?.data).toEqual({ domains: ['new.example'] })
  expect(await journal()).toBe(4)
  for (const each of [connection, other]) await each.destroy()
})
