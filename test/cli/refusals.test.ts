import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { FIXTURE_NAMES } from '../../src/accounts/fixture.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { valueAt } from '../../src/ground/json.ts'
import { expectRefusal, it } from '../support/program.ts'

const natural = 'must be a whole number from 0 to'
const duration = 'must be a duration such as 90s, 30m, 1h or 2d'
const visible = 'must be 1 to 200 visible ASCII characters without spaces'
const open = 'others can reach this address, so give --admin-token TOKEN or --no-admin'
const noFixture = `The fixture cannot be read (ENOENT); give ${FIXTURE_NAMES.join(', ')} or the path of a JSON file.`
const noFolder = 'its folder does not exist; create it, or name another file'
const anyOption = 'is no option here; there are --port, --host, --data, …'
const template = 'must be NAME=TEMPLATE, where the template may have {baseUrl}, {apiKey}, {adminUrl}, {port}'
const alone = 'is for accounts that this server keeps alone; leave it out, or leave out --store URL'
const listed = 'the command assumptions lists them'
const oneHost = 'must be a name or an address alone, such as 127.0.0.1 or ::1; the port is --port PORT'
const ofTwo = 'must be one of its 2 alternatives, from 1'
const STORE = 'redis://app:Sesame-77-Open@127.0.0.1:1'
const LOCAL = '--base-url http://127.0.0.1:9/'

