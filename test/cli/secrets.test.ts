import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { findGiven, makeDiscreet, type Terminal } from '../../src/cli/terminal.ts'
import { SILENT } from '../../src/ground/log.ts'
import { FORMAT_NAMES } from '../../src/reports/targets.ts'
import { flagOf, type Options, secret } from '../../src/server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../../src/server/option-table.ts'
import { listenOn } from '../support/listening.ts'
import { it } from '../support/program.ts'
import { startInProcess } from '../support/program-in-process.ts'
import { entryOf, harOf } from '../support/recorded.ts'
import type { RunningProgram } from '../support/running-program.ts'
import { shellClient } from '../support/shell-client.ts'
import { DEPENDS_ON_ID } from '../trials/vary/varied-client.ts'
import { ask, listens } from './proxied.ts'
import { ENVIRONMENT, LAWFUL, VIOLATING } from './run-client.ts'

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
/** Makes an account with a key that only the server can know. */
const MAKES_ACCOUNT = `made=m7de; made=$made-with-a-secret
to() { curl --silent --noproxy '*' --header 'Content-Type: application/json' --data "$1" "$UNDERSTUDY_ADMIN_URL$2"; }
to '{"id": "mine", "fixture": "empty", "api_key": "'$made'"}' /accounts; echo "made $made"
${BLIND_RETRY}`
const LOST = '[{"match":{"operation":"createDomainGroup"},"times":1,"phase":"after","connection":"reset"}]'
/** A line that a user can run again, with the secrets put in. */
const USABLE =
  /--api-key '\[redacted\]' '--admin-token=\[redacted\]' --set-env 'SERVICE_TOKEN=\[redacted\]'.* --token '\[redacted\]' '--proxy=https:\/\/me:\[redacted\]@proxy\.example'/

function spellings(text: string): string[] {
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
  return [
    ...[text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text), html, html.replaceAll("'", '&#39;')],
    ...[text.replaceAll("'", `'\\''`), text.replaceAll('%', '%25'), Buffer.from(text).toString('base64')],
  ]
}

/** A service that does everything wrong, and repeats the key wherever it can. */
async function startLeaking(): Promise<string> {
  let left = 20
  const server = createServer(({ headers }, response) => {
    if (--left < 0) response.statusCode = 429
    const body = JSON.stringify({ success: true, data: { domains: [KEY] }, message: `Why ${headers.authorization}?` })
    response.setHeader('X-Echo', KEY)
    response.setHeader('Content-Type', 'application/json').end(body)
  })
  return `http://127.0.0.1:${await listenOn(server)}/api/v1`
}

/** A recording in which the service answers whom it does not know, and a client sends its key in every place. */
function recordLeaks(folder: string): string {
  const authorization = { name: 'Authorization', value: `Bearer ${KEY}` }
  const message = `The key ${KEY} is not known.`
  const text = JSON.stringify({ success: false, error: { code: 'no_such_code', message } })
  const sent = { headers: [authorization, { name: 'Cookie', value: `a=${USER}` }] }
  const url = `/domains?api_key=${encodeURIComponent(KEY)}&more=${encodeURIComponent(KEY)}`
  const content = { text, size: text.length }
  const leak = entryOf({ url, after: 1_000, request: sent, content, response: { status: 418 } })
  const file = join(folder, 'traffic.har')
  writeFileSync(file, harOf([entryOf({ request: { headers: [{ name: 'host', value: 'dmarc.example' }] } }), leak]))
  return file
}

interface Row {
  args: string[]
  environment?: Record<string, string>
  /** What the outputs must have, which shows that there was something to tell. */
  tells: RegExp
  /** What is done while it runs. */
  meanwhile?: (running: RunningProgram) => Promise<void>
}

