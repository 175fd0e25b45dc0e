import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect } from 'vitest'
import { assumptionsOf, overlayFor } from '../../src/contract/assumptions.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { valueAt } from '../../src/ground/json.ts'
import { expectRefusal, it, PROGRAM, ROOT, ready, run, runShell, scratch } from '../support/program.ts'

const { document } = await loadContract()
const assumptions = assumptionsOf(document.source, document.extensions)
const COMMANDS = ['serve', 'fixture', 'assumptions'] as const
const OPTIONS_OF_SERVE = [
  'port',
  'host',
  'data',
  'durability',
  'skip-damaged',
  'fixture',
  'seed',
  'now',
  'frozen',
  'api-key',
  'plan',
  'faults',
  'admin-token',
  'max-accounts',
  'journal',
  'no-sandbox-keys',
  'no-prefer',
  'no-simulator',
  'no-admin',
  'no-quotas',
  'overlay',
  'response-validation',
  'log-level',
]
const SERVE_OPTIONS = OPTIONS_OF_SERVE.map((name) => `--${name}`).join(', ')

function writeOverlay(name: string, target: string, update: object): string {
  const path = join(mkdtempSync(join(scratch, 'overlay-')), name)
  const document = { overlay: '1.0.0', info: { title: name, version: '1.0.0' }, actions: [{ target, update }] }
  writeFileSync(path, JSON.stringify(document))
  return path
}

const withBodyLimit = (value: number) => writeOverlay('limit.yaml', "$['x-settings']['body-limit']", { value })
const withLowestPlan = (lowest: string) => writeOverlay('plan.yaml', "$['x-settings'].plans.value", { lowest })

describe.concurrent('serve', () => {
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
    [['--no-sandbox-keys'], { authorization: 'Bearer sandbox_mine' }, 401],
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

  it('has a control plane that tells its health', async ({ serve }) => {
    const { origin } = await serve()
    const response = await fetch(`${origin}/__admin/health`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ success: true, data: { status: 'ok' } })
  })

  it('has no control plane with --no-admin', async ({ serve }) => {
    const { origin, stdout } = await serve(['--no-admin'])
    const response = await fetch(`${origin}/__admin/health`)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'not_found' } })
    expect(stdout()).not.toContain('__admin')
  })
})

