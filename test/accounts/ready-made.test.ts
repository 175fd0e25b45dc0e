import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { FIXTURE_NAMES, loadFixture } from '../../src/accounts/fixture.ts'
import { PROFILE_NAMES } from '../../src/domain/dmarc.ts'
import { startService } from '../support/service.ts'

const DAYS = 3
const FOLDER = new URL('../../fixtures/', import.meta.url)

it('offers each fixture of the folder by name', async () => {
  const files = (await readdir(FOLDER)).filter((name) => !['fixture.schema.json', 'fault-sets.json'].includes(name))
  expect(files.toSorted()).toEqual(FIXTURE_NAMES.map((name) => `${name}.json`).toSorted())
})

describe.each(FIXTURE_NAMES)('the fixture %s', (name) => {
  it('passes the checks that are spared it at the start', async () => {
    const written = JSON.parse(await readFile(new URL(`${name}.json`, FOLDER), 'utf8'))
    const { file: _, ...checked } = await loadFixture(written)
    expect(checked).toEqual(written)
  })

  it(`loads, and every answer about it obeys the contract on each of ${DAYS} days`, async () => {
    const service = await startService({ fixture: name, now: '2026-01-15T09:00:00Z' })
    const { domains } = (await service.get('/domains')).body.data
    const { groups } = (await service.get('/domaingroups')).body.data
    for (const group of groups) {
      for (const member of group.domains) expect(domains).toContain(member)
      expect((await service.get(`/domaingroups?id=${group.id}`)).body.data.group).toEqual(group)
    }
    for (let day = 0; day < DAYS; day++) {
      const { data } = (await service.get('/dmarc')).body
      expect(data.map(({ domain }: { domain: string }) => domain)).toEqual(domains)
      service.advance(86_400_000)
    }
  })
})

it('has in agency 300 domains of clients with reserved names, 40 groups, and scenes', async () => {
  const { domains, groups, scenes } = JSON.parse(await readFile(new URL('agency.json', FOLDER), 'utf8'))
  expect([domains.length, groups.length]).toEqual([300, 40])
  expect(domains.filter(({ name }: { name: string }) => !/\.(example|test)$/.test(name))).toEqual([])
  expect(scenes.length).toBeGreaterThan(0)
})

it('has in demo a company of 25 domains with every kind of trouble, 5 groups, and a disabled key', async () => {
  const demo = JSON.parse(await readFile(new URL('demo.json', FOLDER), 'utf8'))
  expect(demo.domains).toHaveLength(25)
  expect(demo.groups).toHaveLength(5)
  expect(new Set(demo.domains.map(({ profile }: { profile: string }) => profile))).toEqual(new Set(PROFILE_NAMES))
  expect(demo.domains.some(({ features = [] }) => features.length > 0)).toBe(true)
  expect(demo.keys.some(({ disabled }: { disabled?: boolean }) => disabled)).toBe(true)
})

it('has in edge-cases the extremes that a client must not stumble over', async () => {
  const service = await startService({ fixture: 'edge-cases' })
  const { data } = (await service.get('/dmarc')).body
  const rows = new Map<string, Record<string, unknown>>(data.map((row: { domain: string }) => [row.domain, row]))
  expect(Math.max(...[...rows.keys()].map((domain) => domain.length))).toBe(253)
  expect(rows.get('xn--mnchen-3ya.example')).toBeDefined()
  expect(rows.get('zero-volume.example')).toMatchObject({ dmarc: 0, dkim: 0, spf: 0, count: 0 })
  expect(rows.get('all-pass.example')).toMatchObject({ dmarc: 100, dkim: 100, spf: 100 })
  expect(rows.get('all-fail.example')).toMatchObject({ dmarc: 0, count: 99_999 })
  expect(rows.get('explicit-sp.example')).toMatchObject({ p: 'reject', sp: 'none', np: 'none' })
  expect(rows.get('explicit-np.example')).toMatchObject({ p: 'none', sp: 'quarantine', np: 'reject' })
  expect(rows.get('testing.example')).toMatchObject({ testing: 'y' })
  expect(rows.get('pct-25.example')).toMatchObject({ pct: 25 })
  const { groups } = (await service.get('/domaingroups')).body.data
  expect(groups.map(({ name }: { name: string }) => [...name].length)).toContain(100)
  expect(groups.some(({ name }: { name: string }) => name === '😀'.repeat(100))).toBe(true)
  expect(groups.some(({ domains }: { domains: string[] }) => domains.length === 0)).toBe(true)
})
