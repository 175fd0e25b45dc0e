import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { FIXTURE_NAMES, loadFixture } from '../../src/accounts/fixture.ts'
import { drawAccount } from '../../src/accounts/picture.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { startUnderstudy } from '../../src/start/server.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { PROGRAM, runShell } from '../support/program-process.ts'

const contract = await loadContract()
const NOW = '2026-01-15T09:00:00Z'
const SMALL = ['--domains', '12', '--groups', '3']
const NAMES = FIXTURE_NAMES.join(', ')

/** Runs the command, which must succeed without a word on standard error; its standard output. */
async function outputOf(...args: readonly string[]): Promise<string> {
  const { stdout, ...result } = await runInProcess(['fixture', ...args])
  expect(result).toEqual({ code: 0, stderr: '' })
  return stdout
}

describe('fixture', () => {
  it('writes a file that serve --fixture takes and --describe describes', async ({ folder, serve }) => {
    const written = await runInProcess(['fixture', ...SMALL, '--seed', '7', '--out', 'shop.json'], { folder })
    expect(written).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Wrote shop.json. Try it: dmarc-understudy fixture --describe shop.json\n',
    })
    const { domains, groups } = JSON.parse(readFileSync(join(folder, 'shop.json'), 'utf8'))
    const names = domains.map(({ name }: { name: string }) => name)
    expect([names.length, groups.length]).toEqual([12, 3])

    const service = await serve(['--fixture', 'shop.json'], { folder })
    expect((await service.request('/domains')).body).toEqual({ success: true, data: { domains: names } })
    expect((await service.request('/domaingroups')).body).toMatchObject({ data: { groups, count: 3 } })

    const picture = await runInProcess(['fixture', '--describe', 'shop.json'], { folder })
    expect(picture).toMatchObject({ code: 0, stderr: '' })
    expect(picture.stdout).toMatch(
      /^company, 12 domains: 12 domains \(\d+ in use by a feature\), 3 groups, 1 key, plan stone, seed 7\n\nProfiles\n/,
    )
  })

  it('writes the same for the same options, and says nothing of progress for so few', async ({ folder }) => {
    const options = [...SMALL, '--story', 'agency', '--seed', '7']
    const [once, again, other] = await Promise.all([
      outputOf(...options),
      outputOf(...options),
      outputOf(...SMALL, '--story', 'agency', '--seed', '8'),
    ])
    expect(again).toBe(once)
    expect(JSON.parse(other).domains).not.toEqual(JSON.parse(once).domains)
    await runInProcess(['fixture', ...options, '--out', 'shop.json'], { folder })
    expect(readFileSync(join(folder, 'shop.json'), 'utf8')).toBe(once)
  })

  it('says in the file how it was made', async () => {
    const made = 'fixture --story isp --domains 12 --groups 3 --seed 9'
    const text = await outputOf(...made.split(' ').slice(1))
    expect(JSON.parse(text)).toMatchObject({
      title: 'isp, 12 domains',
      description: `Made by dmarc-understudy ${made}`,
      seed: 9,
    })
  })

  it('takes its options from the environment as well', async () => {
    const environment = {
      DMARC_UNDERSTUDY_DOMAINS: '2',
      DMARC_UNDERSTUDY_GROUPS: '1',
      DMARC_UNDERSTUDY_SEED: '5',
      DMARC_UNDERSTUDY_STORY: 'random',
    }
    const { stdout } = await runInProcess(['fixture', '--domains', '3'], { environment })
    expect(JSON.parse(stdout)).toMatchObject({ title: 'random, 3 domains', seed: 5, groups: [{}] })
  })

  it('invents an account without domains, if that is wanted', async ({ folder }) => {
    const path = join(folder, 'none.json')
    writeFileSync(path, await outputOf('--domains', '0', '--groups', '0'))
    expect(await loadFixture(path)).toMatchObject({ domains: [], groups: [] })
  })

  it('writes as csv what GET /dmarc answers on that day', async ({ onTestFinished }) => {
    const [json, csv, later] = await Promise.all([
      outputOf(...SMALL),
      outputOf(...SMALL, '--format', 'csv', '--now', NOW),
      outputOf(...SMALL, '--format', 'csv', '--now', '2026-02-15T09:00:00Z'),
    ])
    const { baseUrl, apiKey, stop } = await startUnderstudy({ fixture: JSON.parse(json), now: NOW })
    onTestFinished(stop)
    const answer = await fetch(`${baseUrl}/dmarc`, { headers: { authorization: `Bearer ${apiKey}` } })
    const { data } = (await answer.json()) as { data: Record<string, string | number>[] }
    expect(data).toHaveLength(12)

    const [header, ...rows] = csv.split('\r\n')
    expect(header).toBe('domain,p,sp,np,pct,testing,dmarc,dkim,spf,count')
    const shares = ['dmarc', 'dkim', 'spf']
    const expected = data.map((row) =>
      Object.entries(row).map(([name, value]) => (shares.includes(name) ? Number(value).toFixed(1) : value)),
    )
    expect(rows).toEqual([...expected.map((row) => row.join(',')), ''])
    expect(later.split('\r\n')[0]).toBe(header)
    expect(later).not.toBe(csv)
  })

  it('writes over a file only with --force', async ({ folder }) => {
    const path = join(folder, 'shop.json')
    writeFileSync(path, 'precious')
    const args = ['fixture', ...SMALL, '--out', 'shop.json']
    const message = '--out shop.json: exists already; choose another name, or replace it with --force'
    await expectRefusal(args, 2, message, { folder })
    expect(readFileSync(path, 'utf8')).toBe('precious')
    expect(await runInProcess([...args, '--force'], { folder })).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ title: 'company, 12 domains' })
  })

  it('suggests to try what then works, if anything', async ({ folder }) => {
    for (const format of ['json', 'csv']) {
      const out = `shop.${format}`
      const { stderr } = await runInProcess(['fixture', ...SMALL, '--format', format, '--out', out], { folder })
      expect(stderr).toMatch(new RegExp(`^Wrote ${out}\\.[^\\n]*\\n$`))
      const [, suggestion] = /Try it: dmarc-understudy (.+)\n/.exec(stderr) ?? []
      if (suggestion === undefined) continue
      expect(await runInProcess(suggestion.split(' '), { folder }), suggestion).toMatchObject({ code: 0, stderr: '' })
    }
  })

  it('may be read in part, by head or a pager', async () => {
    const { code, stdout, stderr } = await runShell(
      `'${process.execPath}' '${PROGRAM}' fixture --domains 5000 | head -n 1`,
    )
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '{\n', stderr: '' })
  })
})