describe.concurrent('serve refuses', () => {
  const number = 'must be a whole number from 0 to'
  const instant = 'must be an instant such as 2026-01-15T09:00:00Z'

  it.each<[args: string[], message: string]>([
    [['--port', 'http'], `--port http: ${number} 65535`],
    [['--port', '65536'], `--port 65536: ${number} 65535`],
    [['--port', '-1'], `--port -1: ${number} 65535`],
    [['--port=1.5'], `--port 1.5: ${number} 65535`],
    [['--port', '0x10'], `--port 0x10: ${number} 65535`],
    [['--port='], `--port : ${number} 65535`],
    [['--port'], '--port needs a value: --port PORT'],
    [['--port', '1\n2'], `--port 1 2: ${number} 65535`],
    [['--seed', 'x'], `--seed x: ${number} 9007199254740991`],
    [['--seed', '9007199254740992'], `--seed 9007199254740992: ${number} 9007199254740991`],
    [['--seed', '1e3'], `--seed 1e3: ${number} 9007199254740991`],
    [['--now', 'tomorrow'], `--now tomorrow: ${instant}`],
    [['--now', '2026-01-15'], `--now 2026-01-15: ${instant}`],
    [['--now', '2026-01-15T09:00:00'], `--now 2026-01-15T09:00:00: ${instant}`],
    [['--now', '2026-13-01T00:00:00Z'], `--now 2026-13-01T00:00:00Z: ${instant}`],
    [['--now', '2026-02-30T00:00:00Z'], `--now 2026-02-30T00:00:00Z: ${instant}`],
    [['--now', '1768471200'], `--now 1768471200: ${instant}`],
    [['--log-level', 'debug'], '--log-level debug: must be one of info, warn, error, silent'],
    [['--log-level', 'INFO'], '--log-level INFO: must be one of info, warn, error, silent'],
    [['--log-level'], '--log-level needs a value: --log-level info|warn|error|silent'],
    [['--response-validation', 'on'], '--response-validation on: must be one of error, warn, off'],
    [['--no-admin=maybe'], '--no-admin maybe: must be true or false'],
    [['--no-quotas=2'], '--no-quotas 2: must be true or false'],
    [['--durability', 'none'], '--durability none: must be one of rename, fsync'],
    [['--durability'], '--durability needs a value: --durability rename|fsync'],
    [['--skip-damaged=some'], '--skip-damaged some: must be true or false'],
    [['--frozen=still'], '--frozen still: must be true or false'],
    [['--frozen', '--now'], '--now needs a value: --now INSTANT'],
    [['--host='], '--host : must be a text that is not empty'],
    [['--data', ''], '--data : must be a text that is not empty'],
    [['--data'], '--data needs a value: --data DIR'],
    [['--data', '--no-admin'], '--data needs a value: --data DIR'],
    [['--api-key', '--port', '0'], '--api-key needs a value: --api-key KEY'],
    [['--overlay', '--frozen'], '--overlay needs a value: --overlay FILE'],
    [['--fixture='], '--fixture : must be the name of a ready-made fixture, the path of a file, or a fixture'],
    [['--max-accounts', '0'], '--max-accounts 0: must be a whole number from 1 to 10000000'],
    [['--max-accounts', 'many'], '--max-accounts many: must be a whole number from 1 to 10000000'],
    [['--max-accounts'], '--max-accounts needs a value: --max-accounts N'],
    [['--journal', '1000001'], `--journal 1000001: ${number} 1000000`],
    [['--journal', '-1'], `--journal -1: ${number} 1000000`],
    [['--journal='], `--journal : ${number} 1000000`],
    [['--no-sandbox-keys=no'], '--no-sandbox-keys no: must be true or false'],
    [['--no-prefer=off'], '--no-prefer off: must be true or false'],
    [['--no-simulator=2'], '--no-simulator 2: must be true or false'],
    [['--faults'], '--faults needs a value: --faults SET|FILE[#SET]'],
    [['--faults='], '--faults : must be a list of texts that are not empty'],
    [
      ['--faults', 'flakey'],
      'flakey: The fault sets cannot be read (ENOENT); give flaky, quota-storm, lossy-writes, slow or the path of a JSON file.',
    ],
    [
      ['--admin-token', 'two words'],
      '--admin-token two words: must be 1 to 200 visible ASCII characters without spaces',
    ],
    [['--api-key', ''], '--api-key : must be 1 to 200 visible ASCII characters without spaces'],
    [['--plan', ''], '--plan : must be a text that is not empty'],
    [['--admin-token', ''], '--admin-token : must be 1 to 200 visible ASCII characters without spaces'],
    [['--overlay='], '--overlay : must be a list of texts that are not empty'],
    [['--overlay'], '--overlay needs a value: --overlay FILE'],
    [['--prot', '80'], `--prot is no option here; there are ${SERVE_OPTIONS}`],
    [['--Port', '80'], `--Port is no option here; there are ${SERVE_OPTIONS}`],
    [['--json'], `--json is no option here; there are ${SERVE_OPTIONS}`],
    [['-p', '80'], `-p is no option here; there are ${SERVE_OPTIONS}`],
    [['--constructor'], `--constructor is no option here; there are ${SERVE_OPTIONS}`],
    [['--__proto__=1'], `--__proto__ is no option here; there are ${SERVE_OPTIONS}`],
    [['now'], 'serve takes no argument, but was given now'],
    [['--', '--port'], 'serve takes no argument, but was given --port'],
    [
      ['--fixture', 'nowhere.json'],
      'nowhere.json: The fixture cannot be read (ENOENT); give demo, empty, edge-cases, agency or the path of a JSON file.',
    ],
    [
      ['--fixture', 'no\nwhere'],
      'no where: The fixture cannot be read (ENOENT); give demo, empty, edge-cases, agency or the path of a JSON file.',
    ],
    [
      ['--fixture=--demo'],
      '--demo: The fixture cannot be read (ENOENT); give demo, empty, edge-cases, agency or the path of a JSON file.',
    ],
    [['--plan', 'gold'], '--plan gold: must be one of below-stone, stone, above-stone'],
    [['--overlay', 'nowhere.yaml'], 'nowhere.yaml: The overlay cannot be read (ENOENT).'],
    [['--host', '0.0.0.0'], '--host 0.0.0.0: others can reach this address, so give --admin-token TOKEN or --no-admin'],
    [['--host', '::'], '--host ::: others can reach this address, so give --admin-token TOKEN or --no-admin'],
    [
      ['--host', '127.0.0.1.example'],
      '--host 127.0.0.1.example: others can reach this address, so give --admin-token TOKEN or --no-admin',
    ],
  ])('%j with exit code 2 and one line', async (args, message) => {
    await expectRefusal(['serve', ...args], 2, message)
  })

  it('a plan that the fixture asks for and there is not, by the place in the fixture', async ({ folder }) => {
    writeFileSync(join(folder, 'gold.json'), '{"plan": "gold"}')
    const message = 'gold.json#/plan: There is no plan gold; there are below-stone, stone, above-stone.'
    await expectRefusal(['serve', '--port', '0', '--fixture', 'gold.json'], 2, message, { folder })
  })

  it.for<[what: string, text: string, message: RegExp]>([
    ['that is no JSON', '{', /^\S+file\.json: This is not valid JSON: .+\.$/],
    ['that is broken after several lines', '[1,\n2,\n}', /^\S+file\.json: This is not valid JSON: .+\.$/],
    [
      'with an unknown field',
      '{"colour": 1}',
      /^\S+file\.json#\/colour: The value is not allowed here; allowed fields are \$schema, title, description, plan, seed, clock, keys, domains, groups, groups_created\.$/,
    ],
    ['with a bad domain', '{"domains": ["x"]}', /^\S+file\.json#\/domains\/0: "x" is not a valid hostname\.$/],
  ])('a fixture file %s with exit code 2 and one line', async ([, text, message], { folder }) => {
    const path = join(folder, 'file.json')
    writeFileSync(path, text)
    await expectRefusal(['serve', '--fixture', path], 2, message)
  })

  it.for<[what: string, source: string, text: string, message: RegExp]>([
    ['that is no JSON', 'file.json', '{', /^file\.json: This is not valid JSON: .+\.$/],
    ['that is no object', 'file.json', '[]', /^file\.json#: The value .+\.$/],
    ['without rules', 'file.json', '{"a": {}}', /^file\.json#\/a\/rules: The value is missing\.$/],
    [
      'without the set that is asked for',
      'file.json#b',
      '{"a": {"rules": []}}',
      /^file\.json: There is no fault set b; it has a\.$/,
    ],
    [
      'with a rule that does nothing',
      'file.json',
      '{"a/b": {"rules": [{"times": 1}]}}',
      /^file\.json#\/a~1b\/rules\/0\b.+$/,
    ],
    [
      'with an error that there is not',
      'file.json',
      '{"a": {"rules": [{"respond": {"error": "teapot"}}]}}',
      /^file\.json#\/a\/rules\/0\/respond\/error: .+$/,
    ],
  ])('a file of fault sets %s with exit code 2 and one line', async ([, source, text, message], { folder }) => {
    writeFileSync(join(folder, 'file.json'), text)
    await expectRefusal(['serve', '--port', '0', '--faults', source], 2, message, { folder })
  })

  it.for<[what: string, text: string, message: RegExp]>([
    ['that is no YAML', 'overlay: [', /^\S+file\.yaml:1:\d+: This is not valid YAML: .+\.$/],
    ['that is another document', 'openapi: 3.1.1', /^\S+file\.yaml: This is no OpenAPI Overlay: .+\.$/],
    [
      'that selects nothing',
      'overlay: 1.0.0\nactions: [{ target: $.nowhere, remove: true }]',
      /^\S+file\.yaml#\/actions\/0\/target: The target \$\.nowhere selects nothing in openapi\.yaml\.$/,
    ],
    [
      'that breaks the document',
      'overlay: 1.0.0\nactions: [{ target: $, update: { x-colour: blue } }]',
      /^openapi\.yaml#\/x-colour: The extension x-colour is unknown; known are .+\.$/,
    ],
  ])('an overlay file %s with exit code 2 and one line', async ([, text, message], { folder }) => {
    const path = join(folder, 'file.yaml')
    writeFileSync(path, text)
    await expectRefusal(['serve', '--overlay', path], 2, message)
  })

  it.for([
    ['as an option', '--port'],
    ['in the environment', 'DMARC_UNDERSTUDY_PORT'],
  ] as const)(
    'a port that is in use, given %s, with exit code 3 and one line',
    async ([, source], { onTestFinished }) => {
      const other = createServer().listen(0, '127.0.0.1')
      onTestFinished(() => void other.close())
      await once(other, 'listening')
      const port = `${valueAt(other.address(), '/port')}`
      const message = `${source} ${port}: is in use on 127.0.0.1; choose another, or 0 for any free port`
      if (source === '--port') await expectRefusal(['serve', source, port], 3, message)
      else await expectRefusal(['serve'], 3, message, { environment: { [source]: port } })
    },
  )

  const anyOther = 'choose one of its own addresses, such as 127.0.0.1'

  it('an address of another machine with exit code 3 and one line', async () => {
    const message = `--host 192.0.2.1: this machine cannot listen on it (EADDRNOTAVAIL); ${anyOther}`
    await expectRefusal(['serve', '--port', '0', '--no-admin', '--host', '192.0.2.1'], 3, message)
  })

  it('an address of another machine in the environment with exit code 3 and one line', async () => {
    const message = `DMARC_UNDERSTUDY_HOST 192.0.2.1: this machine cannot listen on it (EADDRNOTAVAIL); ${anyOther}`
    const environment = { DMARC_UNDERSTUDY_HOST: '192.0.2.1' }
    await expectRefusal(['serve', '--port', '0', '--no-admin'], 3, message, { environment })
  })

  it('a name of no machine with exit code 3 and one line', async () => {
    // Which error it is depends on the resolver.
    const message = new RegExp(
      `^--host nowhere\\.invalid: this machine cannot listen on it \\(E[A-Z_]+\\); ${anyOther.replaceAll('.', '\\.')}$`,
    )
    await expectRefusal(['serve', '--port', '0', '--no-admin', '--host', 'nowhere.invalid'], 3, message)
  })

  it('a data folder that is a file with exit code 3 and one line', async ({ folder }) => {
    const path = join(folder, 'data')
    writeFileSync(path, '')
    await expectRefusal(['serve', '--port', '0', '--data', path], 3, `${path} is not a folder`)
  })

  it('a data folder with a damaged account with exit code 3 and one line', async ({ folder }) => {
    const path = join(folder, 'account-default.json')
    writeFileSync(path, '{"format":')
    const message = `${path}: is not JSON; it was cut off or changed by hand`
    await expectRefusal(['serve', '--port', '0', '--data', folder], 3, message)
    expect(readFileSync(path, 'utf8')).toBe('{"format":')
  })

  it('leaves no lock behind when it could not start', async ({ folder }) => {
    await expectRefusal(['serve', '--port', '0', '--data', folder, '--fixture', 'nowhere'], 2, /^nowhere: /)
    expect(existsSync(join(folder, '.lock'))).toBe(false)
  })
})

describe.concurrent('the environment', () => {
  const variable = (option: string) => `DMARC_UNDERSTUDY_${option.toUpperCase().replaceAll('-', '_')}`

  it('gives the value of every option that is not given', async ({ start, folder }) => {
    const environment = {
      DMARC_UNDERSTUDY_PORT: '0',
      DMARC_UNDERSTUDY_HOST: '0.0.0.0',
      DMARC_UNDERSTUDY_DATA: join(folder, 'accounts'),
      DMARC_UNDERSTUDY_DURABILITY: 'fsync',
      DMARC_UNDERSTUDY_SKIP_DAMAGED: 'true',
      DMARC_UNDERSTUDY_FIXTURE: 'empty',
      DMARC_UNDERSTUDY_SEED: '7',
      DMARC_UNDERSTUDY_NOW: '2026-01-15T09:30:00Z',
      DMARC_UNDERSTUDY_FROZEN: 'true',
      DMARC_UNDERSTUDY_API_KEY: 'key_of_the_environment',
      DMARC_UNDERSTUDY_PLAN: 'above-stone',
      DMARC_UNDERSTUDY_FAULTS: `${join(folder, 'own.json')}#gone,${join(folder, 'own.json')}#lost`,
      DMARC_UNDERSTUDY_ADMIN_TOKEN: 'T',
      DMARC_UNDERSTUDY_MAX_ACCOUNTS: '1',
      DMARC_UNDERSTUDY_JOURNAL: '0',
      DMARC_UNDERSTUDY_NO_SANDBOX_KEYS: 'true',
      DMARC_UNDERSTUDY_NO_PREFER: 'true',
      DMARC_UNDERSTUDY_NO_SIMULATOR: 'true',
      DMARC_UNDERSTUDY_NO_ADMIN: 'true',
      DMARC_UNDERSTUDY_NO_QUOTAS: '1',
      DMARC_UNDERSTUDY_OVERLAY: `${withBodyLimit(10)},${withLowestPlan('above-stone')}`,
      DMARC_UNDERSTUDY_RESPONSE_VALIDATION: 'warn',
      DMARC_UNDERSTUDY_LOG_LEVEL: 'silent',
    }
    expect(Object.keys(environment)).toEqual(OPTIONS_OF_SERVE.map(variable))
    const once = (operation: string, status: number) => ({
      rules: [{ match: { operation }, times: 1, respond: { status } }],
    })
    const sets = { gone: once('deleteDomains', 410), lost: once('addDomains', 504), never: once('listDmarc', 502) }
    writeFileSync(join(folder, 'own.json'), JSON.stringify(sets))
    const broken = join(folder, 'accounts', 'account-broken.json')
    mkdirSync(join(folder, 'accounts'))
    writeFileSync(broken, '')
    const service = await ready(start(['serve'], { environment }))
    expect(service.apiKey).toBe('key_of_the_environment')
    const kept = JSON.parse(readFileSync(join(folder, 'accounts', 'account-default.json'), 'utf8'))
    expect(kept.account).toMatchObject({ seed: 7, clock: { frozenAt: Date.parse('2026-01-15T09:30:00Z') } })
    expect(kept.account.faults.map(({ set }: { set: string }) => set)).toEqual(['gone', 'lost'])
    for (let sent = 0; sent < 11; sent++) expect((await service.request('/dmarc')).status).toBe(200)
    const { headers, body } = await service.request('/domains')
    expect(headers.get('x-ratelimit-reset')).toBe(`${Date.parse('2026-01-15T10:00:00Z') / 1000}`)
    expect(body).toEqual({ success: true, data: { domains: [] } })
    const tooLong = { method: 'POST', body: JSON.stringify({ name: 'Marketing' }) }
    expect((await service.request('/domaingroups', tooLong)).status).toBe(413)
    expect((await fetch(`${service.origin}/__admin/health`)).status).toBe(404)
    service.signal('SIGTERM')
    const stderr = `DMARC_UNDERSTUDY_SKIP_DAMAGED true: leaves out ${broken}: is empty\n`
    expect(await service.ended).toMatchObject({ code: 0, stderr })
  })

  it.for(['stone', 'below-stone'])(
    'of several overlays separated by commas takes each, as the plan %s shows',
    async (plan, { serve }) => {
      const overlays = [withBodyLimit(10), withLowestPlan('below-stone')]
      const service = await serve(['--plan', plan], { environment: { DMARC_UNDERSTUDY_OVERLAY: overlays.join(',') } })
      expect((await service.request('/domains')).status).toBe(200)
      expect((await service.request('/domaingroups', { method: 'POST', body: '{"name":"ab"}' })).status).toBe(413)
    },
  )

  it('gives way to what is given as an option, be it wrong or not', async ({ serve }) => {
    const service = await serve(['--fixture', 'empty', '--overlay', withBodyLimit(1000)], {
      environment: {
        DMARC_UNDERSTUDY_PORT: 'x',
        DMARC_UNDERSTUDY_FIXTURE: 'nowhere',
        DMARC_UNDERSTUDY_OVERLAY: 'nowhere.yaml',
      },
    })
    expect((await service.request('/domains')).body).toMatchObject({ data: { domains: [] } })
  })

  it.for(['0', 'false', ''])('leaves a switch off with %j', async (value, { serve }) => {
    const { origin } = await serve([], { environment: { DMARC_UNDERSTUDY_NO_ADMIN: value } })
    expect((await fetch(`${origin}/__admin/health`)).status).toBe(200)
  })

  it.each<[option: string, value: string, message: string]>([
    ['port', 'http', 'must be a whole number from 0 to 65535'],
    ['port', '', 'must be a whole number from 0 to 65535'],
    ['seed', '-1', 'must be a whole number from 0 to 9007199254740991'],
    ['now', 'tomorrow', 'must be an instant such as 2026-01-15T09:00:00Z'],
    ['log-level', 'debug', 'must be one of info, warn, error, silent'],
    ['response-validation', 'on', 'must be one of error, warn, off'],
    ['no-admin', 'maybe', 'must be true or false'],
    ['no-quotas', 'yes', 'must be true or false'],
    ['frozen', 'on', 'must be true or false'],
    ['fixture', '', 'must be the name of a ready-made fixture, the path of a file, or a fixture'],
    ['plan', 'gold', 'must be one of below-stone, stone, above-stone'],
    ['data', '', 'must be a text that is not empty'],
    ['durability', 'FSYNC', 'must be one of rename, fsync'],
    ['skip-damaged', 'some', 'must be true or false'],
    ['api-key', '', 'must be 1 to 200 visible ASCII characters without spaces'],
    ['overlay', '', 'must be a list of texts that are not empty'],
    ['host', '0.0.0.0', 'others can reach this address, so give --admin-token TOKEN or --no-admin'],
    ['faults', '', 'must be a list of texts that are not empty'],
    ['max-accounts', '0', 'must be a whole number from 1 to 10000000'],
    ['journal', 'all', 'must be a whole number from 0 to 1000000'],
    ['no-sandbox-keys', 'no', 'must be true or false'],
    ['no-prefer', 'no', 'must be true or false'],
    ['no-simulator', 'no', 'must be true or false'],
  ])('is named when its value for %s, %j, is wrong', async (option, value, message) => {
    await expectRefusal(['serve'], 2, `${variable(option)} ${value}: ${message}`, {
      environment: { [variable(option)]: value },
    })
  })

  it('gives overlays to the command assumptions as well', async () => {
    const environment = { DMARC_UNDERSTUDY_OVERLAY: withBodyLimit(10) }
    const { stdout } = await run(['assumptions', '--json'], { environment })
    const listed = JSON.parse(stdout) as typeof assumptions
    expect(listed.find(({ id }) => id === 'body-limit')?.choice).toEqual({ value: 10 })
  })
})

describe.concurrent('help', () => {
  it.each([[[]], [['--help']], [['-h']], [['help']]])('of the program, %j, names every command', async (args) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const command of COMMANDS) expect(stdout).toContain(`\n  ${command} `)
    expect(stdout).toContain('Usage: dmarc-understudy COMMAND')
  })

  it.each(COMMANDS)('of %s says the same with -h and --help, wherever it stands', async (command) => {
    const texts = await Promise.all([[], ['x'], ['--port', 'x']].map((args) => run([command, ...args, '--help'])))
    const short = await run([command, '-h'])
    for (const result of texts) expect(result).toEqual(short)
    expect(short).toMatchObject({ code: 0, stderr: '' })
    expect(short.stdout).toContain(`Usage: dmarc-understudy ${command} `)
    expect(short.stdout).toContain('DMARC_UNDERSTUDY_<OPTION>')
  })

  it.each<[command: string, options: string[]]>([
    ['serve', OPTIONS_OF_SERVE],
    ['fixture', ['domains', 'groups', 'seed', 'story', 'format', 'now', 'out', 'force', 'describe']],
    ['assumptions', ['json', 'overlay']],
  ])('of %s lists each of its options with what it does', async (command, options) => {
    const { stdout } = await run([command, '--help'])
    const listed = [...stdout.matchAll(/^ {2}--([a-z-]+)(?: \S+)?\s+\S.*\.$/gm)].map(([, name]) => name)
    expect(listed).toEqual(options)
  })

  it('is not asked for behind --', async () => {
    await expectRefusal(['serve', '--', '--help'], 2, 'serve takes no argument, but was given --help')
  })
})

describe.concurrent('the program', () => {
  it.each([['--version'], ['-v']])('says its version with %s', async (flag) => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(await run([flag])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it.each([['serve', '--port', '0'], ['fixture', '--domains', '2'], ['assumptions'], ['--help']])(
    'that cannot write its output says so in one line: %s %s %s',
    async (...args) => {
      const { code, stderr } = await runShell(`'${process.execPath}' '${PROGRAM}' ${args.join(' ')} > /dev/full`)
      const message = 'standard output cannot be written (ENOSPC); send it somewhere else'
      expect({ code, stderr }).toEqual({ code: 3, stderr: `dmarc-understudy: ${message}\n` })
    },
  )

  it.each(['frobnicate', 'SERVE', '--port', '-x', 'constructor', '__proto__', ''])(
    'refuses %j, which is no command',
    async (name) => {
      await expectRefusal([name], 2, `${name} is no command; there are ${COMMANDS.join(', ')}`)
    },
  )
})

describe.concurrent('assumptions', () => {
  it('lists each with its place, the gap, the choice and the alternatives', async () => {
    const { code, stdout, stderr } = await run(['assumptions'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const blocks = stdout.trimEnd().split('\n\n')
    expect(blocks.map((block) => block.split('\n')[0])).toEqual(assumptions.map(({ id }) => id))
    expect(blocks.find((block) => block.startsWith('status-not-monitored\n'))?.split('\n')).toEqual([
      'status-not-monitored',
      '  stands at    /components/x-errors/not_monitored',
      '  left open    HTTP status codes for each error code: not shown.',
      '  our choice   {"status":400}',
      '  or 1         {"status":404}',
      '  or 2         {"status":409}',
      '  or 3         {"status":422}',
    ])
  })

  it('prints the same as JSON', async () => {
    const { code, stdout } = await run(['assumptions', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(assumptions)))
  })

  it.each([
    ['head', '1', []],
    ['body-limit', '2', []],
    ['request-id-format', '1', []],
    ['add-domains-status', '1', []],
    ['status-plan-too-low', '2', []],
    ['blank-names', '1', ['--json']],
    ['update-group-response', '1', ['--json']],
  ])('prints the overlay of %s, alternative %s, with %j', async (id, number, flags) => {
    const assumption = assumptions.find((each) => each.id === id)
    const alternative = assumption?.alternatives[Number(number) - 1]
    if (assumption === undefined || alternative === undefined) throw new Error(`There is no ${id} ${number}.`)
    const { code, stdout, stderr } = await run(['assumptions', 'overlay', id, number, ...flags])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(flags.length > 0 ? JSON.parse(stdout) : load(stdout)).toEqual({
      overlay: '1.0.0',
      info: { title: `${id}, alternative ${number}`, version: '1.0.0' },
      actions: overlayFor(assumption, alternative, document.source).actions,
    })
  })

  it('prints the overlay of the first alternative when no number is given', async () => {
    const [first, silent] = await Promise.all([
      run(['assumptions', 'overlay', 'body-limit', '1']),
      run(['assumptions', 'overlay', 'body-limit']),
    ])
    expect(silent).toEqual(first)
  })

  it.each<[args: string[], message: string | RegExp]>([
    [
      ['overlay', 'nonsense'],
      'assumptions overlay nonsense: must be the id of an assumption; the command assumptions lists them',
    ],
    [['overlay'], /must be the id of an assumption; the command assumptions lists them$/],
    [['overlay', 'body-limit', '0'], 'assumptions overlay body-limit 0: must be one of its 2 alternatives, from 1'],
    [['overlay', 'body-limit', '3'], 'assumptions overlay body-limit 3: must be one of its 2 alternatives, from 1'],
    [['overlay', 'body-limit', 'two'], 'assumptions overlay body-limit two: must be one of its 2 alternatives, from 1'],
    [['overlay', 'body-limit', '1', '2'], 'assumptions overlay body-limit 1 2: must be overlay ID [N], or nothing'],
    [['list'], 'assumptions list: must be overlay ID [N], or nothing'],
    [['--port', '1'], '--port is no option here; there are --json, --overlay'],
    [['--json=perhaps'], '--json perhaps: must be true or false'],
    [['--overlay', 'nowhere.yaml'], 'nowhere.yaml: The overlay cannot be read (ENOENT).'],
  ])('refuses %j with exit code 2 and one line', async (args, message) => {
    await expectRefusal(['assumptions', ...args], 2, message)
  })

  it('make an overlay that serve takes', async ({ serve, folder }) => {
    const program = `'${process.execPath}' '${PROGRAM}'`
    const written = await runShell(`${program} assumptions overlay create-group-status 1 > overlay.yaml`, { folder })
    expect(written).toEqual({ code: 0, stdout: '', stderr: '' })
    const group = { method: 'POST', body: '{"name":"Marketing"}' }
    const [chosen, otherwise] = await Promise.all([
      serve([], { folder }),
      serve(['--overlay', 'overlay.yaml'], { folder }),
    ])
    expect((await chosen.request('/domaingroups', group)).status).toBe(200)
    expect((await otherwise.request('/domaingroups', group)).status).toBe(201)
  })
})

describe('a signal', () => {
  it.for(['SIGTERM', 'SIGINT'] as const)(
    '%s ends serve with exit code 0 within 2 seconds, idle connections or not',
    async (signal, { serve, onTestFinished }) => {
      const service = await serve()
      const agent = new Agent({ keepAlive: true })
      onTestFinished(() => agent.destroy())
      const request = get(`${service.baseUrl}/domains`, { agent })
      const [response] = await once(request, 'response')
      await once(response.resume(), 'end')
      expect(request.socket?.destroyed).toBe(false)
      const sent = performance.now()
      service.signal(signal)
      expect(await service.ended).toMatchObject({ code: 0 })
      expect(performance.now() - sent).toBeLessThan(2000)
    },
  )
})

describe('npm start', () => {
  it('passes options on, and ends with everything it started when npm is told to', async ({ onTestFinished }) => {
    // Without the build, which the tests have just made.
    const args = ['start', '--silent', '--ignore-scripts', '--', '--port', '0', '--log-level', 'silent']
    const child = spawn('npm', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let greeting = ''
    for await (const chunk of child.stdout) {
      greeting += chunk
      if (greeting.includes('Try it')) break
    }
    const [, baseUrl = ''] = /Base URL {3}(\S+)/.exec(greeting) ?? []
    expect((await fetch(`${baseUrl}/domains`)).status).toBe(401)
    child.kill('SIGTERM')
    await once(child, 'exit')
    await expect(fetch(`${baseUrl}/domains`)).rejects.toThrow()
  })
})

describe.concurrent('a data folder', () => {
  it('keeps domains, groups, key and the clock over a restart', async ({ serve, folder }) => {
    const accounts = join(folder, 'accounts')
    const args = ['--data', accounts, '--fixture', 'empty', '--now', '2026-01-15T09:30:00Z']
    const first = await serve(args)
    await first.request('/domains', { method: 'POST', body: '{"domains":["a.example","B.example"]}' })
    await first.request('/domaingroups', { method: 'POST', body: '{"name":"Shop","domains":["a.example"]}' })
    const before = await first.request('/domaingroups')
    first.signal('SIGTERM')
    expect(await first.ended).toMatchObject({ code: 0 })

    const second = await serve(['--data', accounts])
    expect(second.apiKey).toBe(first.apiKey)
    expect((await second.request('/domaingroups')).body).toEqual(before.body)
    const { body, headers } = await second.request('/domains')
    expect(body).toEqual({ success: true, data: { domains: ['a.example', 'b.example'] } })
    expect(headers.get('x-ratelimit-remaining')).toBe('28')
    expect(headers.get('x-ratelimit-reset')).toBe(`${Date.parse('2026-01-15T10:00:00Z') / 1000}`)
  })

  it.for<[args: string[], notes: string[]]>([
    [[], []],
    [
      ['--seed', '3', '--frozen'],
      ['--seed 3', '--frozen true'],
    ],
    [
      ['--fixture', 'empty', '--now', '2026-01-15T09:00:00Z', '--plan', 'stone'],
      ['--fixture empty', '--now 2026-01-15T09:00:00Z', '--plan stone'],
    ],
  ])('says that the account in it heeds none of %j', async ([args, notes], { serve, folder }) => {
    const first = await serve(['--data', folder])
    first.signal('SIGTERM')
    await first.ended
    const second = await serve(['--data', folder, '--log-level', 'silent', ...args])
    second.signal('SIGTERM')
    const { stderr } = await second.ended
    const lines = notes.map((note) => `${note}: applies to new accounts only; the account in ${folder} stays as it is`)
    expect(stderr.split('\n').filter(Boolean).toSorted()).toEqual(lines.toSorted())
  })

  it('is refused to a second process with exit code 3 and one line', async ({ serve, folder }) => {
    const service = await serve(['--data', folder])
    const user = new RegExp(
      `^${folder} is in use by process \\d+ on ${hostname()}: stop it, choose another folder, or `,
    )
    await expectRefusal(['serve', '--port', '0', '--data', folder], 3, user)
    expect((await service.request('/domains')).status).toBe(200)
    service.signal('SIGTERM')
    await service.ended
    expect(existsSync(join(folder, '.lock'))).toBe(false)
  })

  it.for(['SIGTERM', 'SIGINT'] as const)(
    'is free again after %s, and after SIGKILL when it is asked for',
    async (signal, { serve, folder }) => {
      const first = await serve(['--data', folder])
      first.signal('SIGKILL')
      await first.ended
      expect(existsSync(join(folder, '.lock'))).toBe(true)
      const second = await serve(['--data', folder])
      second.signal(signal)
      expect(await second.ended).toMatchObject({ code: 0 })
      expect(readdirSync(folder)).toEqual(['account-default.json'])
    },
  )

  it.for(['rename', 'fsync'])(
    'with --durability %s keeps what was answered from a kill',
    async (durability, { serve, folder }) => {
      const first = await serve(['--data', folder, '--durability', durability, '--fixture', 'empty'])
      expect((await first.request('/domains', { method: 'POST', body: '{"domains":["a.example"]}' })).status).toBe(200)
      first.signal('SIGKILL')
      await first.ended
      const second = await serve(['--data', folder])
      expect((await second.request('/domains')).body).toMatchObject({ data: { domains: ['a.example'] } })
    },
  )

  it('with --skip-damaged starts without a damaged account, and says which and why in one line', async ({
    serve,
    folder,
  }) => {
    const path = join(folder, 'account-broken.json')
    writeFileSync(path, '{"format":')
    const service = await serve(['--data', folder, '--skip-damaged', '--log-level', 'error'])
    expect((await service.request('/domains')).status).toBe(200)
    service.signal('SIGTERM')
    const { stderr } = await service.ended
    expect(stderr).toBe(`--skip-damaged true: leaves out ${path}: is not JSON; it was cut off or changed by hand\n`)
    expect(readFileSync(path, 'utf8')).toBe('{"format":')
  })

  it('with --skip-damaged does not start without the account that everybody has', async ({ folder }) => {
    const path = join(folder, 'account-default.json')
    writeFileSync(path, '')
    const message = `The account "default" is damaged: ${path}: is empty`
    await expectRefusal(['serve', '--port', '0', '--data', folder, '--skip-damaged'], 3, message)
  })

  it('that is gone at the stop makes the program end with exit code 3 and one line', async ({ serve, folder }) => {
    const accounts = join(folder, 'accounts')
    const service = await serve(['--data', accounts, '--log-level', 'silent'])
    // Something to keep at the stop: the request is counted.
    expect((await service.request('/domains')).status).toBe(200)
    rmSync(accounts, { recursive: true })
    service.signal('SIGTERM')
    const { code, stderr } = await service.ended
    expect(stderr).toMatch(/^dmarc-understudy: .*account-default\.json cannot be written \(ENOENT: [^\n]+\n$/)
    expect(code).toBe(3)
  })

  it('is made where it is missing, relative to where the program runs', async ({ serve, folder }) => {
    mkdirSync(join(folder, 'here'))
    await serve(['--data', 'deep/er'], { folder: join(folder, 'here') })
    expect(existsSync(join(folder, 'here', 'deep', 'er', 'account-default.json'))).toBe(true)
  })

  it('does not hold the key itself', async ({ serve, folder }) => {
    const service = await serve(['--data', folder])
    service.signal('SIGTERM')
    await service.ended
    const kept = readFileSync(join(folder, 'account-default.json'), 'utf8')
    expect(kept).not.toContain(service.apiKey.split('.')[1])
  })

  it('that knows of another key by its hash alone is served without telling it', async ({ serve, folder }) => {
    const first = await serve(['--data', folder, '--api-key', 'key_of_my_own'])
    first.signal('SIGTERM')
    await first.ended
    const second = await serve(['--data', folder])
    expect(second.apiKey).toBe('the one that the account was made with; only its hash is kept')
    expect(second.curl).toContain('Bearer YOUR_KEY')
    expect((await second.request('/domains', { headers: { authorization: 'Bearer key_of_my_own' } })).status).toBe(200)
  })
})

describe.concurrent('the log', () => {
  it('that nobody reads holds up neither the answers nor the stop', async ({ onTestFinished }) => {
    const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--no-quotas', '--api-key', 'some-key'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let greeting = ''
    for await (const chunk of child.stdout) {
      greeting += chunk
      if (greeting.includes('Try it')) break
    }
    const [, baseUrl] = /Base URL {3}(\S+)/.exec(greeting) ?? []
    // Each leaves a line of about 250 characters, and a pipe holds 64 KiB.
    for (let sent = 0; sent < 1500; sent++) {
      const response = await fetch(`${baseUrl}/domains`, { headers: { authorization: 'Bearer some-key' } })
      expect(response.status).toBe(200)
      await response.arrayBuffer()
    }
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  const WRONG_KEY = `key_Wrong123.${'w'.repeat(48)}`

  it('is JSON lines on standard error that tell of every request and hold no secret', async ({ serve }) => {
    const service = await serve(['--fixture', 'empty', '--admin-token', 'token-of-the-control-plane'])
    await service.request('/domains', { method: 'POST', body: '{"domains":["a.example"]}' })
    await service.request('/domaingroups?id=SECRET-ID')
    await service.request('/dmarc', { headers: { authorization: `Bearer ${WRONG_KEY}` } })
    await service.request('/nowhere')
    service.signal('SIGTERM')
    const { stderr } = await service.ended
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      {
        msg: 'request',
        method: 'POST',
        path: '/api/v1/domains',
        operation: 'addDomains',
        status: 200,
        account: 'default',
        key: service.apiKey.split('.')[0],
      },
      { msg: 'request', method: 'GET', path: '/api/v1/domaingroups', status: 404, code: 'not_found' },
      { msg: 'request', method: 'GET', path: '/api/v1/dmarc', status: 401, code: 'unauthorized' },
      { msg: 'request', method: 'GET', path: '/api/v1/nowhere', status: 404, code: 'not_found' },
    ])
    for (const line of lines) {
      expect(line).toMatchObject({ time: expect.any(String), request_id: expect.any(String), ms: expect.any(Number) })
    }
    for (const secret of [service.apiKey.split('.')[1], WRONG_KEY.split('.')[1], 'token-of', 'SECRET-ID', 'Bearer']) {
      expect(stderr).not.toContain(secret)
    }
  })

  it.for(['warn', 'error', 'silent'])('is silent about requests at the level %s', async (level, { serve }) => {
    const service = await serve(['--log-level', level])
    await service.request('/domains')
    service.signal('SIGTERM')
    expect((await service.ended).stderr).toBe('')
  })

  it('does not mix with standard output', async ({ serve }) => {
    const service = await serve()
    const greeting = service.stdout()
    await service.request('/domains')
    service.signal('SIGTERM')
    expect((await service.ended).stdout).toBe(greeting)
  })
})
