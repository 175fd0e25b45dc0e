import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FIXTURE_NAMES, loadFixture } from '../../src/accounts/fixture.ts'
import { SCENE_OPERATIONS } from '../../src/accounts/scenes.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { Scene, SceneCall } from '../../src/domain/fixture.ts'
import { controlApi } from '../support/control-plane.ts'
import { accountOf } from './fixture-files.ts'

const schema = JSON.parse(readFileSync('fixtures/fixture.schema.json', 'utf8'))
const contract = await loadContract()

/** The operations of the control plane that change one account and that a scene cannot call, and why. */
const NOT_IN_SCENES: Readonly<Record<string, string>> = {
  deleteAccount: 'the story would have nothing to go back to',
  resetAccount: 'it clears the journal, which no snapshot brings back',
  importState: 'it brings the scenes of another story',
  rewindAccount: 'it takes back the story itself',
  takeSnapshot: 'the page does that',
  deleteSnapshot: 'snapshots are not part of the account that a snapshot brings back',
  restoreSnapshot: 'the page does that',
  createKey: 'it gives somebody access',
  updateKey: 'it takes access from the page itself',
  deleteKey: 'it takes access from the page itself',
  clearRequests: 'no snapshot brings the journal back',
  verifyRequests: 'it changes nothing',
}

const DOMAINS = { domains: ['shop.example', 'münchen.example'], groups: [{ name: 'Shop' }] }

async function refusalOf(scene: object, others: object[] = []): Promise<string> {
  const scenes = [...others, { title: 'One', text: 'Words.', ...scene }]
  const error = await accountOf({ ...DOMAINS, scenes } as never).then(
    () => 'taken',
    (thrown: Error) => thrown.message,
  )
  return error
}

const calling = (...calls: object[]) => ({ calls })

describe('the operations that a scene can call', () => {
  it('are those of the schema', () => {
    expect(schema.$defs.call.properties.operation.enum).toEqual(Object.keys(SCENE_OPERATIONS))
  })

  it('are all operations of the service, and of the control plane those that change an account and can be taken back', () => {
    const changing = controlApi.operations.filter(
      ({ method, path }) => method !== 'GET' && path.startsWith('/accounts/{account}'),
    )
    const expected = [...contract.operations, ...changing].map(({ id }) => id)
    expect([...Object.keys(SCENE_OPERATIONS), ...Object.keys(NOT_IN_SCENES)].toSorted()).toEqual(expected.toSorted())
  })

  it('have the parameters and bodies of the documents', () => {
    for (const { id, path, parameters, readsBody } of [...contract.operations, ...controlApi.operations]) {
      const known = SCENE_OPERATIONS[id as SceneCall['operation']]
      if (known === undefined) continue
      const names = [...path.matchAll(/\{([^}]+)\}/g)].flatMap(([, name = '']) => (name === 'account' ? [] : [name]))
      expect([id, known.parameters ?? []]).toEqual([id, names])
      expect([id, known.query ?? []]).toEqual([id, [...parameters]])
      expect([id, known.body ?? false]).toEqual([id, readsBody])
    }
  })
})