/** By command: arguments, written as in a shell unless one has a space or is empty, and what is said. */
const REFUSED: Readonly<Record<string, [args: string | string[], message: string, code?: number][]>> = {
  serve: [
    ['--port 65536', `--port 65536: ${natural} 65535`],
    ['--port', '--port needs a value: --port PORT'],
    [['--port', ''], `--port "": ${natural} 65535`],
    [[''], 'serve takes no argument, but was given ""'],
    [['--port', '1\n2'], `--port 1 2: ${natural} 65535`],
    ['--data --no-admin', '--data needs a value: --data DIR'],
    [
      '--faults flakey',
      'flakey: The fault sets cannot be read (ENOENT); give flaky, quota-storm, lossy-writes, slow or …',
    ],
    [
      '--faults flaky#one',
      'flaky: The fault sets cannot be read (ENOENT); give flaky, which has no parts, or the path of a JSON file.',
    ],
    [['--admin-token', 'two words'], `--admin-token: ${visible}`],
    [['--api-key', ''], `--api-key: ${visible}`],
    ['--prot 80', '--prot is no option here; did you mean --port?'],
    ['--fixtures=empty', '--fixtures is no option here; did you mean --fixture?'],
    ['--json', `--json ${anyOption}`],
    ['--constructor', `--constructor ${anyOption}`],
    ['--__proto__=1', `--__proto__ ${anyOption}`],
    ['now', 'serve takes no argument, but was given now'],
    ['-- --help', 'serve takes no argument, but was given --help'],
    ['--fixture nowhere.json', `nowhere.json: ${noFixture}`],
    [['--fixture', 'no\nwhere'], `no where: ${noFixture}`],
    ['--overlay nowhere.yaml', 'nowhere.yaml: The overlay cannot be read (ENOENT).'],
    // A device without an end must not fill the memory.
    ['--overlay /dev/zero', '/dev/zero: The file has more than 268435456 bytes, the most for one of its kind.'],
    ['--fixture /dev/zero', '/dev/zero: The file has more than 268435456 bytes, the most for one of its kind.'],
    ['--faults /dev/zero', '/dev/zero: The file has more than 268435456 bytes, the most for one of its kind.'],
    ['--host [::1]', `--host [::1]: ${oneHost}`],
    ['--host localhost:4010', `--host localhost:4010: ${oneHost}`],
    ['--host http://localhost', `--host http://localhost: ${oneHost}`],
    ['--host 0.0.0.0', `--host 0.0.0.0: ${open}`],
    ['--host 127.0.0.1.example', `--host 127.0.0.1.example: ${open}`],
    ['--store http://app:Sesame-77-Open@db.example', '--store http://…@db.example: must be a URL such as redis://…'],
    [`--store ${STORE} --data accounts`, `--data accounts: ${alone}`],
    [`--store ${STORE} --durability rename`, `--durability rename: ${alone}`],
    [`--store ${STORE} --skip-damaged`, `--skip-damaged true: ${alone}`],
    ['--store-prefix team', '--store-prefix team: needs the URL of a store; give --store URL'],
    [
      `--store ${STORE} --store-prefix team{1}`,
      '--store-prefix team{1}: must be 1 to 64 letters, digits, dots, colons, hyphens or underscores',
    ],
    [
      `--port 0 --store ${STORE}`,
      'The store redis://127.0.0.1:1/0 cannot be reached: connect ECONNREFUSED 127.0.0.1:1; is it running there?',
      3,
    ],
    [
      '--port 0 --no-admin --host 192.0.2.1',
      '--host 192.0.2.1: this machine cannot listen on it (EADDRNOTAVAIL); choose one of its own addresses, such as 127.0.0.1',
      3,
    ],
    [
      '--ready-file /nowhere/r.json',
      '--ready-file /nowhere/r.json: cannot be written (ENOENT); give a file in a folder …',
    ],
    // Which error it is depends on the resolver.
    ['--port 0 --no-admin --host nowhere.invalid', '--host nowhere.invalid: this machine cannot listen on it (E…', 3],
    ['--port 0 --data /proc/x', '/proc/x cannot be written to (ENOENT)', 3],
    ['--port 0 --data /etc/passwd', '/etc/passwd is not a folder', 3],
  ],
  run: [
    ['', 'run: needs a command after --, such as dmarc-understudy run -- npm test'],
    ['--', 'run: needs a command after --, such as dmarc-understudy run -- npm test'],
    [['--', ''], 'run: needs a command after --, such as dmarc-understudy run -- npm test'],
    ['npm test', 'run: needs a command after --, such as dmarc-understudy run -- npm test'],
    ['npm -- test', 'run: npm is no option; the command comes after --: run [options] -- COMMAND'],
    [
      '--fail-on never -- true',
      '--fail-on never: must be one or several of violation, idle, impolite, separated by commas',
    ],
    ['--min-coverage 101 -- true', `--min-coverage 101: ${natural} 100`],
    ['--timeout 0 -- true', `--timeout 0: ${duration}, and longer than 0`],
    ['--set-env API -- true', `--set-env API: ${template}`],
    ['--set-env 1A=x -- true', `--set-env 1A=x: ${template}`],
    ['--set-env API={url}/x -- true', `--set-env API={url}/x: ${template}`],
    ['--report json=/no/such/folder/run.json -- true', `--report json=/no/such/folder/run.json: ${noFolder}`],
    ['--report jsno=run.json -- true', '--report jsno=run.json: did you mean json=run.json?'],
    [
      '--ready-file /no/such/folder/r.json -- true',
      '--ready-file /no/such/folder/r.json: cannot be written (ENOENT); give a file in a folder that exists',
    ],
    ['--fixture nowhere -- true', `nowhere: ${noFixture}`],
    ['-- no-such-command', 'no-such-command: there is no such command', 127],
    ['-- ./no/such/command', './no/such/command: there is no such command', 127],
    ['-- /etc/passwd', '/etc/passwd: cannot be run: it is not executable (chmod +x makes it so)', 126],
  ],
  vary: [
    ['', 'vary: needs a command after --, such as dmarc-understudy vary -- npm test'],
    ['--', 'vary: needs a command after --, such as dmarc-understudy vary -- npm test'],
    ['npm -- test', 'vary: npm is no option; the command comes after --…'],
    ['--jobs 0 -- x', '--jobs 0: must be a whole number from 1 to 1000'],
    ['--repeats 1 -- x', '--repeats 1: must be a whole number from 2 to 100'],
    ['--jobs 2 --port 4010 -- x', '--port 4010: only one trial at a time can have the port…'],
    ['--data accounts -- x', '--data: cannot be used with vary; each trial has an account of its own…'],
    [`--store ${STORE} -- x`, '--store: cannot be used with vary; each trial has an account of its own…'],
    ['--ready-file=x -- x', '--ready-file: cannot be used with vary; …'],
    ['--accept domain-ordr -- x', `--accept domain-ordr: must be the id …`],
    ['--accept domain-order/3 -- x', '--accept domain-order/3: domain-order has the alternatives 1 to 2'],
    ['--accept domain-order/1/1 -- x', '--accept domain-order/1/1: domain-order has the alternatives…'],
    ['--since none.json -- x', 'none.json: The report of vary cannot be read (ENOENT).'],
    ['--overlay none.yaml -- x', 'none.yaml: The overlay cannot be read (ENOENT)…'],
    ['-- no-such-command', 'no-such-command: there is no such command', 127],
  ],
  explore: [
    ['', 'explore: needs a command after --, such as dmarc-understudy explore -- npm test'],
    ['x -- true', 'explore: x is no option; the command comes after --…'],
    ['--jobs 0 -- true', '--jobs 0: must be a whole number from 1 to 1000'],
    ['--runs 0 -- true', '--runs 0: must be a whole number from 1 to 1000000'],
    [
      '--fail-on hang -- true',
      '--fail-on hang: must be one or several of findings, inconclusive, gave-up, separated by commas',
    ],
    ['--ready-file x -- true', '--ready-file: cannot be used with explore; each trial has a server of its own…'],
    ['--data x -- true', '--data: cannot be used with explore; each trial has an account of its own…'],
    [`--store ${STORE} -- true`, '--store: cannot be used with explore; each trial has an account of its own…'],
    ['--port 4011 --jobs 2 -- true', '--port 4011: trials at the same time need a port each…'],
    ['--overlay none.yaml -- true', 'none.yaml: The overlay cannot be read (ENOENT)…'],
    ['--replay [{}] -- true', '--replay [{}]#/0: …'],
    ['--replay nowhere.json -- true', 'nowhere.json: The plan cannot be read (ENOENT).'],
    ['-- no-such-command', 'no-such-command: there is no such command', 127],
  ],
  verify: [
    ['', '--base-url URL: is needed…'],
    ['--base-url ftp://a.example/', '--base-url ftp://a.example/: must begin with http:// or https://'],
    ['--base-url http://user:secret@a.example/', '--base-url: must not hold credentials…'],
    [[...LOCAL.split(' '), '--api-key', 'two words'], `--api-key: ${visible}`],
    [`${LOCAL} --read-only --allow-writes`, '--read-only: contradicts --allow-writes…'],
    [`${LOCAL} --resume a --sweep a`, '--resume a: contradicts --sweep…'],
    [`${LOCAL} --resume none.json`, '--resume none.json: cannot be opened (ENOENT)'],
    [[...LOCAL.split(' '), '--domain-suffix', 'no host'], '--domain-suffix no host: must be a domain…'],
    [`${LOCAL} --ledger /nowhere/a.json`, `--ledger /nowhere/a.json: ${noFolder}`],
    [
      `${LOCAL} --evidence x --report json=x`,
      '--report json=x: is the file of --evidence x already; give each a file of its own',
    ],
    [`${LOCAL} --ledger ./x --evidence x`, '--evidence x: is the file of --ledger ./x already…'],
    [`${LOCAL} --sweep x --report json=x`, '--report json=x: is the file of --sweep x already…'],
    [`${LOCAL}api/v1`, 'verify: http://127.0.0.1:9/api/v1 cannot be reached: nothing listens there…', 3],
  ],
  check: [
    ['', 'check: needs at least one HAR file, such as dmarc-understudy check traffic.har'],
    ['x.har', 'check: x.har: The file cannot be read (ENOENT).'],
    ['/dev/null /dev/../dev/null', 'check: /dev/../dev/null is given twice'],
    ['/dev/null', 'check: /dev/null: This is no regular file; save the recording in one, and give that.'],
    ['a --base-url https://a/?x', '--base-url https://a/?x: must not have a query or a fragment'],
    ['a --base-url https://u:p@a/', '--base-url: must not hold credentials…'],
    ['a --update-baseline', '--update-baseline: needs --baseline FILE, which it writes'],
    ['a --sole-writter', '--sole-writter is no option here; did you mean --sole-writer?'],
  ],
  proxy: [
    [
      '--target http://127.0.0.1:9 --ca /dev/zero',
      '--ca /dev/zero: The file has more than 268435456 bytes, the most for one of its kind. Give certificates in PEM form.',
    ],
    ['', 'proxy: needs --target URL, such as --target https://api.example.com'],
    [
      '--target api.example.com',
      '--target api.example.com: must begin with http:// or https://, such as https://api.example.com',
    ],
    ['--target ftp://a.example', '--target ftp://a.example: must begin with http:// or https://'],
    ['--target https://', '--target https://: must be a URL such as https://api.example.com'],
    ['--target https://me:secret@a.example', '--target: must not hold credentials; the key is sent in a header field'],
    ['--target https://a.example/?a=b', '--target https://a.example/?a=b: must not have a query or a fragment'],
    [
      '--target http://localhost:4999 --port 4999',
      '--target http://localhost:4999: is the proxy itself; give another --port',
    ],
    ['--target http://localhost:1 more', 'proxy takes no argument, but was given more'],
    ['--target http://localhost:1 --host 0.0.0.0', `--host 0.0.0.0: ${open}`],
    [
      '--target https://a.example --ca missing.pem',
      '--ca missing.pem: The file cannot be read (ENOENT). Give certificates in PEM form.',
    ],
    ['--target http://localhost:1 --record /nowhere/a.har', `--record /nowhere/a.har: ${noFolder}`],
    ['--target http://localhost:1 --evidence /nowhere/a.json', `--evidence /nowhere/a.json: ${noFolder}`],
    ['--target http://localhost:1 --update-baseline', '--update-baseline: needs --baseline FILE, which it writes'],
  ],
  calibrate: [
    ['', 'calibrate: needs HAR files, --evidence FILE, or --base-url URL and --api-key KEY…'],
    ['--api-key a', '--api-key: needs --base-url URL, the service that is asked…'],
    [`${LOCAL}api/v1`, '--base-url http://127.0.0.1:9/api/v1: needs --api-key KEY to ask the service…'],
    ['a.har --wait', '--wait: needs --api-key, with which the service is asked…'],
    ['a.har --base-url http://a/b --api-key a', '--api-key: cannot be used with recordings…'],
    ['--evidence nowhere.json', 'nowhere.json: The evidence cannot be read (ENOENT).'],
    ['nowhere.har', 'calibrate: nowhere.har: The file cannot be read (ENOENT).'],
    ['--evidence a --evidence a', 'calibrate: a is given twice…'],
    ['a.har --out /nowhere/x.yaml', `--out /nowhere/x.yaml: ${noFolder}`],
  ],
  fixture: [
    ['--domains many', `--domains many: ${natural} 1000000`],
    ['--domains 1000001', `--domains 1000001: ${natural} 1000000`],
    ['--story bank', '--story bank: must be one of company, agency, isp, random'],
    ['--format xml', '--format xml: must be one of json, csv'],
    ['--describe nowhere', `nowhere: ${noFixture}`],
    [
      '--port 1',
      '--port is no option here; there are --domains, --groups, --seed, --story, --format, --now, --out, --force, --describe',
    ],
    ['demo', 'fixture takes no argument, but was given demo'],
    ['--describe demo empty', 'fixture takes no argument, but was given empty'],
    ['--out far/away.json', '--out far/away.json: its folder does not exist; create it, or name another file'],
  ],
  assumptions: [
    ['overlay nonsense', `assumptions overlay nonsense: must be the id of an assumption; ${listed}`],
    ['overlay domain-cpa', 'assumptions overlay domain-cpa: must be the id of an assumption; did you mean domain-cap?'],
    ['overlay', `assumptions overlay: must be the id of an assumption; ${listed}`],
    ['overlay create-group-status 2', 'assumptions overlay create-group-status 2: must be 1, its only alternative'],
    ['overlay body-limit 0', `assumptions overlay body-limit 0: ${ofTwo}`],
    ['overlay body-limit 3', `assumptions overlay body-limit 3: ${ofTwo}`],
    ['overlay body-limit two', `assumptions overlay body-limit two: ${ofTwo}`],
    ['overlay body-limit 1 2', 'assumptions overlay body-limit 1 2: must be overlay ID [N], or nothing'],
    ['list', 'assumptions list: must be overlay ID [N], or nothing'],
    ['--frozen', '--frozen is no option here; there are --evidence, --dependencies, --json, --overlay, --report'],
    ['--evidence a', '--evidence: needs --dependencies FILE, which vary --report json=FILE writes'],
    [
      '--dependencies a',
      '--dependencies: needs --evidence FILE, which check, proxy and verify write with --evidence FILE',
    ],
    ['--report json=a', '--report: needs --evidence and --dependencies, of which it is a report'],
    [
      'overlay head --evidence a --dependencies b',
      'assumptions overlay head: cannot be used with --evidence and --dependencies',
    ],
    ['--evidence nowhere --dependencies b', 'nowhere: The evidence cannot be read (ENOENT).'],
    ['--overlay nowhere.yaml', 'nowhere.yaml: The overlay cannot be read (ENOENT).'],
  ],
  mcp: [
    ['serve', 'mcp takes no argument, but was given serve'],
    ['--no-admin', '--no-admin is no option here; …'],
    ['--attach', '--attach needs a value: --attach ADMIN_URL'],
    ['--attach 127.0.0.1:4010', '--attach 127.0.0.1:4010: must begin with http:// or https://, such as …'],
    ['--attach http://me:pw@127.0.0.1/', '--attach: must not hold credentials; …'],
    [
      '--attach http://127.0.0.1:9/ --fixture demo',
      '--fixture demo: is for a stand-in of its own; leave it out, or leave out --attach',
    ],
    [
      '--attach http://127.0.0.1:9/__admin',
      '--attach http://127.0.0.1:9/__admin: The stand-in does not answer at http://127.0.0.1:9/__admin (ECONNREFUSED): it has stopped, or the address of --attach is wrong; start it again, or attach to another one.',
      3,
    ],
    ['--fixture nowhere', `nowhere: ${noFixture}`],
    ['--store redis://127.0.0.1:1 --data d', '--data d: is for accounts that this server keeps alone; …'],
  ],
}

