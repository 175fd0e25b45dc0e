import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { CERTIFICATE } from '../proxy/certificate.ts'
import { listenOn, tlsBefore } from '../support/listening.ts'
import { expectRefusal, it } from '../support/program.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { LAWFUL, runClient, VIOLATING } from './run-client.ts'

describe.skipIf(!HAS_REDIS)('servers with --store', () => {
  it('say which options did not apply, because the default account was there', async ({ serve }) => {
    const { url } = await sharedRedis()
    const args = ['--store', url, '--store-prefix', freshPrefix()]
    await serve([...args, '--fixture', 'empty'])
    const second = await serve([...args, '--fixture', 'demo'])
    expect(second.stderr()).toBe(
      '--fixture demo: applies to new accounts only; the account in the store stays as it is\n',
    )
  })

  it('tell run of the requests of its command alone, also where that clears the verdict', async () => {
    const { url } = await sharedRedis()
    const store = ['--store', url, '--store-prefix', freshPrefix()]
    const wrong = await runClient(`${VIOLATING}; control DELETE /verdict; ${LAWFUL}`, store)
    expect(wrong.code, wrong.stderr).toBe(1)
    const right = await runClient(LAWFUL, store)
    expect(right.code, right.stderr).toBe(0)
  })

  it('refuse to start where the data has another format, and say what to do', async () => {
    const { url, command } = await sharedRedis()
    const prefix = freshPrefix()
    await command('HSET', `${prefix}:store`, 'marker', '{"format":"99"}')
    const found = `holds accounts under ${prefix} in format 99, and this version reads format 4`
    const problem = `${found}; use another --store-prefix`
    await expectRefusal(['serve', '--store', url, '--store-prefix', prefix], 3, `The store ${url}/0 ${problem}`)
  })

  it('trust a private authority that the environment names', async ({ serveProcess, folder }) => {
    const port = await listenOn(tlsBefore(await sharedRedis()))
    const authority = join(folder, 'ca.pem')
    writeFileSync(authority, CERTIFICATE)
    const served = await serveProcess(['--store', `rediss://127.0.0.1:${port}`, '--store-prefix', freshPrefix()], {
      environment: { NODE_EXTRA_CA_CERTS: authority },
    })
    expect((await served.request('/domains')).status).toBe(200)
  })
})