describe('a scene', () => {
  it('can look at every tab of the dashboard', () => {
    // The page is made for a browser, so the test reads its text.
    const [, list = ''] = /const TABS = \[([^\]]*)\]/.exec(readFileSync('src/dashboard/selection.ts', 'utf8')) ?? []
    const tabs = [...list.matchAll(/'([^']+)'/g)].map(([, name]) => name)
    expect(schema.properties.scenes.items.properties.look_at.properties.tab.enum).toEqual(tabs)
  })

  it.each<[what: string, scene: object, message: string | RegExp]>([
    ['has no title', { title: undefined }, /#\/scenes\/0\/title: The value is missing/],
    ['has an empty title', { title: ' ' }, /#\/scenes\/0\/title: The value is " " but must be a title of 1 to 100/],
    ['has too long a title', { title: 'x'.repeat(101) }, /#\/scenes\/0\/title: .* must have at most 100 characters/],
    ['has too long a text', { text: 'x'.repeat(2_001) }, /#\/scenes\/0\/text: .* must have at most 2000 characters/],
    ['has another field', { picture: 'x' }, /#\/scenes\/0\/picture: .*allowed fields are title, text, look_at, calls/],
    ['looks at no tab', { look_at: {} }, /#\/scenes\/0\/look_at\/tab: The value is missing/],
    [
      'looks at an unknown tab',
      { look_at: { tab: 'figures' } },
      /#\/scenes\/0\/look_at\/tab: .*must be one of "overview", /,
    ],
    [
      'looks at a domain that is not there',
      { look_at: { tab: 'domains', domain: 'shops.example' } },
      'fixture#/scenes/0/look_at/domain: "shops.example" is neither a domain of this fixture nor added by this scene.',
    ],
    [
      'looks at a group that is not there',
      { look_at: { tab: 'groups', group: 'Shops' } },
      'fixture#/scenes/0/look_at/group: "Shops" is neither a group of this fixture nor created by this scene.',
    ],
    [
      'looks at a domain that it removes',
      {
        look_at: { tab: 'domains', domain: 'shop.example' },
        ...calling({ operation: 'deleteDomains', body: { domains: ['SHOP.example'] } }),
      },
      /#\/scenes\/0\/look_at\/domain/,
    ],
    [
      'calls an unknown operation',
      calling({ operation: 'dance' }),
      /#\/scenes\/0\/calls\/0\/operation: .*must be one of/,
    ],
    [
      'deletes the account',
      calling({ operation: 'deleteAccount' }),
      /#\/scenes\/0\/calls\/0\/operation: The value is "deleteAccount" but must be one of/,
    ],
    ['creates a key', calling({ operation: 'createKey', body: {} }), /#\/scenes\/0\/calls\/0\/operation/],
    [
      'leaves out a parameter',
      calling({ operation: 'pinDmarc', body: { p: 'none' } }),
      'fixture#/scenes/0/calls/0/parameters/domain: pinDmarc needs it.',
    ],
    [
      'names another account',
      calling({ operation: 'updateClock', parameters: { account: 'other' }, body: { advance: 'P1D' } }),
      'fixture#/scenes/0/calls/0/parameters/account: updateClock has no such parameter of the path.',
    ],
    [
      'has an unknown parameter of the query',
      calling({ operation: 'listDmarc' }, { operation: 'listDmarc', query: { day: '1' } }),
      'fixture#/scenes/0/calls/1/query/day: listDmarc has no such parameter of the query.',
    ],
    [
      'leaves out a body',
      calling({ operation: 'addDomains' }),
      'fixture#/scenes/0/calls/0/body: addDomains needs a body.',
    ],
    [
      'has a body too many',
      calling({ operation: 'clearFaults', body: {} }),
      'fixture#/scenes/0/calls/0/body: clearFaults takes no body.',
    ],
    [
      'has a list as a body',
      calling({ operation: 'addDomains', body: [] }),
      /#\/scenes\/0\/calls\/0\/body: .* must be of type object/,
    ],
    [
      'has a body that is nested too deeply',
      calling({ operation: 'addFault', body: { a: nested(10) } }),
      'fixture#/scenes/0/calls: A body is nested more than 10 levels deep.',
    ],
    [
      'expects something that is no code',
      calling({ operation: 'listDmarc', expect: 'Too Many' }),
      /#\/scenes\/0\/calls\/0\/expect: .*must be the code of an error/,
    ],
    [
      'has too many calls',
      calling(...Array.from({ length: 21 }, () => ({ operation: 'listDmarc' }))),
      /#\/scenes\/0\/calls: .*must have at most 20/,
    ],
  ])('is refused that %s', async (_, scene, message) => {
    expect(await refusalOf(scene)).toMatch(message)
  })

  it('is refused where it looks at what only a scene before it has added', async () => {
    const before = {
      title: 'Zero',
      text: 'Words.',
      ...calling({ operation: 'addDomains', body: { domains: ['new.example'] } }),
    }
    expect(await refusalOf({ look_at: { tab: 'domains', domain: 'new.example' } }, [before])).toMatch(
      /#\/scenes\/1\/look_at/,
    )
  })

  it.each<[what: string, scene: object]>([
    ['a domain in another spelling', { look_at: { tab: 'domains', domain: 'MÜNCHEN.example' } }],
    ['a domain in canonical form', { look_at: { tab: 'domains', domain: 'xn--mnchen-3ya.example' } }],
    [
      'a domain that it adds',
      {
        look_at: { tab: 'domains', domain: 'new.example' },
        ...calling({ operation: 'addMonitoredDomains', body: { domains: ['New.example'] } }),
      },
    ],
    [
      'a domain whose removal it expects to be refused',
      {
        look_at: { tab: 'domains', domain: 'shop.example' },
        ...calling({ operation: 'deleteDomains', body: { domains: ['shop.example'] }, expect: 'domain_delete_failed' }),
      },
    ],
    [
      'a group that it creates',
      {
        look_at: { tab: 'groups', group: 'New' },
        ...calling({ operation: 'createDomainGroup', body: { name: 'New', domains: [] } }),
      },
    ],
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

describe.each(FIXTURE_NAMES)('the scenes of the fixture %s', (name) => {
  it('are in a fixture that is checked like any other', async () => {
    const { file: _, origin: __, ...written } = await loadFixture(name)
    await expect(accountOf(written)).resolves.toMatchObject({ plan: 'stone' })
  })

  it('take two minutes to read aloud at most', async () => {
    const { scenes = [] } = await loadFixture(name)
    const words = scenes.flatMap(({ title, text }: Scene) => `${title} ${text}`.split(/\s+/))
    // 150 words a minute is a calm pace; looking takes its time, too.
    expect(words.length).toBeLessThan(2.6 * 150)
  })
})
