import { describe, expect, it } from 'vitest'
import type { Fixture } from '../../src/domain/fixture.ts'
import { LIMITS } from '../../src/domain/limits.ts'
import { askControl } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { fixtureWith } from './fixture-files.ts'

const FIRST = '1970-01-01T00:00:00Z'
const LAST = '9999-12-31T23:59:59.999Z'
const LONG_AGO = 'P999999999999999W'
const TOO_EARLY = '1969-12-31T23:59:59Z'
const TOO_LATE = '9999-12-31T23:59:59-00:01'

const texts = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => String(index).padEnd(length, 'x'))
const calls = (count: number) => Array.from({ length: count }, () => ({ operation: 'listDmarc' }))

/** A field of a fixture with its outermost values, and with the nearest ones that are refused. */
const FIELDS: readonly [pointer: string, kept: unknown[], refused: unknown[]][] = [
  ['/seed', [0, LIMITS.seed], [-1, LIMITS.seed + 1, 0.5, 1e300]],
  ['/clock/now', [FIRST, LAST], [TOO_EARLY, TOO_LATE, 'P1D']],
  ['/keys/0/label', ['', 'x'.repeat(LIMITS.label)], ['x'.repeat(201), 1]],
  ['/keys/0/created_at', [FIRST, LAST, LONG_AGO], [TOO_EARLY, TOO_LATE]],
  ['/domains/0/added_at', [FIRST, LAST, LONG_AGO], [TOO_EARLY, TOO_LATE]],
  ['/domains/0/since', [FIRST, LAST, LONG_AGO], [TOO_EARLY, TOO_LATE, '']],
  ['/domains/0/features', [texts(LIMITS.features, LIMITS.feature)], [texts(LIMITS.features + 1, 2)]],
  ['/domains/0/features/0', ['x'], ['', 'x'.repeat(101)]],
  ['/domains/0/volume', [0, LIMITS.volume], [-1, LIMITS.volume + 1, 0.5]],
  ['/domains/0/record/count', [0, LIMITS.messages], [-1, 0.5, 1e12 + 1, 1e308]],
  ['/domains/0/record/pct', [0, 100], [-1, 101, 0.5]],
  ['/domains/0/record/dkim', [0, 0.1, 100], [-0.1, 100.1]],
  ['/groups/0/name', ['x', 'x'.repeat(100)], ['', ' ', 'x'.repeat(101), 'x'.repeat(LIMITS.groupName + 1)]],
  ['/groups_created', [0, LIMITS.groupsCreated], [-1, 0.5, LIMITS.groupsCreated + 1, Number.MAX_SAFE_INTEGER]],
  ['/scenes/0/title', ['x'.repeat(LIMITS.sceneTitle)], ['x'.repeat(101), ' ']],
  ['/scenes/0/text', ['x'.repeat(LIMITS.sceneText)], ['x'.repeat(2001)]],
  ['/scenes/0/calls', [calls(0), calls(LIMITS.calls)], [calls(21)]],
]
/** Accounts that have one of the kept values in each field, so that three of them have all values. */
const KEPT = [0, 1, 2].map((index): [id: string, fixture: Fixture] => {
  const parts = FIELDS.map(([pointer, kept]) => fixtureWith(pointer, kept[index] ?? kept.at(-1)) as Fixture)
  const { clock, ...joined }: Fixture = Object.assign({}, ...parts)
  const named = parts
    .flatMap(({ domains = [] }) => domains)
    .map((each, place) => {
      return { ...(each as { name: string }), name: `d${place}.example` }
    })
  const [keys, groups, scenes] = (['keys', 'groups', 'scenes'] as const).map((list) =>
    parts.flatMap((part): readonly object[] => part[list] ?? []),
  )
  return [
    `kept-${index}`,
    { ...joined, clock: { ...clock, frozen: true }, domains: named, keys, groups, scenes } as Fixture,
  ]
})

const asker = (service: TestService) => (method: string, path: string, body?: unknown) =>
  askControl(service, method, `/accounts${path}`, body)

/** What the account is, without what another account has of its own. */
async function stateOf(service: TestService, id: string): Promise<Fixture> {
  const { status, data } = await asker(service)('GET', `/${id}/state`)
  expect(status).toBe(200)
  const { description: _, ...state } = data
  return state
}

describe('in a folder', () => {
  it('every value at a limit survives all that may happen', async () => {
    const data = temporaryFolder()
    const first = await startService({ data, store: undefined })
    const ask = asker(first)
    const expected = new Map<string, Fixture>()
    for (const [id, fixture] of KEPT) {
      const created = await ask('POST', '', { id, fixture })
      expect([id, created.status, created.error]).toEqual([id, 201, undefined])
      const state = await stateOf(first, id)
      expected.set(id, state)
      expect((await ask('GET', `/${id}/overview`)).status).toBe(200)

      await ask('POST', `/${id}/snapshots`, { name: 'at' })
      const authorization = `Bearer ${created.data.api_key}`
      const request = await first.send('POST', '/domains', { domains: ['new.example'] }, { authorization })
      expect([id, request.status]).toEqual([id, 200])
      const request_id = request.headers['x-request-id']
      expect([id, (await ask('POST', `/${id}/rewind`, { request_id })).status]).toEqual([id, 200])
      expect(await stateOf(first, id)).toEqual(state)
      expect((await ask('PUT', `/${id}/state`, {})).status).toBe(200)
      expect((await ask('POST', `/${id}/snapshots/at/restore`)).status).toBe(200)
      expect(await stateOf(first, id)).toEqual(state)

      await ask('POST', '', { id: `${id}-copy` })
      const imported = await ask('PUT', `/${id}-copy/state`, state)
      expect([id, imported.status, imported.error]).toEqual([id, 200, undefined])
      const { keys: _own, ...rest } = await stateOf(first, `${id}-copy`)
      const { keys: _others, ...others } = state
      expect(rest).toEqual(others)
      expect((await ask('POST', `/${id}/reset`)).status).toBe(200)
      expect(await stateOf(first, id)).toEqual(state)
    }
    await first.stop()
    const second = await startService({ data, store: undefined })
    for (const [id, state] of expected) expect(await stateOf(second, id)).toEqual(state)
  })
})

it('every value beyond a limit is refused with its place', async () => {
  const service = await startService()
  const refused = FIELDS.flatMap(([pointer, , values]) =>
    values.map((value) => [pointer, fixtureWith(pointer, value)] as const),
  )
  for (const [pointer, fixture] of refused) {
    const { status, error } = await asker(service)('POST', '', { fixture })
    const message = expect.stringMatching(`^fixture#${pointer.replace('$', '\\$')}[: ]`)
    expect([pointer, status, error]).toMatchObject([pointer, 400, { code: 'invalid_fixture', message }])
  }
  expect((await asker(service)('GET', '')).data.count).toBe(1)
})