describe('fixture --describe', () => {
  it.for([
    ['demo', 'Fjordlight: 25 domains (2 in use by a feature), 5 groups, 3 keys, plan stone, seed 42'],
    ['empty', 'Empty: 0 domains (0 in use by a feature), 0 groups, 1 key, plan stone, seed 42'],
    ['edge-cases', 'Edge cases: 30 domains (1 in use by a feature), 9 groups, 3 keys, plan stone, seed 7'],
    ['agency', 'agency, 300 domains: 300 domains (8 in use by a feature), 40 groups, 1 key, plan stone, seed 11'],
  ] as const)('draws %s', async ([name, summary]) => {
    const picture = await outputOf('--describe', name, '--now', NOW)
    const sections = picture.split('\n\n').map((section) => section.split('\n')[0])
    expect(sections).toEqual([
      summary,
      'Profiles',
      'Policies (p)',
      'DMARC alignment of domains with mail',
      'Messages in 30 days',
      'Largest groups',
    ])
    const fixture = await loadFixture(name)
    const account = createAccount(fixture, { id: 'fixture', real: 0, now: NOW }, contract)
    expect(picture).toBe(`${drawAccount(fixture.title ?? name, account, Date.parse(NOW), contract)}\n`)
  })

  it('speaks of a file without a title by its path', async ({ folder }) => {
    writeFileSync(join(folder, 'shop.json'), JSON.stringify({ domains: [{ name: 'a.example', profile: 'new' }] }))
    const { stdout } = await runInProcess(['fixture', '--describe', 'shop.json'], { folder })
    expect(stdout.split('\n').slice(0, 4)).toEqual([
      'shop.json: 1 domain (0 in use by a feature), 0 groups, 1 key, plan stone, seed 42',
      '',
      'Profiles',
      `  new  1  ${'█'.repeat(40)}`,
    ])
  })

  it.for<[what: string, text: string, message: string | RegExp]>([
    ['that is no JSON', '{"domains": [', /^broken\.json: This is not valid JSON: .+\.$/],
    [
      'with a profile that there is not',
      '{"domains": [{"name": "a.example", "profile": "dead"}]}',
      /^broken\.json#\/domains\/0\/profile: The value is "dead" but must be one of "enforced", .+, "new"\.$/,
    ],
    [
      'with a domain that is no hostname',
      '{"domains": ["no host"]}',
      'broken.json#/domains/0: "no host" is not a valid hostname.',
    ],
    [
      'with a record that contradicts itself',
      '{"domains": [{"name": "a.example", "record": {"count": 0, "dmarc": 1}}]}',
      'broken.json#/domains/0/record: The record has shares of no mail: with count 0 they are 0.',
    ],
  ])('refuses a file %s with exit code 2 and one line', async ([, text, message], { folder }) => {
    writeFileSync(join(folder, 'broken.json'), text)
    await expectRefusal(['fixture', '--describe', 'broken.json'], 2, message, { folder })
  })
})

