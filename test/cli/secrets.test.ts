import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { makeDiscreet } from '../../src/cli/discreet-terminal.ts'
import { findGiven } from '../../src/cli/given-secrets.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { SILENT } from '../../src/http/log.ts'
import { FORMAT_NAMES } from '../../src/reports/formats.ts'
import { flagOf, type Options, secret } from '../../src/start/option.ts'
import { LIBRARY_OPTIONS } from '../../src/start/option-table.ts'
import { listenOn } from '../support/listening.ts'
import { it } from '../support/program.ts'
import { runInProcess, startInProcess } from '../support/program-in-process.ts'
import { entryOf, harOf } from '../support/recorded.ts'
import { endOf, type Result, type RunOptions } from '../support/running-program.ts'
import { shellClient } from '../support/shell-client.ts'
import { DEPENDS_ON_ORDER } from '../trials/vary/varied-client.ts'
import { ask, listens } from './proxied.ts'
import { ENVIRONMENT, LAWFUL, VIOLATING } from './run-client.ts'

const HAS_BASH = spawnSync('bash', ['--version']).status === 0

/** Every kind of secret that a command line can hold. Some characters have another spelling in each format. */
const KEY = `k'1"a\\b%2Fc+d<e`
const TOKEN = 't&2"a\\b%2Fc+d>e'
const STORE = 's3cret-of-the-store'
const VARIABLE = 'v4riable-with-a-secret'
const ARGUMENT = 'a5gument-with-a-secret'
const USER = 'u6er-of-a-proxy'
const MADE = 'm7de-with-a-secret'
const ALL = { KEY, TOKEN, STORE, VARIABLE, ARGUMENT, USER, MADE }

const OWN = ['--api-key', KEY, `--admin-token=${TOKEN}`]
const FOR_COMMAND = ['--set-env', `SERVICE_TOKEN=${VARIABLE}`]
/** What the command of the user is given, and does not need. */
const ITS_OWN = ['client', '--token', ARGUMENT, `--proxy=https://me:${USER}@proxy.example`]
const SAYS_ALL = `echo "$UNDERSTUDY_API_KEY and $SERVICE_TOKEN" "$@" >&2;`
const BLIND_RETRY = `twice() { "$@" --fail --max-time 1 || "$@" --fail --max-time 1; }
${SAYS_ALL} twice send POST /domaingroups --data '{"name": "Retail"}'`
const ENSURE = `${SAYS_ALL} send GET /domaingroups | grep -q '"Retail"' || send POST /domaingroups --fail --data '{"name": "Retail"}'`
/** Makes an account with a key that only the server can know. */
const MAKES_ACCOUNT = `made=m7de; made=$made-with-a-secret
to() { curl --silent --noproxy '*' --header 'Content-Type: application/json' --data "$1" "$UNDERSTUDY_ADMIN_URL$2"; }
to '{"id": "mine", "fixture": "empty", "api_key": "'$made'"}' /accounts; echo "made $made"
${BLIND_RETRY}`
const LOST = '[{"match":{"operation":"createDomainGroup"},"times":1,"phase":"after","connection":"reset"}]'
const EXPLORED = ['explore', '--fixture', 'empty', ...OWN, ...FOR_COMMAND]

/** The variable of the environment that stands for a key in a line that a user can run again. */
const USABLE =
  /--api-key "\$DMARC_UNDERSTUDY_API_KEY" --admin-token="\$DMARC_UNDERSTUDY_ADMIN_TOKEN" --set-env SERVICE_TOKEN="\$SERVICE_TOKEN".* --token "\$TOKEN" --proxy=https:\/\/me:"\$PASSWORD"@proxy\.example/

function spellings(text: string): string[] {
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
  return [
    ...[text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text), html, html.replaceAll("'", '&#39;')],
    ...[text.replaceAll("'", `'\\''`), text.replaceAll('%', '%25'), Buffer.from(text).toString('base64')],
  ]
}

/** All files that a command has left in a folder, and what it printed. */
function outputsIn(folder: string, { stdout, stderr }: Result): Map<string, string> {
  const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)
  return new Map([['stdout', stdout], ['stderr', stderr], ...files])
}

function expectNoSecret(outputs: ReadonlyMap<string, string>): void {
  for (const [name, text] of outputs) {
    const found = Object.entries(ALL).filter(([, value]) => spellings(value).some((each) => text.includes(each)))
    expect(found, `${name}: ${text}`).toEqual([])
  }
}

