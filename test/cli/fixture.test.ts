import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { loadFixture } from '../../src/accounts/fixture.ts'
import { drawAccount } from '../../src/accounts/picture.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { startUnderstudy } from '../../src/start/server.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'

const contract = await loadContract()
const NOW = '2026-01-15T09:00:00Z'
const SMALL = ['--domains', '12', '--groups', '3']

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

  it('says in the file how it was made', async () => {
    const made = 'fixture --story isp --domains 12 --groups 3 --seed 9'
    const text = await outputOf(...made.split(' ').slice(1))
    expect(JSON.parse(text)).toMatchObject({
      title: 'isp, 12 domains',
      description: `Made by dmarc-understudy ${made}`,
      seed: 9,
    })
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
})

describe('fixture --describe', () => {
  it.for(['demo', 'edge-cases'])('draws %s as it is on that day', async (name) => {
    const picture = await outputOf('--describe', name, '--now', NOW)
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
})

describe('fixture refuses', () => {
  it.for([
    [[], 'exists already; choose another name, or replace it with --force'],
    [['--force'], 'is a folder; name a file in it'],
  ] as const)('to write in the place of a folder, with %j', async ([more, message], { folder }) => {
    mkdirSync(join(folder, 'here'))
    await expectRefusal(['fixture', ...SMALL, '--out', 'here', ...more], 2, `--out here: ${message}`, { folder })
  })

  it('to write on a full disk', async () => {
    const message = '--out /dev/full: finds the disk full; make room, or name a file elsewhere'
    await expectRefusal(['fixture', ...SMALL, '--out', '/dev/full', '--force'], 2, message)
  })
})