/** What is run, with a folder for its files and one for files that may have secrets. */
const ROWS: Readonly<Record<string, Row | ((outputs: string, inputs: string) => Row | Promise<Row>)>> = {
  run: (outputs) => ({
    args: [
      ...[
        'run',
        ...reports(outputs),
        ...OWN,
        ...FOR_COMMAND,
        '--fail-on',
        'violation,impolite',
        '--min-coverage',
        '90',
      ],
      ...[
        '--',
        'sh',
        '-c',
        `eval "$CLIENT"; exec >/dev/null; ${LAWFUL}; ${VIOLATING}; ask GET "/domains/$SERVICE_TOKEN"`,
        ...ITS_OWN,
      ],
    ],
    environment: ENVIRONMENT,
    tells: /The contract forbids the request/,
  }),
  vary: (outputs) => ({
    args: [
      ...['vary', ...reports(outputs), '--fixture', 'empty', '--jobs', '2', ...OWN, ...FOR_COMMAND],
      ...['--', ...shellClient(`${SAYS_ALL} ${DEPENDS_ON_ID}`), ...ITS_OWN],
    ],
    tells: USABLE,
  }),
  'explore with a key in the environment': (outputs) => ({
    args: [
      ...['explore', ...reports(outputs), '--replay', LOST, '--', ...shellClient(BLIND_RETRY)],
      ...['client', KEY, `x${TOKEN}y`],
    ],
    environment: {
      ...{ DMARC_UNDERSTUDY_API_KEY: KEY, DMARC_UNDERSTUDY_ADMIN_TOKEN: TOKEN, DMARC_UNDERSTUDY_FIXTURE: 'empty' },
      DMARC_UNDERSTUDY_SET_ENV: `SERVICE_TOKEN=${VARIABLE},B=1`,
    },
    tells: / client '\[redacted\]' 'x\[redacted\]y'/,
  }),
  'explore with a command that makes a key': {
    args: ['explore', '--fixture', 'empty', ...FOR_COMMAND, '--replay', LOST, '--', ...shellClient(MAKES_ACCOUNT)],
    tells: /made \[redacted\]/,
  },
  verify: async (outputs) => ({
    args: [
      ...['verify', ...reports(outputs), '--base-url', await startLeaking(), '--api-key', KEY, '--read-only'],
      ...[...evidence(outputs), '--ledger', join(outputs, 'ledger')],
    ],
    tells: /FAILED/,
  }),
  check: (outputs, inputs) => ({
    args: ['check', ...reports(outputs), recordLeaks(inputs), ...evidence(outputs)],
    tells: /FAILED/,
  }),
  proxy: async (outputs) => ({
    args: [
      ...['proxy', ...reports(outputs), '--target', await startLeaking(), '--port', '0', '--admin-token', TOKEN],
      ...['--record', join(outputs, 'har'), '--fail-on-violation', ...evidence(outputs)],
    ],
    tells: /FAILED/,
    async meanwhile(running) {
      const baseUrl = await listens(running)
      const headers = { authorization: `Bearer ${KEY}`, cookie: `a=${USER}` }
      for (const path of ['/domains', `/domains?api_key=${encodeURIComponent(KEY)}`, `/${encodeURIComponent(KEY)}`])
        await ask(baseUrl + path, { headers })
    },
  }),
  'calibrate with a recording': (outputs, inputs) => ({
    args: ['calibrate', ...reports(outputs), recordLeaks(inputs), '--out', join(outputs, 'overlay')],
    tells: /undecided/,
  }),
}

const reports = (folder: string) => FORMAT_NAMES.flatMap((format) => ['--report', `${format}=${join(folder, format)}`])
const evidence = (folder: string) => [
  ...['--evidence', join(folder, 'evidence'), '--baseline', join(folder, 'baseline'), '--update-baseline'],
]

describe('No output has a secret', () => {
  it.for(Object.keys(ROWS))('of %s', async (name, { folder }) => {
    const [inputs, outputs] = [join(folder, 'inputs'), join(folder, 'outputs')]
    for (const each of [inputs, outputs]) mkdirSync(each)
    const prepared = ROWS[name]
    const row = (typeof prepared === 'function' ? await prepared(outputs, inputs) : prepared) ?? expect.fail()
    const { args, tells, meanwhile } = row
    const onGitHub = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(outputs, 'summary') }
    const running = startInProcess(args, { environment: { ...onGitHub, ...row.environment } })
    await meanwhile?.(running)
    if (meanwhile !== undefined) running.stop()
    const { code, stdout, stderr } = await running.ended
    expect(code === 0).toBe(args[0] === 'calibrate')
    const files = readdirSync(outputs).map((file) => [file, readFileSync(join(outputs, file), 'utf8')] as const)
    expect(files.length > 1 || !args.includes('--report')).toBe(true)
    const all = [['stdout', stdout], ['stderr', stderr], ...files] as const
    expect(stdout + stderr).toMatch(tells)
    for (const [file, text] of all) {
      const found = Object.entries(ALL).filter(([, value]) => spellings(value).some((each) => text.includes(each)))
      expect(found, `${file}: ${text}`).toEqual([])
    }
  })
})