/** Every report, and the environment of a job on GitHub Actions. */
function reportsIn(folder: string): { reports: string[]; environment: Record<string, string> } {
  const reports = FORMAT_NAMES.flatMap((format) => ['--report', `${format}=${join(folder, format)}`])
  return { reports, environment: { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(folder, 'summary') } }
}

/** A service that does everything wrong, and repeats the key wherever it can. */
async function startLeaking(): Promise<string> {
  const server = createServer(({ headers }, response) => {
    const body = JSON.stringify({ success: true, data: { domains: [KEY] }, message: `Why ${headers.authorization}?` })
    response.setHeader('X-Echo', KEY)
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  })
  return `http://127.0.0.1:${await listenOn(server)}/api/v1`
}

/** A recording in which the service answers whom it does not know, and a client sends its key in every place. */
function recordLeaks(folder: string): string {
  const file = join(folder, 'traffic.har')
  const authorization = { name: 'Authorization', value: `Bearer ${KEY}` }
  const message = `The key ${KEY} is not known.`
  const text = JSON.stringify({ success: false, error: { code: 'no_such_code', message } })
  const entries = [
    entryOf({ request: { headers: [{ name: 'host', value: 'dmarc.example' }] } }),
    entryOf({
      url: `/domains?api_key=${encodeURIComponent(KEY)}&more=${encodeURIComponent(KEY)}`,
      ...{ after: 1_000, request: { headers: [authorization, { name: 'Cookie', value: `a=${USER}` }] } },
      content: { text, size: text.length },
      response: { status: 418 },
    }),
  ]
  writeFileSync(file, harOf(entries))
  return file
}

const EVIDENCE = (folder: string) => [
  ...['--evidence', join(folder, 'evidence'), '--baseline', join(folder, 'baseline'), '--update-baseline'],
]

interface Row {
  args: string[]
  environment?: Record<string, string>
  /** What shows that there was something to tell. */
  tells: RegExp
}

type Prepare = (folder: string, inputs: string) => Row | Promise<Row>

const QUICK: Readonly<Record<string, Prepare>> = {
  run: () => ({
    args: [
      ...['run', ...OWN, ...FOR_COMMAND, '--fail-on', 'violation,impolite', '--min-coverage', '90', '--'],
      ...['sh', '-c', `eval "$CLIENT"; ${LAWFUL}; ${VIOLATING}; ask GET "/domains/$SERVICE_TOKEN"`, ...ITS_OWN],
    ],
    environment: ENVIRONMENT,
    tells: /The contract forbids the request/,
  }),
  'run with a command that is not there': () => ({
    args: ['run', ...OWN, '--', '/none/client', `--key=${ARGUMENT}`, `https://${USER}@a.example`],
    tells: /\/none\/client/,
  }),
  'explore with a plan': () => ({
    args: [...EXPLORED, '--replay', LOST, '--', ...shellClient(BLIND_RETRY), ...ITS_OWN],
    tells: USABLE,
  }),
  'explore with a key in the environment': () => ({
    args: ['explore', '--replay', LOST, '--', ...shellClient(BLIND_RETRY), 'client', KEY, `x${TOKEN}y`],
    environment: {
      ...{ DMARC_UNDERSTUDY_API_KEY: KEY, DMARC_UNDERSTUDY_ADMIN_TOKEN: TOKEN, DMARC_UNDERSTUDY_FIXTURE: 'empty' },
      DMARC_UNDERSTUDY_SET_ENV: `SERVICE_TOKEN=${VARIABLE},B=1`,
    },
    tells: / client "\$DMARC_UNDERSTUDY_API_KEY" x"\$DMARC_UNDERSTUDY_ADMIN_TOKEN"y/,
  }),
  'explore with a command that makes a key': () => ({
    args: ['explore', '--fixture', 'empty', ...FOR_COMMAND, '--replay', LOST, '--', ...shellClient(MAKES_ACCOUNT)],
    tells: /made \[redacted\]/,
  }),
  'explore with a command that fails anyway': () => ({
    args: [...EXPLORED, '--', 'sh', '-c', `${SAYS_ALL} exit 1`, ...ITS_OWN],
    tells: /the command fails without any fault/,
  }),
  'vary with a command that fails anyway': () => ({
    args: ['vary', ...OWN, ...FOR_COMMAND, '--', 'sh', '-c', `${SAYS_ALL} exit 1`, ...ITS_OWN],
    tells: /although nothing is varied/,
  }),
  verify: async (folder) => ({
    args: [
      ...['verify', '--base-url', await startLeaking(), '--api-key', KEY, '--read-only', ...EVIDENCE(folder)],
      ...['--ledger', join(folder, 'ledger')],
    ],
    tells: /FAILED/,
  }),
  'verify with credentials in its target': () => ({
    args: ['verify', '--base-url', `http://me:${USER}@127.0.0.1:1`, '--api-key', KEY],
    tells: /must not hold credentials/,
  }),
  check: (folder, inputs) => ({
    args: ['check', recordLeaks(inputs), ...EVIDENCE(folder)],
    tells: /FAILED/,
  }),
  'calibrate with a recording': (folder, inputs) => ({
    args: ['calibrate', recordLeaks(inputs), '--out', join(folder, 'overlay')],
    tells: /In the overlay/,
  }),
  'calibrate with a key': async () => ({
    args: ['calibrate', '--base-url', await startLeaking(), '--api-key', KEY],
    tells: /calibrate|verify/,
  }),
  'proxy with credentials in its target': () => ({
    args: ['proxy', '--target', `http://me:${USER}@127.0.0.1:1`, '--admin-token', TOKEN],
    tells: /must not hold credentials/,
  }),
}

