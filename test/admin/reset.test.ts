import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { ACCOUNT, SECOND_KEY, withKey } from '../support/account.ts'
import { askControl } from '../support/control-plane.ts'
import { ROOT } from '../support/program-process.ts'
import { asks, sends } from '../support/rows.ts'
import { startService, type TestService } from '../support/service.ts'

type Deed = (service: TestService) => Promise<unknown>

/** What becomes of something in a reset, what changes it after the creation of the account, and how it is read. */
type Proof = [fate: 'forgotten' | 'kept', change: Deed, look: Deed, options?: ServerOptions]

const AT = '/accounts/default'
/** The id of a request to the service. */
const requestIds = new WeakMap<TestService, string>()
const read =
  (path: string, pick = (data: Record<string, unknown>): unknown => data): Deed =>
  async (service) =>
    pick((await askControl(service, 'GET', path)).data)
const state = (field: string) => read(`${AT}/state`, (data) => data[field])
/** Several deeds, one after the other. */
const all =
  (...deeds: Deed[]): Deed =>
  async (service) => {
    const results: unknown[] = []
    for (const deed of deeds) results.push(await deed(service))
    return results
  }
const status =
  (deed: (service: TestService) => Promise<{ status: number }>): Deed =>
  async (service) =>
    (await deed(service)).status
const pin = (domain: string, body: object) => asks('PUT', `${AT}/domains/${domain}/dmarc`, body)
const removal = (domain: string) => sends('DELETE', '/domains', { domains: [domain] })
const ANOTHER = { fixture: 'agency', seed: 7, now: '2026-02-01T00:00:00Z', frozen: true }

async function disableAndDeleteKeys(service: TestService): Promise<void> {
  const { keys } = (await askControl(service, 'GET', `${AT}/keys`)).data
  await askControl(service, 'PATCH', `${AT}/keys/${keys[1].id}`, { disabled: true })
  await askControl(service, 'DELETE', `${AT}/keys/${keys[2].id}`)
}

async function createAndDeleteGroup(service: TestService): Promise<string> {
  const { id } = (await service.send('POST', '/domaingroups', { name: 'New' })).body.data.group
  await service.send('DELETE', `/domaingroups?id=${id}`)
  return id
}

async function recordRequest(service: TestService): Promise<void> {
  requestIds.set(service, (await service.get('/domains')).headers['x-request-id'] ?? '')
}

async function readJournal(service: TestService): Promise<unknown[]> {
  const { requests } = (await askControl(service, 'GET', `${AT}/requests`)).data
  const { status } = await askControl(service, 'GET', `/explain/${requestIds.get(service) ?? 'none'}`)
  return [requests, status]
}

async function nothing(): Promise<void> {}

const PROOFS: Readonly<Record<string, Proof>> = {
  'domains and groups': ['forgotten', removal('one.example'), all(state('domains'), state('groups'))],
  'fixed values, profiles and features of domains': [
    'forgotten',
    all(
      pin('one.example', { profile: 'parked', p: 'reject' }),
      asks('PUT', `${AT}/domains/used.example/features`, { features: [] }),
    ),
    state('domains'),
  ],
  'what is remembered of removed domains': [
    'forgotten',
    all(pin('two.example', { profile: 'parked' }), removal('two.example')),
    state('former_domains'),
  ],
  plan: ['forgotten', asks('PATCH', AT, { plan: 'above-stone' }), read(AT)],
  'keys that were created later': ['forgotten', asks('POST', `${AT}/keys`, { label: 'Later' }), read(`${AT}/keys`)],
  'that a key of the creation was disabled or deleted': [
    'forgotten',
    disableAndDeleteKeys,
    all(read(`${AT}/keys`), status(sends('GET', '/domains', undefined, withKey(SECOND_KEY)))),
  ],
  'moves of the clock': [
    'forgotten',
    asks('PATCH', `${AT}/clock`, { advance: 'P3D', frozen: true }),
    read(`${AT}/clock`),
  ],
  'used quotas': ['forgotten', sends('GET', '/dmarc'), read(`${AT}/quotas`)],
  'fault rules, and how often they acted': [
    'forgotten',
    all(sends('GET', '/dmarc'), asks('POST', `${AT}/faults`, { connection: 'reset' })),
    read(`${AT}/faults`),
    { faults: ['quota-storm'] },
  ],
  'ids of groups': ['forgotten', nothing, createAndDeleteGroup],
  'ids of requests': [
    'forgotten',
    nothing,
    async (service) => (await service.get('/domaingroups')).headers['x-request-id'],
  ],
  'the journal and its explanations': ['forgotten', recordRequest, readJournal],
  'the coverage': ['forgotten', sends('GET', '/domains'), all(read(`${AT}/coverage`), read('/coverage'))],
  snapshots: [
    'kept',
    asks('POST', `${AT}/snapshots`, { name: 'clean' }),
    all(read(`${AT}/snapshots`), status(asks('POST', `${AT}/snapshots/clean/restore`))),
  ],
  'the verdict': ['kept', sends('POST', '/domains', { domain: 'wrong.example' }), read('/verdict', summaryOf)],
  'other accounts': [
    'kept',
    asks('POST', '/accounts', { id: 'other', fixture: 'empty' }),
    read('/accounts', ({ accounts }) => (accounts as { id: string }[]).filter(({ id }) => id === 'other')),
  ],
  'what an earlier reset has chosen': [
    'kept',
    asks('POST', `${AT}/reset`, ANOTHER),
    all(read(AT), read(`${AT}/clock`)),
  ],
}

function summaryOf({ passed, requests, violations }: Record<string, unknown>): unknown {
  return { passed, requests, codes: (violations as { by_code: unknown }).by_code }
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
    expect(readTable()).toEqual(Object.entries(PROOFS).map(([what, [fate]]) => [what, fate]))
  })

  it.each(Object.entries(PROOFS))('does to the following what the table says: %s', async (_, proof) => {
    const [fate, change, look, options] = proof
    const service = await startService({ fixture: ACCOUNT, ...options })
    const before = await look(service)
    await change(service)
    const changed = await look(service)
    expect(changed).not.toEqual(before)
    expect((await askControl(service, 'POST', `${AT}/reset`)).status).toBe(200)
    expect(await look(service)).toEqual(fate === 'forgotten' ? before : changed)
  })
})
