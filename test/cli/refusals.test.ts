import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { FIXTURE_NAMES } from '../../src/accounts/fixture.ts'
import { COMMANDS } from '../../src/cli/program.ts'
import { valueAt } from '../../src/ground/json.ts'
import { expectRefusal, it } from '../support/program.ts'
import { entryOf, harOf } from '../support/recorded.ts'

const natural = 'must be a whole number from 0 to'
const duration = 'must be a duration such as 90s, 30m, 1h or 2d'
const visible = 'must be 1 to 200 visible ASCII characters without spaces'
const open = 'others can reach this address, so give --admin-token TOKEN or --no-admin'
const noFixture = `The fixture cannot be read (ENOENT); give ${FIXTURE_NAMES.join(', ')} or the path of a JSON file.`
const noFolder = 'is in a folder that does not exist; create it, or name another file'
const anyOption = 'is no option here; none has a name like that; --help lists them'
const template = 'must be NAME=TEMPLATE, where the template may have {baseUrl}, {apiKey}, {adminUrl}, {port}'
const alone = 'is for accounts that this server keeps alone; leave it out, or leave out --store URL'
const oneHost = 'must be a name or an address alone, such as 127.0.0.1 or ::1; the port is --port PORT'
const ofTwo = 'must be one of its 2 alternatives, from 1'
const ownFile = 'already; give each a file of its own'
const noCommand = 'no-such-command: there is no such command'
const STORE = 'redis://app:Sesame-77-Open@127.0.0.1:1'
const LOCAL = '--base-url http://127.0.0.1:9/'

/** Files that are wrong, in the folder of each test. */
const FILES: Readonly<Record<string, string>> = {
  broken: '{',
  'bad-domain': '{"domains": ["x"]}',
  'no-rules': '{"a": {}}',
  'no-yaml': 'overlay: [',
  'breaks-document': 'overlay: 1.0.0\nactions: [{ target: $, update: { x-colour: blue } }]',
  'no-certificate': 'hello',
  'a.har': harOf([entryOf()]),
  'two.har': harOf([entryOf(), entryOf({ url: 'http://localhost:1/api/v1/dmarc' })]),
  'bad-plan': '[{ "event": "explode" }]',
}

type Row = [args: string | string[], message: string | RegExp, code?: number]

