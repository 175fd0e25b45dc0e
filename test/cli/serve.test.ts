import { writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { it } from '../support/program.ts'
import { runShell } from '../support/program-process.ts'
import { withBodyLimit } from './overlays.ts'

describe('serve', () => {
  it('prints base URL, key and a curl line that works as it stands', async ({ serve }) => {
    const { baseUrl, apiKey, curl, stdout } = await serve()
    expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:[1-9][0-9]*\/api\/v1$/)
    expect(apiKey).toMatch(/^key_[0-9A-Za-z]{8}\.[0-9A-Za-z]{48}$/)
    const [, dashboard = ''] = /Dashboard {2}(\S+)\n/.exec(stdout()) ?? []
    expect(dashboard).toBe(baseUrl.replace('/api/v1', '/__admin/'))
    expect((await fetch(dashboard)).headers.get('content-type')).toBe('text/html; charset=utf-8')
    const { code, stdout: answer } = await runShell(curl.replace('curl ', 'curl --silent --show-error '))
    expect(code).toBe(0)
    expect(JSON.parse(answer)).toMatchObject({ success: true, data: { domains: expect.any(Array) } })
  })

  it('prints a curl line that works with a key that a shell would read otherwise', async ({ serve }) => {
    const key = `it's"a"$HOME\`id\`\\&;`
    const { curl } = await serve(['--api-key', key])
    const { stdout: answer } = await runShell(curl.replace('curl ', 'curl --silent --show-error '))
    expect(JSON.parse(answer)).toMatchObject({ success: true })
  })

  it('prints a curl line that opens a sandbox', async ({ serve }) => {
    const { stdout, apiKey } = await serve(['--fixture', 'empty'])
    const [line = ''] = /curl .*sandbox_mine.*/.exec(stdout()) ?? []
    const added = line.replace('curl ', `curl -s --json '{"domains": ["mine.example"]}' `)
    expect(JSON.parse((await runShell(added)).stdout)).toMatchObject({ success: true })
    for (const [key, domains] of [
      ['sandbox_mine', ['mine.example']],
      [apiKey, []],
    ] as const) {
      const { stdout: answer } = await runShell(line.replace('curl ', 'curl -s ').replace('sandbox_mine', key))
      expect(JSON.parse(answer)).toEqual({ success: true, data: { domains } })
    }
  })

  it('says in a line each what is different where other machines reach it', async ({ serve, folder }) => {
    const open = ['--host', '0.0.0.0', '--admin-token', 'T', '--data', folder, '--log-level', 'silent']
    const linesOf = (stdout: string) => [...stdout.matchAll(/^ {2}Open +(.+)$/gm)].map(([, line]) => line)
    const RANDOM = 'Other machines can reach this address, so keys are random and do not derive from the seed.'
    const first = await serve(open)
    expect(linesOf(first.stdout())).toEqual([
      RANDOM,
      'No key that begins with sandbox_ opens an account; --sandbox-keys lets it.',
    ])
    expect(first.stdout()).not.toContain('sandbox_mine')
    expect(first.stdout()).toContain(`API key    ${first.apiKey}`)
    first.stop()
    await first.ended
    const second = await serve([...open, '--sandbox-keys'])
    expect(linesOf(second.stdout())).toEqual([
      RANDOM,
      'Anybody who can reach it opens accounts with keys that begin with sandbox_ (--sandbox-keys).',
    ])
    expect(second.stdout()).toContain('API key    the one that was shown at the first start; only its hash is kept')
    second.stop()
    await second.ended
    const local = await serve()
    expect(linesOf(local.stdout())).toEqual([])
  })

  it('warns of keys that anybody can compute, of a folder from a loopback address', async ({ serve, folder }) => {
    const local = await serve(['--data', folder])
    local.stop()
    await local.ended
    const open = await serve(['--data', folder, '--host', '0.0.0.0', '--admin-token', 'T', '--log-level', 'silent'])
    expect(open.stdout()).toContain(
      'Open       Anybody can compute a key of the account default: it derives from the seed. Replace it.',
    )
  })

  it('takes any free port for 0, and another one the next time', async ({ serve }) => {
    const [one, other] = await Promise.all([serve(), serve()])
    expect(new URL(one.baseUrl).port).not.toBe(new URL(other.baseUrl).port)
    expect((await one.request('/domains')).status).toBe(200)
    expect((await other.request('/domains')).status).toBe(200)
  })

  it('has the same key at every start of a seed, and another of another seed', async ({ serve }) => {
    const [one, same, other] = await Promise.all([serve(), serve(['--seed', '42']), serve(['--seed', '43'])])
    expect(one.apiKey).toBe(same.apiKey)
    expect(one.apiKey).not.toBe(other.apiKey)
  })

  it.for<[args: string[], path: string, status: number, body: object]>([
    [['--fixture', 'demo'], '/domaingroups', 200, { data: { count: expect.any(Number) } }],
    [['--fixture', 'empty'], '/domaingroups', 200, { data: { count: 0 } }],
    [['--plan', 'below-stone'], '/domains', 403, { error: { code: 'unauthorized' } }],
    [['--plan', 'above-stone'], '/domains', 200, {}],
    [['--response-validation', 'warn'], '/domains', 200, {}],
    [['--response-validation=off'], '/domains', 200, {}],
    [['--host', 'localhost'], '/domains', 200, {}],
    [['--admin-token', 'T', '--host', '0.0.0.0'], '/domains', 200, {}],
    [['--no-admin', '--host', '0.0.0.0'], '/domains', 200, {}],
    [['--max-accounts', '1'], '/domains', 200, {}],
    [['--no-prefer=false'], '/domains', 200, {}],
  ])('with %j answers GET %s with %d', async ([args, path, status, body], { serve }) => {
    const service = await serve(args)
    expect(await service.request(path)).toMatchObject({ status, body })
  })

  it.for<[args: string[], headers: Record<string, string>, status: number]>([
    [[], { authorization: 'Bearer sandbox_mine' }, 200],
    [['--sandbox-keys'], { authorization: 'Bearer sandbox_mine' }, 200],
    [['--no-sandbox-keys'], { authorization: 'Bearer sandbox_mine' }, 401],
    [['--no-sandbox-keys', '--sandbox-keys'], { authorization: 'Bearer sandbox_mine' }, 200],
    [['--sandbox-keys', '--no-sandbox-keys'], { authorization: 'Bearer sandbox_mine' }, 401],
    [['--no-sandbox-keys=false'], { authorization: 'Bearer sandbox_mine' }, 200],
    [['--sandbox-idle', '30m'], { authorization: 'Bearer sandbox_mine' }, 200],
    [[], { prefer: 'code=duplicate_name' }, 409],
    [['--no-prefer'], { prefer: 'code=duplicate_name' }, 200],
    [['--no-admin'], { prefer: 'code=duplicate_name' }, 409],
  ])('with %j answers a group that is asked for with %j by %d', async ([args, headers, status], { serve }) => {
    const service = await serve(args)
    const init = { method: 'POST', body: '{"name":"A new group"}', headers }
    expect((await service.request('/domaingroups', init)).status).toBe(status)
  })

  it.for<[args: string[], status: number]>([
    [[], 400],
    [['--no-simulator'], 200],
  ])('with %j answers for a domain that wants to fail with %d', async ([args, status], { serve }) => {
    const service = await serve(args)
    const body = '{"domains":["fail-invalid-domain.understudy.test"]}'
    expect((await service.request('/domains', { method: 'POST', body })).status).toBe(status)
  })

  it('makes room for a new sandbox with --max-accounts', async ({ serve }) => {
    const { request, origin } = await serve(['--max-accounts', '3'])
    const idsAfter = async (key: string) => {
      await request('/domains', { headers: { authorization: `Bearer ${key}` } })
      const listed = (await (await fetch(`${origin}/__admin/accounts`)).json()) as {
        data: { accounts: { id: string }[] }
      }
      return listed.data.accounts.map(({ id }) => id)
    }
    expect(await idsAfter('sandbox_a')).toEqual(['default', 'sandbox_a'])
    expect(await idsAfter('sandbox_b')).toEqual(['default', 'sandbox_a', 'sandbox_b'])
    expect(await idsAfter('sandbox_c')).toEqual(['default', 'sandbox_b', 'sandbox_c'])
  })

  it.for<[entries: string, remembered: number]>([
    ['0', 0],
    ['2', 2],
    ['1000', 3],
  ])('with --journal %s remembers of three requests %d', async ([entries, remembered], { serve }) => {
    const { request, origin } = await serve(['--journal', entries])
    for (let sent = 0; sent < 3; sent++) await request('/domains')
    const response = await fetch(`${origin}/__admin/accounts/default/requests`)
    expect(await response.json()).toMatchObject({ data: { count: remembered } })
  })

  it('gives the rules of ready-made sets, of a file and of one set in it to every account', async ({
    serve,
    folder,
  }) => {
    const answering = (status: number) => ({ rules: [{ times: 1, respond: { status } }] })
    writeFileSync(join(folder, 'one.json'), JSON.stringify({ gone: answering(410), teapot: answering(418) }))
    writeFileSync(join(folder, 'two.json'), JSON.stringify({ broken: answering(502), lost: answering(504) }))
    const sources = ['--faults', 'one.json', '--faults', 'two.json#lost', '--faults', 'slow']
    const { origin } = await serve(sources, { folder })
    for (const id of ['default', 'sandbox_mine']) {
      await fetch(`${origin}/__admin/accounts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id }),
      })
      const response = await fetch(`${origin}/__admin/accounts/${id}/faults`)
      const { data } = (await response.json()) as { data: { faults: { set: string }[] } }
      expect(data.faults.map(({ set }) => set)).toEqual(['gone', 'teapot', 'lost', 'slow', 'slow'])
    }
  })

  it('reads a fixture file', async ({ serve, folder }) => {
    const path = join(folder, 'shop.json')
    writeFileSync(path, JSON.stringify({ domains: ['a.example'] }))
    const service = await serve(['--fixture', path])
    expect((await service.request('/domains')).body).toMatchObject({ data: { domains: ['a.example'] } })
  })

  it('starts the clock at an instant', async ({ serve }) => {
    const service = await serve(['--now', '2026-01-15T10:30:00+01:00'])
    const { headers } = await service.request('/domains')
    expect(headers.get('x-ratelimit-reset')).toBe(`${Date.parse('2026-01-15T10:00:00Z') / 1000}`)
  })

  it.for<[how: string, args: string[], window: string]>([
    ['goes on', [], '11:00'],
    ['stands still with --frozen', ['--frozen'], '10:00'],
    ['stands still where the fixture says so', ['--fixture', 'frozen.json'], '10:00'],
    [
      'goes on where the fixture does not but --frozen=false says so',
      ['--fixture', 'frozen.json', '--frozen=false'],
      '11:00',
    ],
  ])('has a clock that %s', async ([, args, window], { serve, folder }) => {
    const now = '2026-01-15T09:59:59.900Z'
    writeFileSync(join(folder, 'frozen.json'), JSON.stringify({ clock: { now: '2026-01-01T00:00:00Z', frozen: true } }))
    const service = await serve(['--now', now, '--no-quotas', ...args], { folder })
    const started = Date.now()
    let headers = new Headers()
    // The window ends 100 ms after the start; a machine that is slow to start only makes it sooner.
    for (let late = false; !late; ) {
      late = Date.now() - started > 150
      headers = (await service.request('/domains')).headers
    }
    expect(headers.get('x-ratelimit-reset')).toBe(`${Date.parse(`2026-01-15T${window}:00Z`) / 1000}`)
  })

  it.for<[args: string[], status: number]>([
    [[], 429],
    [['--no-quotas'], 200],
  ])('with %j answers the eleventh GET /dmarc with %d', async ([args, status], { serve }) => {
    const service = await serve(args)
    for (let sent = 0; sent < 10; sent++) expect((await service.request('/dmarc')).status).toBe(200)
    expect((await service.request('/dmarc')).status).toBe(status)
  })

  it('takes overlays in the order given', async ({ serve }) => {
    const overlays = ['--overlay', withBodyLimit(10), '--overlay', withBodyLimit(1000)]
    const service = await serve(overlays)
    const body = JSON.stringify({ name: 'Marketing department' })
    expect((await service.request('/domaingroups', { method: 'POST', body })).status).toBe(200)
  })

  it('lets the last of an option count that is given twice', async ({ serve }) => {
    const service = await serve(['--fixture', 'nowhere', '--fixture', 'empty'])
    expect((await service.request('/domains')).status).toBe(200)
  })

  it('names the addresses that others use, and says that the dashboard asks for a token', async ({ serve }) => {
    const service = await serve(['--host', '0.0.0.0', '--admin-token', 'T'])
    const { port } = new URL(service.baseUrl)
    const own = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
    const named = [...service.stdout().matchAll(/^ {2}Elsewhere {2}(\S+)$/gm)].map(([, url]) => url)
    expect(named).toEqual(own.map(({ address }) => `http://${address}:${port}/api/v1`))
    expect(service.stdout()).toContain(`/__admin/   (it asks for the token of --admin-token)\n`)
    expect(service.stdout(), 'a token is a secret').not.toMatch(/\bT\b/)
  })

  it('names one address where only this machine can reach it', async ({ serve }) => {
    expect((await serve()).stdout()).not.toMatch(/Elsewhere|token/)
  })

  it('has a control plane that tells its health and which run of it answers', async ({ serve }) => {
    const { origin } = await serve()
    const response = await fetch(`${origin}/__admin/health`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ success: true, data: { status: 'ok', instance: expect.any(String) } })
  })

  it('has no control plane with --no-admin', async ({ serve }) => {
    const { origin, stdout } = await serve(['--no-admin'])
    const response = await fetch(`${origin}/__admin/health`)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'not_found' } })
    expect(stdout()).not.toContain('__admin')
  })
})