/** The same without a report. */
const REFUSED: Readonly<Record<string, string[]>> = {
  'serve on an open address': ['serve', '--host', '0.0.0.0', '--api-key', KEY],
  'serve with a key that has a space': ['serve', '--api-key', `${KEY} x`, '--admin-token', TOKEN],
  'serve with a store that is not there': ['serve', '--store', `redis://me:${STORE}@127.0.0.1:1`, ...OWN],
  'serve with a wrong store': ['serve', '--store', `http://me:${STORE}@127.0.0.1:1`, ...OWN],
  'serve with a needless argument': ['serve', ...OWN, KEY],
  'run with a store that is not there': ['run', '--store', `redis://me:${STORE}@127.0.0.1:1`, '--', 'true'],
  'run with a wrong template': ['run', ...OWN, '--set-env', `A_TOKEN=${VARIABLE}{nothing}`, '--', 'true'],
  'mcp with credentials in its address': ['mcp', '--attach', `http://me:${USER}@127.0.0.1:1`],
  'mcp with an address where nothing is': ['mcp', '--attach', 'http://127.0.0.1:1/__admin', '--admin-token', TOKEN],
  'fixture with a needless argument': ['fixture', `https://me:${USER}@a.example`],
  'assumptions with a needless argument': ['assumptions', `https://me:${USER}@a.example`],
  'check with a file that is not there': ['check', `https://me:${USER}@a.example/x.har`],
}

async function expectDiscretion(folder: string, prepare: Prepare): Promise<void> {
  const [inputs, outputs] = [join(folder, 'inputs'), join(folder, 'outputs')]
  for (const each of [inputs, outputs]) mkdirSync(each)
  const { args, environment, tells } = await prepare(outputs, inputs)
  const on = reportsIn(outputs)
  const [command = '', ...rest] = args
  const options: RunOptions = { environment: { ...on.environment, ...environment } }
  const result = await runInProcess([command, ...on.reports, ...rest], options)
  expect(result.stderr).toMatch(tells)
  expectNoSecret(outputsIn(outputs, result))
}

describe('No output has a secret', () => {
  it.for(Object.keys(QUICK))('of %s', (name, { folder }) => expectDiscretion(folder, QUICK[name] ?? expect.fail))

  it.for(Object.entries(REFUSED))('of %s', async ([, args], { folder }) => {
    const result = await runInProcess(args, { environment: { DMARC_UNDERSTUDY_API_KEY: KEY } })
    expect(result.code).toBeGreaterThan(0)
    expect(result.stderr).toMatch(/^dmarc-understudy: .+\n$/)
    expectNoSecret(outputsIn(folder, result))
  })

  it('of assumptions, where it quotes the command of a client', async ({ folder }) => {
    const [evidence, dependencies] = [join(folder, 'evidence'), join(folder, 'dependencies')]
    const inputs = join(folder, 'inputs')
    mkdirSync(inputs)
    const recording = recordLeaks(inputs)
    await runInProcess(['check', recording, '--evidence', evidence])
    const command = ['client', '--api-key', KEY]
    const report = { command, baseline: { exit_code: 0, seconds: 1, requests: 1, steady: false }, runs: 2 }
    writeFileSync(dependencies, JSON.stringify({ ...report, alternatives: [] }))
    const { reports, environment } = reportsIn(inputs)
    const files = ['--evidence', evidence, '--dependencies', dependencies]
    const result = await runInProcess(['assumptions', ...files, ...reports, '--json'], {
      environment: { ...environment, DMARC_UNDERSTUDY_API_KEY: KEY },
    })
    expect(result.stderr).toContain('client --api-key')
    const outputs = outputsIn(inputs, result)
    outputs.delete('traffic.har')
    expectNoSecret(outputs)
  })

  it('of vary, which knows the command of an earlier report all the same', async ({ folder }) => {
    const since = join(folder, 'since')
    const command = ['/none/client', '--token', '[redacted]']
    const baseline = { exit_code: 0, seconds: 1, requests: 1, steady: true }
    writeFileSync(since, JSON.stringify({ command, baseline, alternatives: [] }))
    const result = await runInProcess(['vary', '--since', since, '--', '/none/client', '--token', ARGUMENT])
    expect(result.stderr).toMatch(/^dmarc-understudy: .*\/none\/client.*\n$/)
    expect(result.stderr).not.toContain('about another command')
    expectNoSecret(outputsIn(folder, result))
  })

  it('of mcp but the key, which it tells a client that asks for it', async ({ folder }) => {
    const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const messages = [
      { id: 1, method: 'initialize', params: client },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'get_address', arguments: {} } },
    ]
    const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const args = ['mcp', '--admin-token', TOKEN, '--api-key', 'k_mine_of_the_account']
    const result = await endOf(startInProcess(args, { input }))
    expect(result.stdout).toContain('k_mine_of_the_account')
    expectNoSecret(outputsIn(folder, result))
  })
})

