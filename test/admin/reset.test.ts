import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ACCOUNT, SECOND_KEY, withKey } from '../support/account.ts'
import { askControl } from '../support/control-plane.ts'
import { asks, sends } from '../support/rows.ts'
import { startService, type TestService } from '../support/service.ts'

type Deed = (service: TestService) => Promise<unknown>
/** What becomes of a change: it is undone or not, or both states are gone, or there is no way back because it was made. */
type Fate = 'forgotten' | 'kept' | 'anew' | 'refused'
type Fates = readonly [reset: Fate, restore: Fate, rewind: Fate]
/** What becomes of something, what changes it, and how it is looked at. */
type Proof = [fates: Fates, change: Deed, look: Deed]

const AT = '/accounts/default'
const BACK: Fates = ['forgotten', 'forgotten', 'forgotten']
const KEPT: Fates = ['kept', 'kept', 'kept']
/** What a reset forgets, and a way back to an earlier moment leaves. */
const CLEARED: Fates = ['forgotten', 'kept', 'kept']

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
const statusOf =
  (deed: (service: TestService) => Promise<{ status: number }>): Deed =>
  async (service) =>
    (await deed(service)).status
const pin = (domain: string, body: object) => asks('PUT', `${AT}/domains/${domain}/dmarc`, body)
const removal = (domain: string) => sends('DELETE', '/domains', { domains: [domain] })

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

/** The newest request to list the domains, and whether it is explained. */
async function readJournal(service: TestService): Promise<unknown[]> {
  const { requests } = (await askControl(service, 'GET', `${AT}/requests?operation=listDomains`)).data
  const { status } = await askControl(service, 'GET', `/explain/${requests[0]?.request_id ?? 'none'}`)
  return [requests, status]
}

async function nothing(): Promise<void> {}

function summaryOf({ passed, violations }: Record<string, unknown>): unknown {
  return { passed, codes: (violations as { by_code: unknown }).by_code }
}

const PROOFS: Readonly<Record<string, Proof>> = {
  'domains and groups': [BACK, removal('one.example'), all(state('domains'), state('groups'))],
  'fixed values, profiles and features of domains': [
    BACK,
    all(
      pin('one.example', { profile: 'parked', p: 'reject' }),
      asks('PUT', `${AT}/domains/used.example/features`, { features: [] }),
    ),
    state('domains'),
  ],
  plan: [
    BACK,
    asks('PATCH', AT, { plan: 'above-stone' }),
    read(AT, ({ account }) => (account as { plan: string }).plan),
  ],
  'keys that were created later': [BACK, asks('POST', `${AT}/keys`, { label: 'Later' }), read(`${AT}/keys`)],
  'that a key of the creation was disabled or deleted': [
    BACK,
    disableAndDeleteKeys,
    all(read(`${AT}/keys`), statusOf(sends('GET', '/domains', undefined, withKey(SECOND_KEY)))),
  ],
  'moves of the clock': [BACK, asks('PATCH', `${AT}/clock`, { advance: 'P3D', frozen: true }), read(`${AT}/clock`)],
  'used quotas': [BACK, sends('GET', '/dmarc'), read(`${AT}/quotas`)],
  'fault rules, and how often they acted': [
    BACK,
    all(sends('GET', '/dmarc'), asks('POST', `${AT}/faults`, { connection: 'reset', times: 1 })),
    read(`${AT}/faults`),
  ],
  'ids of groups': [BACK, nothing, createAndDeleteGroup],
  'ids of requests': [
    ['forgotten', 'anew', 'anew'],
    nothing,
    async (service) => (await service.get('/domaingroups')).headers['x-request-id'],
  ],
  'the journal and its explanations': [CLEARED, sends('GET', '/domains'), readJournal],
  'the coverage': [CLEARED, sends('GET', '/domains'), all(read(`${AT}/coverage`), read('/coverage'))],
  snapshots: [
    KEPT,
    asks('POST', `${AT}/snapshots`, { name: 'clean' }),
    read(`${AT}/snapshots`, ({ snapshots }) => (snapshots as { name: string }[]).map(({ name }) => name)),
  ],
  'the verdict': [KEPT, sends('POST', '/domains', { domain: 'wrong.example' }), read('/verdict', summaryOf)],
  'other accounts': [
    KEPT,
    asks('POST', '/accounts', { id: 'other', fixture: 'empty' }),
    read('/accounts', ({ accounts }) => (accounts as { id: string }[]).filter(({ id }) => id === 'other')),
  ],
  'what an earlier reset has chosen': [
    ['kept', 'forgotten', 'refused'],
    asks('POST', `${AT}/reset`, { fixture: 'agency', seed: 7, now: '2026-02-01T00:00:00Z', frozen: true }),
    all(
      read(AT, ({ account }) => (account as { seed: number }).seed),
      read(`${AT}/clock`),
      state('domains'),
    ),
  ],
}

/** How each way leads back: what is done before the change, and what leads back to it. */
const WAYS: Readonly<Record<string, Deed>> = {
  'a reset': async () => asks('POST', `${AT}/reset`),
  'a restored snapshot': async (service) => {
    await askControl(service, 'POST', `${AT}/snapshots`, { name: 'before' })
    return asks('POST', `${AT}/snapshots/before/restore`)
  },
  'a rewind': async (service) => {
    // It costs nothing, and no rule counts it.
    const { headers } = await service.get('/nothing')
    return asks('POST', `${AT}/rewind`, { request_id: headers['x-request-id'] })
  },
}

/** The rows of the table, as `[what, what a reset does to it]`. */
function readTable(): [string, string][] {
  const [, section = ''] = readFileSync('docs/control-plane.md', 'utf8').split('\n## What a reset forgets\n')
  const rows = (section.split('\n## ')[0] ?? '').matchAll(/^\| ([^|*]+?) \| (\w+)[^|]*\|$/gm)
  return [...rows].map(([, what = '', fate = '']): [string, string] => [what, fate]).filter(([what]) => what !== 'what')
}

it('What a reset forgets is described by a table in docs/control-plane.md', () => {
  expect(readTable()).toEqual(Object.entries(PROOFS).map(([what, [[fate]]]) => [what, fate]))
})

describe.each(Object.entries(WAYS).map(([way, prepare], index) => [way, prepare, index] as const))(
  '%s',
  (_, prepare, index) => {
    it.each(Object.entries(PROOFS))('does to the following what the table says: %s', async (_, proof) => {
      const [fates, change, look] = proof
      const service = await startService({ fixture: ACCOUNT, faults: ['quota-storm'] })
      const goBack = (await prepare(service)) as ReturnType<typeof asks>
      const before = await look(service)
      await change(service)
      const changed = await look(service)
      expect(changed).not.toEqual(before)
      const fate = fates[index]
      const { status, text } = await goBack(service)
      expect(status, text).toBe(fate === 'refused' ? 404 : 200)
      const after = await look(service)
      if (fate !== 'anew') expect(after).toEqual(fate === 'forgotten' ? before : changed)
      else expect([before, changed]).not.toContainEqual(after)
    })
  },
)
