import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { describe, expect } from 'vitest'
import { CERTIFICATE, PRIVATE_KEY } from '../evidence/proxy/certificate.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'

const URL = 'redis://app:Sesame-77-Open@127.0.0.1:1'

describe('--store', () => {
  it.each<[args: string[], message: string]>([
    [
      ['--store', 'http://app:Sesame-77-Open@db.example'],
      '--store http://…@db.example: must be a URL such as redis://127.0.0.1:6379, rediss://USER:PASSWORD@HOST:PORT/DATABASE, valkey://HOST or unix:/PATH',
    ],
    [['--store', `${URL}00000`], '--store redis://…@127.0.0.1:…: must have a port from 1 to 65535'],
    [
      ['--store', `${URL}/one`],
      '--store redis://…@127.0.0.1:1/…: must have the number of a database from 0 to 65535 at its end, or none',
    ],
    [
      ['--store', URL, '--data', 'accounts'],
      '--data accounts: is for accounts that this server keeps alone; leave it out, or leave out --store URL',
    ],
    [
      ['--store', URL, '--durability', 'rename'],
      '--durability rename: is for accounts that this server keeps alone; leave it out, or leave out --store URL',
    ],
    [
      ['--store', URL, '--skip-damaged'],
      '--skip-damaged true: is for accounts that this server keeps alone; leave it out, or leave out --store URL',
    ],
    [['--store-prefix', 'team'], '--store-prefix team: needs the URL of a store; give --store URL'],
    [
      ['--store', URL, '--store-prefix', 'team{1}'],
      '--store-prefix team{1}: must be 1 to 64 letters, digits, dots, colons, hyphens or underscores',
    ],
  ])('with %j is wrong usage', async (args, message) => {
    await expectRefusal(['serve', ...args], 2, message)
  })

  it('is wrong usage in the environment as well', async () => {
    const environment = { DMARC_UNDERSTUDY_STORE: URL, DMARC_UNDERSTUDY_DATA: 'accounts' }
    const message =
      'DMARC_UNDERSTUDY_DATA accounts: is for accounts that this server keeps alone; leave it out, or leave out --store URL'
    await expectRefusal(['serve'], 2, message, { environment })
    await expectRefusal(['run', '--', 'true'], 2, message, { environment })
  })

  it('makes no sense where each trial has accounts of its own', async () => {
    for (const command of ['vary', 'explore']) {
      const { code, stderr } = await runInProcess([command, '--store', URL, '--', 'true'])
      expect(code).toBe(2)
      expect(stderr).toMatch(
        /^dmarc-understudy: --store.*: .*each trial (has an account|begins with accounts) of its own.*\n$/,
      )
      expect(stderr).not.toContain('Sesame')
    }
  })

  it('of a store that cannot be reached ends the start with one line', async () => {
    await expectRefusal(
      ['serve', '--port', '0', '--store', URL],
      3,
      'The store redis://127.0.0.1:1/0 cannot be reached: connect ECONNREFUSED 127.0.0.1:1; is it running there?',
    )
  })
})

describe.skipIf(!HAS_REDIS)('servers with --store', () => {
  it('are one service: what one is told, the other knows', async ({ serve }) => {
    const { url } = await sharedRedis()
    const args = ['--store', url, '--store-prefix', freshPrefix(), '--fixture', 'empty']
    const [one, other] = [await serve(args), await serve(args)]
    expect(other.apiKey).toBe(one.apiKey)
    const headers = { authorization: `Bearer ${one.apiKey}`, 'content-type': 'application/json' }
    const added = await one.request('/domains', { method: 'POST', headers, body: '{"domains": ["shop.example"]}' })
    expect(added.status).toBe(200)
    expect((await other.request('/domains')).body).toMatchObject({ data: { domains: ['shop.example'] } })
  })

  it('say which options did not apply, because the default account was there', async ({ serve }) => {
    const { url } = await sharedRedis()
    const args = ['--store', url, '--store-prefix', freshPrefix()]
    await serve([...args, '--fixture', 'empty'])
    const second = await serve([...args, '--fixture', 'demo'])
    expect(second.stderr()).toBe(
      '--fixture demo: applies to new accounts only; the account in the store stays as it is\n',
    )
  })

  it('trust a private authority that the environment names', async ({ serveProcess, folder, onTestFinished }) => {
    const { socket } = await sharedRedis()
    const server = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (client) => {
      const inner = connect(socket)
      for (const [from, to] of [
        [client, inner],
        [inner, client],
      ] as const) {
        from.on('error', () => to.destroy())
        from.on('close', () => to.destroy())
        from.pipe(to)
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const authority = join(folder, 'ca.pem')
    writeFileSync(authority, CERTIFICATE)
    const served = await serveProcess(['--store', `rediss://127.0.0.1:${port}`, '--store-prefix', freshPrefix()], {
      environment: { NODE_EXTRA_CA_CERTS: authority },
    })
    expect((await served.request('/domains')).status).toBe(200)
  })
})