describe('No output has a secret', () => {
  const SLOW: Readonly<Record<string, Prepare>> = {
    vary: (folder) => {
      const command = [...shellClient(`${SAYS_ALL} ${DEPENDS_ON_ORDER}`), ...ITS_OWN]
      return {
        args: ['vary', '--fixture', 'empty', '--jobs', '2', '--bail', ...OWN, ...FOR_COMMAND, '--', ...command],
        tells: USABLE,
        folder,
      }
    },
    'explore with a search': (folder) => ({
      args: [
        ...[...EXPLORED, '--runs', '9', '--jobs', '2', '--baseline', join(folder, 'baseline'), '--update-baseline'],
        ...['--', ...shellClient(BLIND_RETRY), ...ITS_OWN],
      ],
      tells: USABLE,
    }),
    'explore --beside': () => ({
      args: [
        ...[...EXPLORED, '--beside', `${shellClient(ENSURE)[2]}`, '--switches', '1'],
        ...['--', ...shellClient(ENSURE), ...ITS_OWN],
      ],
      tells: USABLE,
    }),
  }
  it.for(Object.keys(SLOW))('of %s', (name, { folder }) => expectDiscretion(folder, SLOW[name] ?? expect.fail))

  it('of proxy', async ({ folder, start }) => {
    const { reports, environment } = reportsIn(folder)
    const options = ['--admin-token', TOKEN, '--record', join(folder, 'har'), '--fail-on-violation']
    const target = await startLeaking()
    const running = start(['proxy', '--target', target, '--port', '0', ...options, ...EVIDENCE(folder), ...reports], {
      environment,
    })
    const baseUrl = await listens(running)
    const headers = { authorization: `Bearer ${KEY}`, cookie: `a=${USER}` }
    for (const path of ['/domains', `/domains?api_key=${encodeURIComponent(KEY)}`, `/${encodeURIComponent(KEY)}`]) {
      await ask(baseUrl + path, { headers })
    }
    running.stop()
    const result = await running.ended
    expect(result.stderr).toMatch(/FAILED/)
    expectNoSecret(outputsIn(folder, result))
  })
})

/** A terminal that keeps what is printed. */
function openKeeping(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const printed: string[] = []
  const keep = (text: string) => void printed.push(text)
  const terminal = { environment, print: keep, printError: keep, write: keep, writeError: keep } as Terminal
  return { printed, terminal: makeDiscreet(terminal, args) }
}