/** By command: arguments, written as in a shell unless one has a space or is empty, and what is said. */
const REFUSED: Readonly<Record<string, Row[]>> = {
  serve: [
    ['--port 65536', `--port 65536: ${natural} 65535`],
    ['--port', '--port needs a value: --port PORT'],
    [['--port', ''], `--port "": ${natural} 65535`],
    [['--port', '1\n2'], `--port 1 2: ${natural} 65535`],
    [[''], 'serve takes no argument, but was given ""'],
    ['now', 'serve takes no argument, but was given now'],
    ['-- --help', 'serve takes no argument, but was given --help'],
    ['--data --no-admin', '--data needs a value: --data DIR'],
    ['--prot 80', '--prot is no option here; did you mean --port?'],
    ['--fixtures=empty', '--fixtures is no option here; did you mean --fixture?'],
    ['--json', `--json ${anyOption}`],
    ['--__proto__=1', `--__proto__ ${anyOption}`],
    [['--admin-token', 'two words'], `--admin-token: ${visible}`],
    [['--api-key', ''], `--api-key: ${visible}`],
    ['--fixture nowhere.json', `nowhere.json: ${noFixture}`],
    [['--fixture', 'no\nwhere'], `no where: ${noFixture}`],
    ['--fixture broken', /^broken: This is not valid JSON: .+\.$/],
    ['--fixture bad-domain', /^bad-domain#\/domains\/0: "x" is not a valid hostname\.$/],
    ['--faults flakey', 'flakey: The fault sets cannot be read (ENOENT); give flaky, quota-storm, lossy-writes, …'],
    ['--faults flaky#one', 'flaky: The fault sets cannot be read (ENOENT); give flaky, which has no parts, or …'],
    ['--faults bad-plan', /^bad-plan#\/0\/event: /],
    ['--faults no-rules', /^no-rules#\/a\/rules: The value is missing\.$/],
    ['--overlay nowhere.yaml', 'nowhere.yaml: The overlay cannot be read (ENOENT).'],
    ['--overlay no-yaml', /^no-yaml:1:\d+: This is not valid YAML: .+\.$/],
    [
      '--overlay breaks-document',
      /^openapi\.yaml with breaks-document#\/x-colour: The extension x-colour is unknown; known are .+\.$/,
    ],
    ['--host [::1]', `--host [::1]: ${oneHost}`],
    ['--host localhost:4010', `--host localhost:4010: ${oneHost}`],
    ['--host 0.0.0.0', `--host 0.0.0.0: ${open}`],
    ['--host 127.0.0.1.example', `--host 127.0.0.1.example: ${open}`],
    [
      '--port 0 --no-admin --host 192.0.2.1',
      '--host 192.0.2.1: this machine cannot listen on it (EADDRNOTAVAIL); choose one of its own addresses, such as …',
      3,
    ],
    ['--store http://app:Sesame-77-Open@db.example', '--store http://…: must be a URL such as redis://…'],
    [`--store ${STORE} --data accounts`, `--data accounts: ${alone}`],
    ['--store-prefix team', '--store-prefix team: needs the URL of a store; give --store URL'],
    [`--store ${STORE} --store-prefix team{1}`, '--store-prefix team{1}: must be 1 to 64 letters, digits, …'],
    [`--port 0 --store ${STORE}`, 'The store redis://127.0.0.1:1/0 cannot be reached: connect ECONNREFUSED …', 3],
    ['--ready-file /nowhere/r.json', '--ready-file /nowhere/r.json: cannot be written (ENOENT); give a file in …'],
    ['--port 0 --data /proc/x', '/proc/x cannot be written to (ENOENT)', 3],
    ['--port 0 --data /etc/passwd', '/etc/passwd is not a folder', 3],
  ],
  run: [
    ['', 'run: needs a command after --, such as npx dmarc-understudy run -- npm test'],
    [['--', ''], 'run: needs a command after --, such as npx dmarc-understudy run -- npm test'],
    ['npm test', 'run: needs a command after --, such as npx dmarc-understudy run -- npm test'],
    ['npm -- test', 'run: npm is no option; the command comes after --: run [options] -- COMMAND'],
    ['--fail-on never -- x', '--fail-on never: must be one or several of violation, idle, impolite, separated by …'],
    ['--window 0.5s -- true', /^--window 0\.5s: /],
    ['--timeout 0 -- true', `--timeout 0: ${duration}, and longer than 0`],
    ['--set-env API -- true', `--set-env API: ${template}`],
    ['--report json=/no/such/folder/run.json -- true', `--report json=/no/such/folder/run.json: ${noFolder}`],
    ['--report jsno=run.json -- true', '--report jsno=run.json: did you mean json=run.json?'],
    ['--report xml=run.xml -- true', '--report xml=run.xml: did you mean junit=run.xml?'],
    ['-- no-such-command', noCommand, 127],
    ['-- ./no/such/command', './no/such/command: there is no such command', 127],
    ['-- /etc/passwd', '/etc/passwd: cannot be run: it is not executable (chmod +x makes it so)', 126],
  ],
  vary: [
    ['--accept domain-ordr -- x', '--accept domain-ordr: must be the id …'],
    ['--accept domain-order/3 -- x', '--accept domain-order/3: domain-order has the alternatives 1 to 2'],
    ['-- no-such-command', noCommand, 127],
  ],
  explore: [
    ['x -- true', 'explore: x is no option; the command comes after --…'],
    [`--store ${STORE} -- true`, '--store is no option here; …'],
    ['--update-baseline -- true', '--update-baseline: needs --baseline FILE, which it writes'],
    ['--baseline /nowhere/known.json -- true', '/nowhere/known.json: …'],
    ['--replay nowhere.json -- true', /^nowhere\.json: The fault sets cannot be read \(ENOENT\); give /],
    ['--replay [ -- true', '--replay [: This is not valid JSON: …'],
    ['--replay [] -- true', '--replay []: must have 1 to 500 fault rules'],
    ['--replay {} -- true', /^--replay {}#\/0: .*must have one of the fields respond, connection/],
    ['--replay [{}] -- true', /^--replay \[{}\]#\/0: .*must have one of the fields respond, connection/],
    ['--replay [{"delay":5}] -- true', /^--replay .*#\/0\/delay: The field `0\.delay` is unknown\.$/],
    ['--replay [{"respond":{"error":"teapot"}}] -- true', /^--replay .*#\/0\/respond\/error: .*not "teapot"\.$/],
  ],
  verify: [
    ['', '--base-url URL: is needed…'],
    ['--base-url ftp://a.example/', '--base-url ftp://a.example/: must begin with http:// or https://…'],
    ['--base-url http://user:secret@a.example/', '--base-url: must not hold credentials…'],
    [[...LOCAL.split(' '), '--api-key', 'two words'], `--api-key: ${visible}`],
    [`${LOCAL} --sweep none.json`, '--sweep none.json: The ledger cannot be read (ENOENT).'],
    [[...LOCAL.split(' '), '--domain-suffix', 'no host'], '--domain-suffix no host: must be a domain…'],
    [`${LOCAL} --ledger /nowhere/a.json`, `--ledger /nowhere/a.json: ${noFolder}`],
    [`${LOCAL} --evidence x --report json=x`, `--report json=x: is the file of --evidence x ${ownFile}`],
    [`${LOCAL} --ledger ./x --evidence x`, `--evidence x: is the file of --ledger ./x ${ownFile}`],
    [`${LOCAL}api/v1`, 'verify: http://127.0.0.1:9/api/v1 cannot be reached: nothing listens there…', 3],
  ],
  check: [
    ['', 'check: needs at least one HAR file, such as dmarc-understudy check traffic.har'],
    ['x.har', 'check: x.har: The file cannot be read (ENOENT).'],
    ['.', 'check: .: This is a folder; give the HAR files in it.'],
    ['/dev/null', 'check: /dev/null: This is no regular file; save the recording in one, and give that.'],
    ['two.har', /say with --base-url which one is meant$/],
    ['a.har --evidence a.har', `--evidence a.har: is the file of a.har ${ownFile}`],
    ['a.har --base-url https://a/?x', '--base-url https://a/?x: must not have a query or a fragment'],
  ],
  proxy: [
    ['', 'proxy: needs --target URL, such as --target https://api.example.com'],
    ['--target api.example.com', '--target api.example.com: must begin with http:// or https://, such as https://api…'],
    ['--target https://', '--target https://: must be a URL such as https://api.example.com'],
    [
      '--target http://localhost:4999 --port 4999',
      '--target http://localhost:4999: is the proxy itself; give another …',
    ],
    ['--target http://0.0.0.0:4999 --port 4999', '--target http://0.0.0.0:4999: is the proxy itself; give another …'],
    [
      '--target http://[::ffff:127.0.0.1]:4999 --port 4999',
      '--target http://[::ffff:127.0.0.1]:4999: is the proxy itself; give another …',
    ],
    [
      '--target http://127.0.0.1:4999 --port 4999 --host 0.0.0.0 --no-admin',
      '--target http://127.0.0.1:4999: is the proxy itself; give another …',
    ],
    ['--target http://localhost:1 --host 0.0.0.0', `--host 0.0.0.0: ${open}`],
    ['--target https://a.example --ca none', '--ca none: The file cannot be read (ENOENT). Give certificates in PEM …'],
    ['--target https://a.example --ca no-certificate', '--ca no-certificate: The file has no certificate. Give …'],
    ['--target http://localhost:1 --record /nowhere/a.har', `--record /nowhere/a.har: ${noFolder}`],
  ],
  calibrate: [
    ['', 'calibrate: needs HAR files or --evidence FILE…'],
    ['--evidence nowhere.json', 'nowhere.json: The evidence cannot be read (ENOENT).'],
    ['a.har --out /nowhere/x.yaml', `--out /nowhere/x.yaml: ${noFolder}`],
  ],
  fixture: [
    ['--port 1', '--port is no option here; there are --domains, --groups, --seed, --story, --out'],
    ['--out far/away.json', `--out far/away.json: ${noFolder}`],
    ['--out a.har', '--out a.har: exists already; choose another name, or remove it'],
  ],
  assumptions: [
    ['overlay body-limt', 'assumptions overlay body-limt: must be the id of an assumption; did you mean body-limit?'],
    ['overlay', 'assumptions overlay: must be the id of an assumption; the command assumptions lists them'],
    ['overlay policies', 'assumptions overlay policies: has no alternative. …'],
    ['body-limits', 'assumptions body-limits: must be the id of an assumption; did you mean body-limit?'],
    ['head', 'assumptions head: head is no longer a choice. HEAD is answered as GET without the body.'],
    ['body-limit 2', 'assumptions body-limit 2: must be ID, overlay ID [N], or nothing'],
    ['overlay body-limit 1 2', 'assumptions overlay body-limit 1 2: must be ID, overlay ID [N], or nothing'],
    ['overlay body-limit 0', `assumptions overlay body-limit 0: ${ofTwo}`],
  ],
  mcp: [
    ['--attach 127.0.0.1:4010', '--attach 127.0.0.1:4010: must begin with http:// or https://, such as …'],
    ['--attach http://a/ --fixture demo', '--fixture demo: is for a stand-in of its own; leave it out, or leave out …'],
    [
      '--attach http://127.0.0.1:4/__admin',
      '--attach http://127.0.0.1:4/__admin: The server does not answer at http://127.0.0.1:4/__admin (ECONNREFUSED): …',
      3,
    ],
    ['--store redis://127.0.0.1:1 --data d', '--data d: is for accounts that this server keeps alone; …'],
  ],
}

describe.each(Object.entries(REFUSED))('%s refuses', (command, rows) => {
  it.for(rows)('%j in one line: %s', async ([args, message, code = 2], { folder }) => {
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text)
    const given = typeof args === 'string' ? args.split(' ').filter((word) => word !== '') : args
    const environment: Record<string, string> = command === 'verify' ? { DMARC_UNDERSTUDY_API_KEY: 'k' } : {}
    await expectRefusal([command, ...given], code, message, { environment, folder })
    expect(readdirSync(folder)).toHaveLength(Object.keys(FILES).length)
  })
})

it('every command refuses something here', () => {
  expect(Object.keys(REFUSED).toSorted()).toEqual(Object.keys(COMMANDS).toSorted())
})

it.for([
  ['serve', '--port'],
  ['run', 'DMARC_UNDERSTUDY_PORT'],
])(
  '%s refuses a port that is in use, and names it as it was given: %s',
  async ([command = '', source = ''], { onTestFinished }) => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const port = `${valueAt(other.address(), '/port')}`
    const given = source.startsWith('--') ? [source, port] : []
    const message = `${source} ${port}: is in use on 127.0.0.1; choose another, or 0 for any free port`
    const environment = { DMARC_UNDERSTUDY_PORT: port }
    await expectRefusal([command, ...given, ...(command === 'run' ? ['--', 'true'] : [])], 3, message, { environment })
  },
)

it('A store and a folder in the environment are refused by their names there', async () => {
  const environment = { DMARC_UNDERSTUDY_STORE: STORE, DMARC_UNDERSTUDY_DATA: 'accounts' }
  await expectRefusal(['run', '--', 'true'], 2, `DMARC_UNDERSTUDY_DATA accounts: ${alone}`, { environment })
})

it('A start that is refused leaves no lock and no ready file behind', async ({ folder }) => {
  const files = ['--data', join(folder, 'data'), '--ready-file', join(folder, 'ready.json')]
  await expectRefusal(['serve', '--port', '0', ...files, '--fixture', 'nowhere'], 2, `nowhere: ${noFixture}`)
  await expectRefusal(['run', ...files, '--', 'no-such-command'], 127, noCommand)
  expect(readdirSync(folder)).toEqual(['data'])
  expect(existsSync(join(folder, 'data', '.lock'))).toBe(false)
})