describe.each(Object.entries(REFUSED))('%s refuses', (command, rows) => {
  it.for(rows)('%j in one line: %s', async ([args, message, code = 2], { folder }) => {
    const given = typeof args === 'string' ? args.split(' ').filter((word) => word !== '') : args
    const environment: Record<string, string> = command === 'verify' ? { DMARC_UNDERSTUDY_API_KEY: 'k' } : {}
    await expectRefusal([command, ...given], code, message, { environment, folder })
    expect(existsSync(join(folder, 'far'))).toBe(false)
  })
})

it('every command refuses something here', () => {
  expect(Object.keys(REFUSED).toSorted()).toEqual(Object.keys(COMMANDS).toSorted())
})

describe('serve refuses', () => {
  // What else a file may have wrong is tested where it is read.
  it.for<[source: string, what: string, text: string, message: RegExp]>([
    ['--fixture', 'no JSON', '{', /^file\.json: This is not valid JSON: .+\.$/],
    ['--fixture', 'a bad domain', '{"domains": ["x"]}', /^file\.json#\/domains\/0: "x" is not a valid hostname .+\.$/],
    ['--faults', 'no JSON', '{', /^file\.json: This is not valid JSON: .+\.$/],
    ['--faults', 'no rules', '{"a": {}}', /^file\.json#\/a\/rules: The value is missing\.$/],
    ['--overlay', 'no YAML', 'overlay: [', /^file\.json:1:\d+: This is not valid YAML: .+\.$/],
    [
      '--overlay',
      'what breaks the document',
      'overlay: 1.0.0\nactions: [{ target: $, update: { x-colour: blue } }]',
      /^openapi\.yaml#\/x-colour: The extension x-colour is unknown; known are .+\.$/,
    ],
  ])('a file for %s with %s', async ([option, , text, message], { folder }) => {
    writeFileSync(join(folder, 'file.json'), text)
    await expectRefusal(['serve', '--port', '0', option, 'file.json'], 2, message, { folder })
  })

  it.for([
    ['serve', '--port'],
    ['serve', 'DMARC_UNDERSTUDY_PORT'],
    ['run', '--port'],
  ])('a port that is in use: %s with %s', async ([command = '', source = ''], { onTestFinished }) => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const port = `${valueAt(other.address(), '/port')}`
    const message = `${source} ${port}: is in use on 127.0.0.1; choose another, or 0 for any free port`
    const given = source.startsWith('--') ? [source, port] : []
    const rest = command === 'run' ? ['--', 'true'] : []
    await expectRefusal([command, ...given, ...rest], 3, message, { environment: { DMARC_UNDERSTUDY_PORT: port } })
  })

  it('a store and a folder in the environment, as run does', async () => {
    const environment = { DMARC_UNDERSTUDY_STORE: STORE, DMARC_UNDERSTUDY_DATA: 'accounts' }
    await expectRefusal(['serve'], 2, `DMARC_UNDERSTUDY_DATA accounts: ${alone}`, { environment })
    await expectRefusal(['run', '--', 'true'], 2, `DMARC_UNDERSTUDY_DATA accounts: ${alone}`, { environment })
  })

  it('to start, and leaves no lock behind', async ({ folder }) => {
    await expectRefusal(['serve', '--port', '0', '--data', folder, '--fixture', 'nowhere'], 2, `nowhere: ${noFixture}`)
    expect(existsSync(join(folder, '.lock'))).toBe(false)
  })
})