/** A terminal that keeps what is printed. */
function openKeeping(args: readonly string[]) {
  const printed: string[] = []
  const keep = (text: string) => void printed.push(text)
  const terminal = { environment: {}, write: keep, writeError: keep }
  return { printed, terminal: makeDiscreet(terminal as unknown as Terminal, args) }
}

describe('A terminal', () => {
  it('hides a secret in whatever is printed', () => {
    const { printed, terminal } = openKeeping(['serve', ...OWN])
    for (const print of ['print', 'printError', 'write', 'writeError'] as const) terminal[print](`<${KEY}>`)
    terminal.learn([ARGUMENT])
    terminal.print(ARGUMENT)
    expect(printed.map((text) => text.trimEnd())).toEqual([...Array(4).fill('<[redacted]>'), '[redacted]'])
  })

  it('hides what looks like a key, but not in the name of a file that a user must find', () => {
    const { terminal } = openKeeping(['serve'])
    const said = terminal.redact('data/account-sandbox_mine.json has sandbox_mine')
    expect(said).toBe('data/account-sandbox_mine.json has [redacted]')
  })

  it('hides in the log what only a command of the user knows', async () => {
    const logs: (((text: string) => string) | undefined)[] = []
    function openLog(...[, , redact]: Parameters<Terminal['openLog']>) {
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
    const line = terminal.writeCommandLine(['run', '--api-key', key, '--', 'GET'])
    expect(line).toBe("npx dmarc-understudy run --api-key '[redacted]' -- GET")
    if (key !== 'k') expect(terminal.redact(`sent Bearer ${key} today`)).toBe('sent Bearer [redacted] today')
  })
})

describe('A secret', () => {
  it.each<[words: string[], secrets: string[]]>([
    [['--api-key', 'abc', '--', 'x'], ['abc']],
    [['--admin-token=abc'], ['abc']],
    [['--set-env', 'A_KEY=abc'], ['abc']],
    [['--set-env', 'A_KEY={apiKey}'], []],
    [['--set-env', 'A_KEY=Bearer {apiKey}-abcdefgh'], ['-abcdefgh']],
    [
      ['--store', 'redis://a:b%40c@d:1/0'],
      ['b%40c', 'b@c'],
    ],
    [['--', 'x', '--service-token', 'abc'], ['abc']],
    [['--', 'curl', '-H', 'X-Api-Key: abc'], ['abc']],
    [['--', 'curl', '-H', 'Authorization: Bearer abc'], ['abc']],
    [
      ['--', 'sh', '-c', `A_TOKEN="abc" x; B_KEY='def' x; C_KEY=$Y x`],
      ['abc', 'def'],
    ],
    [['--', 'env', 'PASSWORD=abc', 'x'], ['abc']],
    [['--', 'node', '-e', "const key = 'abc', token = read(); f({ apiKey: key, Authorization: 'Bearer ' + key })"], []],
    [['--', 'x', '--author', 'abc', '--keys', 'a', '--sort-key', 'b', '--token-file', 'c'], []],
  ])('is found in %j', (words, secrets) => {
    expect(findGiven(['run', ...words], { A_KEY: 'not ours' }).filter((found) => found !== '')).toEqual(secrets)
  })

  it('has an option whose name says so', () => {
    const rows = Object.entries<Options[string]>(COMMAND_LINE_OPTIONS).filter(([, { kind }]) => kind === secret)
    expect(rows.length).toBeGreaterThan(1)
    for (const [name, option] of rows)
      expect(findGiven(['serve', `--${flagOf(name, option)}`, 'abc'], {}), name).toEqual(['abc'])
  })
})
