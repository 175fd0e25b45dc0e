import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { SceneCall } from '../../src/domain/fixture.ts'
import { accountOf } from './fixture-files.ts'

const DOMAINS = { domains: ['shop.example', 'münchen.example'], groups: [{ name: 'Shop' }] }

async function refusalOf(scene: object, others: object[] = []): Promise<string> {
  const scenes = [...others, { title: 'One', text: 'Words.', ...scene }]
  return accountOf({ ...DOMAINS, scenes } as never).then(
    () => 'taken',
    (thrown: Error) => thrown.message,
  )
}

const calling = (...calls: object[]) => ({ calls })

describe('a scene', () => {
  const NEITHER = 'is neither a domain of this fixture nor added by this scene.'
  const look = (tab: string, more: object) => ({ look_at: { tab, ...more } })
  const adding = calling({ operation: 'addDomains', body: { domains: ['new.example'] } })
  const removing = { operation: 'deleteDomains', body: { domains: ['SHOP.example'] } }
  const addingToFail = {
    ...{ operation: 'addMonitoredDomains', body: { domains: ['New.example'] } },
    expect: 'internal_error',
  }
  const stuck = { ...removing, expect: 'domain_delete_failed' }
  const creating = { operation: 'createDomainGroup', body: { name: 'New', domains: [] } }
  const movingClock = { operation: 'updateClock', parameters: { account: 'other' }, body: { advance: 'P1D' } }
  const readingOfDay = { operation: 'listDmarc', query: { day: '1' } }

  it.each<[place: string, reason: string | RegExp, scene: object]>([
    ['/title', /is missing/, { title: undefined }],
    ['/picture', /allowed fields are title, text, look_at, calls/, { picture: 'x' }],
    ['/look_at/tab', /must be one of "overview", /, look('figures', {})],
    ['/look_at/domain', `"shops.example" ${NEITHER}`, look('domains', { domain: 'shops.example' })],
    ['/look_at/group', '"Shops" is neither a group of this fixture nor created by', look('groups', { group: 'Shops' })],
    ['/look_at/domain', NEITHER, { ...look('domains', { domain: 'shop.example' }), ...calling(removing) }],
    ['/calls/0/operation', /is "deleteAccount" but must be one of/, calling({ operation: 'deleteAccount' })],
    ['/calls/0/operation', /must be one of/, calling({ operation: 'createKey', body: {} })],
    ['/calls/0/parameters/domain', 'pinDmarc needs it.', calling({ operation: 'pinDmarc', body: { p: 'none' } })],
    ['/calls/0/parameters/account', 'updateClock has no such parameter of the path.', calling(movingClock)],
    ['/calls/1/query/day', 'listDmarc has no such parameter of the query.', calling(removing, readingOfDay)],
    ['/calls/0/body', 'addDomains needs a body.', calling({ operation: 'addDomains' })],
    ['/calls/0/body', 'clearFaults takes no body.', calling({ operation: 'clearFaults', body: {} })],
    [
      '/calls',
      'A body is nested more than 10 levels deep.',
      calling({ operation: 'addFault', body: { a: nested(10) } }),
    ],
    ['/calls/0/expect', /must be the code of an error/, calling({ operation: 'listDmarc', expect: 'Too Many' })],
  ])('is refused at %s: %s', async (place, reason, scene) => {
    const refusal = await refusalOf(scene)
    expect(refusal.slice(0, `fixture#/scenes/0${place}: `.length)).toBe(`fixture#/scenes/0${place}: `)
    expect(refusal).toMatch(reason)
  })

  it('is refused where it looks at what only a scene before it has added', async () => {
    const before = { title: 'Zero', text: 'Words.', ...adding }
    expect(await refusalOf(look('domains', { domain: 'new.example' }), [before])).toMatch(/#\/scenes\/1\/look_at/)
  })

  it.each<[what: string, scene: object]>([
    ['a domain in another spelling', look('domains', { domain: 'MÜNCHEN.example' })],
    ['a domain that it adds', { ...look('domains', { domain: 'new.example' }), ...adding }],
    ['one with a fault after that', { ...look('domains', { domain: 'new.example' }), ...calling(addingToFail) }],
    ['one whose removal is to be refused', { ...look('domains', { domain: 'shop.example' }), ...calling(stuck) }],
    ['a group that it creates', { ...look('groups', { group: 'New' }), ...calling(creating) }],
    ['a body at the limit of depth', calling({ operation: 'addFault', body: { a: nested(9) } })],
  ])('is taken with %s', async (_, scene) => {
    expect(await refusalOf(scene)).toBe('taken')
  })

  it('is refused where all of them have too many bytes or are too many', async () => {
    const long = { title: 'Long', text: 'ä'.repeat(2_000), ...calling(...Array.from({ length: 4 }, () => big(20_000))) }
    expect(await refusalOf({}, [long, long, long])).toBe('taken')
    expect(await refusalOf({}, [long, long, long, long])).toMatch(
      /fixture#\/scenes: The scenes have 3\d{5} bytes, and may have 262144\.$/,
    )
    const short = { title: 'Short', text: 'x' }
    expect(await refusalOf({}, Array(49).fill(short))).toBe('taken')
    expect(await refusalOf({}, Array(50).fill(short))).toMatch(/fixture#\/scenes: .*must have at most 50/)
  })
})

function nested(levels: number): unknown {
  return levels === 0 ? 1 : { a: nested(levels - 1) }
}

function big(characters: number): SceneCall {
  return { operation: 'addFault', body: { description: 'x'.repeat(characters) } }
}

it('can be written as in the documentation', async () => {
  const [, example = ''] = /```jsonc\n([\s\S]*?)```/.exec(readFileSync('docs/demo.md', 'utf8')) ?? []
  const fixture = JSON.parse(example)
  expect(fixture.scenes).toHaveLength(3)
  await expect(accountOf(fixture)).resolves.toMatchObject({ id: 'default' })
})
