import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { ACCOUNT, SECOND_KEY, withKey } from '../support/account.ts'
import { askControl } from '../support/control-plane.ts'
import { ROOT } from '../support/program-process.ts'
import { startService, type TestService } from '../support/service.ts'

interface Proof {
  fate: 'forgotten' | 'kept'
  /** The options of the server. */
  options?: ServerOptions
  /** What happens after the creation of the account. */
  change: (service: TestService) => Promise<unknown>
  /** Reads what the row is about. */
  look: (service: TestService) => Promise<unknown>
}

const AT = '/accounts/default'
/** The id of a request to the service. */
const requestIds = new WeakMap<TestService, string>()
const read =
  (path: string, pick = (data: Record<string, unknown>): unknown => data) =>
  async (service: TestService) =>
    pick((await askControl(service, 'GET', path)).data)
const state = (field: string) => read(`${AT}/state`, (data) => data[field])
const ask = (method: string, path: string, body?: unknown) => (service: TestService) =>
  askControl(service, method, path, body)

const PROOFS: Readonly<Record<string, Proof>> = {
  'domains and groups': {
    fate: 'forgotten',
    change: (service) => service.send('DELETE', '/domains', { domains: ['one.example'] }),
    look: async (service) => [await state('domains')(service), await state('groups')(service)],
  },
  'pins, profiles and features of domains': {
    fate: 'forgotten',
    async change(service) {
      await askControl(service, 'PUT', `${AT}/domains/one.example/dmarc`, { profile: 'parked', p: 'reject' })
      await askControl(service, 'PUT', `${AT}/domains/used.example/features`, { features: [] })
    },
    look: state('domains'),
  },
  'what is remembered of removed domains': {
    fate: 'forgotten',
    async change(service) {
      await askControl(service, 'PUT', `${AT}/domains/two.example/dmarc`, { profile: 'parked' })
      await service.send('DELETE', '/domains', { domains: ['two.example'] })
    },
    look: state('former_domains'),
  },
  plan: { fate: 'forgotten', change: ask('PATCH', AT, { plan: 'above-stone' }), look: read(AT) },
  'keys that were created later': {
    fate: 'forgotten',
    change: ask('POST', `${AT}/keys`, { label: 'Later' }),
    look: read(`${AT}/keys`),
  },
  'that a key of the creation was disabled or deleted': {
    fate: 'forgotten',
    async change(service) {
      const { keys } = (await askControl(service, 'GET', `${AT}/keys`)).data
      await askControl(service, 'PATCH', `${AT}/keys/${keys[1].id}`, { disabled: true })
      await askControl(service, 'DELETE', `${AT}/keys/${keys[2].id}`)
    },
    look: async (service) => [
      await read(`${AT}/keys`)(service),
      (await service.send('GET', '/domains', undefined, withKey(SECOND_KEY))).status,
    ],
  },
  'moves of the clock': {
    fate: 'forgotten',
    change: ask('PATCH', `${AT}/clock`, { advance: 'P3D', frozen: true }),
    look: read(`${AT}/clock`),
  },
  'used quotas': {
    fate: 'forgotten',
    change: (service) => service.get('/dmarc'),
    look: read(`${AT}/quotas`),
  },
  'fault rules, and how often they acted': {
    fate: 'forgotten',
    options: { faults: ['quota-storm'] },
    async change(service) {
      await service.get('/dmarc')
      await askControl(service, 'POST', `${AT}/faults`, { connection: 'reset' })
    },
    look: read(`${AT}/faults`),
  },
  'ids of groups': {
    fate: 'forgotten',
    change: async () => undefined,
    async look(service) {
      const { id } = (await service.send('POST', '/domaingroups', { name: 'New' })).body.data.group
      await service.send('DELETE', `/domaingroups?id=${id}`)
      return id
    },
  },
  'ids of requests': {
    fate: 'forgotten',
    change: async () => undefined,
    look: async (service) => (await service.get('/domaingroups')).headers['x-request-id'],
  },
  'the journal and its explanations': {
    fate: 'forgotten',
    async change(service) {
      const { headers } = await service.get('/domains')
      requestIds.set(service, headers['x-request-id'] ?? '')
    },
    async look(service) {
      const { requests } = (await askControl(service, 'GET', `${AT}/requests`)).data
      const { status } = await askControl(service, 'GET', `/explain/${requestIds.get(service) ?? 'none'}`)
      return { requests, status }
    },
  },
  'the coverage': {
    fate: 'forgotten',
    change: (service) => service.get('/domains'),
    look: async (service) => [await read(`${AT}/coverage`)(service), await read('/coverage')(service)],
  },
  snapshots: {
    fate: 'kept',
    change: ask('POST', `${AT}/snapshots`, { name: 'clean' }),
    look: read(`${AT}/snapshots`),
  },
  'the verdict': {
    fate: 'kept',
    change: (service) => service.send('POST', '/domains', { domain: 'wrong.example' }),
    look: read('/verdict', ({ passed, requests, violations }) => ({
      passed,
      requests,
      codes: (violations as { by_code: unknown }).by_code,
    })),
  },
  'the metrics of the process': {
    fate: 'kept',
    change: (service) => service.get('/domains'),
    look: async (service) =>
      (await askControl(service, 'GET', '/metrics')).text
        .split('\n')
        .filter((line) => /^dmarc_understudy_(requests|exchanges)_total/.test(line)),
  },
  'other accounts': {
    fate: 'kept',
    change: ask('POST', '/accounts', { id: 'other', fixture: 'empty' }),
    look: read('/accounts', ({ accounts }) => (accounts as { id: string }[]).filter(({ id }) => id === 'other')),
  },
  'what an earlier reset has chosen': {
    fate: 'kept',
    change: ask('POST', `${AT}/reset`, { fixture: 'agency', seed: 7, now: '2026-02-01T00:00:00Z', frozen: true }),
    look: async (service) => [await read(AT)(service), await read(`${AT}/clock`)(service)],
  },
}

/** The rows of the table, as `[what, what becomes of it]`. */
function readTable(): [string, string][] {
  const page = readFileSync(join(ROOT, 'docs/control-plane.md'), 'utf8')
  const [, section = ''] = page.split('\n## What a reset forgets\n')
  const rows = (section.split('\n## ')[0] ?? '').matchAll(/^\| ([^|*]+?) \| (\w+)[^|]*\|$/gm)
  return [...rows].map(([, what = '', fate = '']): [string, string] => [what, fate]).filter(([what]) => what !== 'what')
}

describe('a reset of an account', () => {
  it('is described by a table in docs/control-plane.md', () => {
    expect(readTable()).toEqual(Object.entries(PROOFS).map(([what, { fate }]) => [what, fate]))
  })

  it.for(Object.entries(PROOFS))('does to the following what the table says: %s', async ([, proof]) => {
    const service = await startService({ fixture: ACCOUNT, ...proof.options })
    const before = await proof.look(service)
    await proof.change(service)
    const changed = await proof.look(service)
    expect(changed).not.toEqual(before)
    const { status } = await askControl(service, 'POST', `${AT}/reset`)
    expect(status).toBe(200)
    expect(await proof.look(service)).toEqual(proof.fate === 'forgotten' ? before : changed)
  })

  it('keeps its first key', async () => {
    const service = await startService()
    await askControl(service, 'POST', `${AT}/reset`, { seed: 7 })
    expect((await service.get('/domains')).status).toBe(200)
  })
})
