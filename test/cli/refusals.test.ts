import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { valueAt } from '../../src/ground/json.ts'
import { expectRefusal, it } from '../support/program.ts'
import { OPTIONS_OF_SERVE } from './commands.ts'

const SERVE_OPTIONS = OPTIONS_OF_SERVE.map((name) => `--${name}`).join(', ')

describe('serve refuses', () => {
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
    [['--sandbox-idle', '1w'], '--sandbox-idle 1w: must be a duration such as 90s, 30m, 1h or 2d'],
    [['--sandbox-idle'], '--sandbox-idle needs a value: --sandbox-idle DURATION'],
    [['--no-sandbox-keys=no'], '--no-sandbox-keys no: must be true or false'],
    [['--no-prefer=off'], '--no-prefer off: must be true or false'],
    [['--no-simulator=2'], '--no-simulator 2: must be true or false'],
    [['--faults'], '--faults needs a value: --faults SET|FILE[#SET]'],
    [['--faults='], '--faults : must be a list of texts that are not empty'],
    [
      ['--faults', 'flakey'],
      'flakey: The fault sets cannot be read (ENOENT); give flaky, quota-storm, lossy-writes, slow or the path of a JSON file.',
    ],
    [['--admin-token', 'two words'], '--admin-token: must be 1 to 200 visible ASCII characters without spaces'],
    [['--api-key', ''], '--api-key: must be 1 to 200 visible ASCII characters without spaces'],
    [['--plan', ''], '--plan : must be a text that is not empty'],
    [['--admin-token', ''], '--admin-token: must be 1 to 200 visible ASCII characters without spaces'],
    [['--overlay='], '--overlay : must be a list of texts that are not empty'],
    [['--overlay'], '--overlay needs a value: --overlay FILE'],
    [['--prot', '80'], '--prot is no option here; did you mean --port?'],
    [['--Port', '80'], '--Port is no option here; did you mean --port?'],
    [['--apikey', 'k'], '--apikey is no option here; did you mean --api-key?'],
    [['--fixtures=empty'], '--fixtures is no option here; did you mean --fixture?'],
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
      /^\S+file\.json#\/colour: The value is not allowed here; allowed fields are \$schema, title, description, plan, seed, clock, keys, domains, former_domains, groups, groups_created, scenes\.$/,
    ],
    [
      'with a bad domain',
      '{"domains": ["x"]}',
      /^\S+file\.json#\/domains\/0: "x" is not a valid hostname \(setting single-labels: refused\)\.$/,
    ],
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