describe('fixture refuses', () => {
  const number = 'must be a whole number from 0 to'

  it.for<[args: string[], message: string]>([
    [['--domains', 'many'], `--domains many: ${number} 1000000`],
    [['--domains', '-1'], `--domains -1: ${number} 1000000`],
    [['--domains', '1.5'], `--domains 1.5: ${number} 1000000`],
    [['--domains', '1000001'], `--domains 1000001: ${number} 1000000`],
    [['--groups', '10001'], `--groups 10001: ${number} 10000`],
    [['--seed', 'x'], `--seed x: ${number} 9007199254740991`],
    [['--story', 'bank'], '--story bank: must be one of company, agency, isp, random'],
    [['--story'], '--story needs a value: --story company|agency|isp|random'],
    [['--format', 'xml'], '--format xml: must be one of json, csv'],
    [['--now', 'today'], '--now today: must be an instant such as 2026-01-15T09:00:00Z'],
    [['--now', 'P21D'], '--now P21D: must be an instant such as 2026-01-15T09:00:00Z'],
    [['--out='], '--out : must be a text that is not empty'],
    [['--out', '--force'], '--out needs a value: --out FILE'],
    [['--force=always'], '--force always: must be true or false'],
    [['--describe='], '--describe : must be a text that is not empty'],
    [['--describe'], '--describe needs a value: --describe NAME|FILE'],
    [
      ['--describe', 'nowhere'],
      `nowhere: The fixture cannot be read (ENOENT); give ${NAMES} or the path of a JSON file.`,
    ],
    [
      ['--port', '1'],
      '--port is no option here; there are --domains, --groups, --seed, --story, --format, --now, --out, --force, --describe',
    ],
    [['demo'], 'fixture takes no argument, but was given demo'],
    [['--describe', 'demo', 'empty'], 'fixture takes no argument, but was given empty'],
  ])('%j with exit code 2 and one line', async ([args, message]) => {
    await expectRefusal(['fixture', ...args], 2, message)
  })

  it.for([
    ['DOMAINS', 'x', `${number} 1000000`],
    ['STORY', 'bank', 'must be one of company, agency, isp, random'],
    ['NOW', '2026-02-30T00:00:00Z', 'must be an instant such as 2026-01-15T09:00:00Z'],
  ] as const)('the environment for %s, %j, by its name', async ([option, value, message]) => {
    const variable = `DMARC_UNDERSTUDY_${option}`
    await expectRefusal(['fixture'], 2, `${variable} ${value}: ${message}`, { environment: { [variable]: value } })
  })

  it.for([
    [[], 'exists already; choose another name, or replace it with --force'],
    [['--force'], 'cannot be written (EISDIR); choose a file in a folder that exists'],
  ] as const)('to write in the place of a folder, with %j', async ([more, message], { folder }) => {
    mkdirSync(join(folder, 'here'))
    await expectRefusal(['fixture', ...SMALL, '--out', 'here', ...more], 2, `--out here: ${message}`, { folder })
  })

  it('to write into a folder that is not there', async ({ folder }) => {
    const message = '--out far/away.json: cannot be written (ENOENT); choose a file in a folder that exists'
    await expectRefusal(['fixture', ...SMALL, '--out', 'far/away.json'], 2, message, { folder })
    expect(existsSync(join(folder, 'far'))).toBe(false)
  })
})