describe('A terminal', () => {
  it('hides a secret in whatever is printed', () => {
    const { printed, terminal } = openKeeping(['serve', ...OWN])
    for (const print of ['print', 'printError', 'write', 'writeError'] as const) terminal[print](`<${KEY}>`)
    terminal.learn([ARGUMENT])
    terminal.print(ARGUMENT)
    expect(printed).toEqual([...Array(4).fill('<[redacted]>'), '[redacted]'])
  })

  it('hides what looks like a key, but not in the name of a file that a user must find', () => {
    const { terminal } = openKeeping(['serve'])
    expect(terminal.redact('data/account-sandbox_mine.json has sandbox_mine')).toBe(
      'data/account-sandbox_mine.json has [redacted]',
    )
  })

  it('hides in the log what only a command of the user knows', async () => {
    const logs: (((text: string) => string) | undefined)[] = []
    async function openLog(...[, , redact]: Parameters<Terminal['openLog']>) {
      logs.push(redact)
      return { log: SILENT, close: async () => {} }
    }
    for (const args of [['serve'], ['run', ...FOR_COMMAND, '--', 'sh']])
      await makeDiscreet({ environment: {}, openLog } as unknown as Terminal, args).openLog('info')
    expect(logs.map((redact) => redact?.(`/domains/${VARIABLE}`))).toEqual([undefined, '/domains/[redacted]'])
  })

  it.each(['domains', 'GET', '4010', 'k'])('keeps the words of a report if the key is %s', (key) => {
    const { terminal } = openKeeping(['run', '--api-key', key])
    const said = 'GET /domains on port 4010 for a client key'
    expect(terminal.redact(said)).toBe(said)
    if (key.length > 2) expect(terminal.redact(`sent Bearer ${key} today`)).toBe('sent Bearer [redacted] today')
    expect(terminal.writeCommandLine(['run', '--api-key', key, '--', 'GET'])).toBe(
      'run --api-key "$DMARC_UNDERSTUDY_API_KEY" -- GET',
    )
    if (key.length > 2)
      expect(terminal.writeCommandLine(['--', 'x', `a: Bearer ${key}`])).toBe(
        `-- x 'a: Bearer '"$DMARC_UNDERSTUDY_API_KEY"`,
      )
  })

  it.runIf(HAS_BASH)('writes a line that a shell runs with the same words', () => {
    const words = ['--api-key', KEY, '--', `a b${TOKEN}'c`, `--token=${ARGUMENT}`, 'x\ny']
    const { terminal } = openKeeping(['run', ...OWN, '--', `--token=${ARGUMENT}`])
    const line = terminal.writeCommandLine(['printf', '%s|', ...words])
    const variables = { DMARC_UNDERSTUDY_API_KEY: KEY, DMARC_UNDERSTUDY_ADMIN_TOKEN: TOKEN, TOKEN: ARGUMENT }
    const env = { ...process.env, ...variables }
    expect(spawnSync('bash', ['-c', line], { encoding: 'utf8', env }).stdout).toBe(`${words.join('|')}|`)
  })
})

describe('A secret', () => {
  it.each<[words: string[], secrets: Record<string, string>]>([
    [['--api-key', 'abc', '--', 'x'], { DMARC_UNDERSTUDY_API_KEY: 'abc' }],
    [['--admin-token=abc'], { DMARC_UNDERSTUDY_ADMIN_TOKEN: 'abc' }],
    [['--set-env', 'A_KEY=abc'], { A_KEY: 'abc' }],
    [['--set-env', 'A_KEY={apiKey}'], {}],
    [['--set-env', 'A_KEY=Bearer {apiKey}-abcdefgh'], { A_KEY: '-abcdefgh' }],
    [['--store', 'redis://a:b%40c@d:1/0'], { PASSWORD: 'b@c' }],
    [['--', 'x', '--service-token', 'abc'], { SERVICE_TOKEN: 'abc' }],
    [['--', 'curl', '-H', 'X-Api-Key: abc'], { X_API_KEY: 'abc' }],
    [['--', 'curl', '-H', 'Authorization: Bearer abc'], { API_KEY: 'abc' }],
    [['--', 'sh', '-c', `A_TOKEN="abc" x; B_KEY='def' x; C_KEY=$Y x`], { A_TOKEN: 'abc', B_KEY: 'def' }],
    [['--', 'env', 'PASSWORD=abc', 'x'], { PASSWORD: 'abc' }],
    [['--', 'node', '-e', "const key = 'abc', token = read(); f({ apiKey: key, Authorization: 'Bearer ' + key })"], {}],
    [['--', 'x', '--author', 'abc', '--keys', 'a', '--sort-key', 'b', '--token-file', 'c'], {}],
  ])('is found in %j', (words, secrets) => {
    const found = findGiven(['run', ...words], { A_KEY: 'not ours' })
    expect(Object.fromEntries(found.map(({ value, variable }) => [variable, value]))).toEqual(secrets)
  })

  it('has an option whose name says so', () => {
    const rows = Object.entries<Options[string]>(LIBRARY_OPTIONS).filter(([, { kind }]) => kind === secret)
    expect(rows.length).toBeGreaterThan(1)
    for (const [name, option] of rows) {
      const [found] = findGiven(['serve', `--${flagOf(name, option)}`, 'abc'], {})
      expect(found, name).toMatchObject({ value: 'abc' })
    }
  })
})
