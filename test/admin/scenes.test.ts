import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Fixture } from '../../src/domain/fixture.ts'
import { startUnderstudy } from '../../src/index.ts'
import { startControlPlane } from '../support/control-plane.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const SCENES = '/accounts/default/scenes'
const STATE = '/accounts/default/state'
const STORY = {
  title: 'The shop',
  description: 'A shop that loses its protection.',
  scenes: [
    { title: 'Before', text: 'Nothing.\nNothing at all.', look_at: { tab: 'domains', domain: 'shop.example' } },
    {
      title: 'After <b>it</b>',
      text: 'The policy is gone.',
      calls: [{ operation: 'pinDmarc', parameters: { domain: 'shop.example' }, body: { p: 'none' } }],
    },
  ],
}
const FIXTURE = { ...STORY, domains: ['shop.example'] } as Fixture
const NONE = { title: null, description: null, scenes: [] }

function storyOf(name: string) {
  const { title, description, scenes } = JSON.parse(readFileSync(`fixtures/${name}.json`, 'utf8'))
  return { title, description, scenes }
}

describe('the story of an account', () => {
  it.each<[what: string, fixture: Fixture | string, story: object]>([
    ['as it is written there', FIXTURE, STORY],
    ['where it is the ready-made demo', 'demo', storyOf('demo')],
    ['where it is the ready-made agency', 'agency', storyOf('agency')],
    ['and none without scenes', { title: 'A title alone', domains: ['a.example'] }, NONE],
  ])('is that of its fixture, %s', async (_, fixture, story) => {
    const { get } = await startControlPlane({ fixture })
    expect((await get(SCENES)).data).toEqual(story)
  })

  it('is in an export, of which an account with the same story can be made', async () => {
    const { get, post } = await startControlPlane({ fixture: FIXTURE })
    const exported = (await get(STATE)).data
    expect(exported).toMatchObject(STORY)
    await post('/accounts', { id: 'other', fixture: exported })
    expect((await get('/accounts/other/scenes')).data).toEqual(STORY)
    const { scenes } = (await get('/accounts/other/state')).data
    expect(scenes).toEqual(STORY.scenes)
  })

  it('is imported, and stays where a fixture without scenes is imported, until a reset', async () => {
    const { get, put, post } = await startControlPlane({ fixture: 'demo' })
    const first = (await get(SCENES)).data
    await put(STATE, FIXTURE)
    expect((await get(SCENES)).data).toEqual(STORY)
    await post('/accounts/default/snapshots', { name: 'imported' })
    await put(STATE, { title: 'Other', domains: ['shop.example'] })
    expect((await get(SCENES)).data).toEqual(STORY)
    await post('/accounts/default/reset')
    expect((await get(SCENES)).data).toEqual(first)
    await post('/accounts/default/snapshots/imported/restore')
    expect((await get(SCENES)).data).toEqual(STORY)
  })

  it('is the same after an export and an import of it, also without a title', async () => {
    const fixture = { domains: FIXTURE.domains, scenes: FIXTURE.scenes } as Fixture
    const { get, put } = await startControlPlane({ fixture })
    const before = (await get(SCENES)).data
    expect((await put(STATE, (await get(STATE)).data)).status).toBe(200)
    expect((await get(SCENES)).data).toEqual(before)
  })

  it('is exported without what the account no longer has, so that the export can be imported', async () => {
    const addition = { operation: 'addDomains' as const, body: { domains: ['news.example'] } }
    const { get, put, post, send } = await startControlPlane({
      fixture: {
        domains: ['shop.example', 'news.example'],
        groups: [{ name: 'Shop', domains: [] }],
        scenes: [
          { title: 'A', text: 'A', look_at: { tab: 'domains', domain: 'News.Example.', search: 'n' } },
          { title: 'B', text: 'B', look_at: { tab: 'groups', group: 'Shop' } },
          { title: 'C', text: 'C', look_at: { tab: 'domains', domain: 'shop.example' } },
          { title: 'D', text: 'D', look_at: { tab: 'domains', domain: 'news.example' }, calls: [addition] },
        ],
      },
    })
    await send('DELETE', '/accounts/default/domains', { domains: ['news.example'] })
    const [group] = (await get('/accounts/default/groups')).data.groups
    await send('DELETE', `/accounts/default/groups/${group.id}`)
    const exported = (await get(STATE)).data
    expect(exported.scenes.map((scene: { look_at: object }) => scene.look_at)).toEqual([
      { tab: 'domains', search: 'n' },
      { tab: 'groups' },
      { tab: 'domains', domain: 'shop.example' },
      { tab: 'domains', domain: 'news.example' },
    ])
    expect((await put(STATE, exported)).error).toBeUndefined()
    expect((await post('/accounts', { fixture: exported })).error).toBeUndefined()
  })

  it('is not imported where a scene is wrong, and nothing else is, either', async () => {
    const { get, put } = await startControlPlane({ fixture: 'demo' })
    const before = (await get(STATE)).data
    const scenes = [{ ...STORY.scenes[0], look_at: { tab: 'domains', domain: 'elsewhere.example' } }]
    const { status, error } = await put(STATE, { ...FIXTURE, scenes })
    expect([status, error.code]).toEqual([400, 'invalid_fixture'])
    expect(error.message).toContain('/scenes/0/look_at/domain')
    const after = (await get(STATE)).data
    expect([after.domains, after.scenes]).toEqual([before.domains, before.scenes])
  })

  it('outlives the server in a data folder, whether it came with the fixture or was imported', async () => {
    const data = temporaryFolder()
    const first = await startUnderstudy({ data, fixture: FIXTURE })
    const imported = await first.createAccount({ id: 'imported', fixture: 'demo' })
    await imported.import(FIXTURE)
    await first.stop()
    const second = await startUnderstudy({ data })
    expect(await second.account.scenes()).toEqual(STORY)
    expect(await (await second.findAccount('imported'))?.scenes()).toEqual(STORY)
    await second.stop()
    const file = join(data, 'account-imported.json')
    const content = JSON.parse(readFileSync(file, 'utf8'))
    content.account.origin.story.scenes[0].look_at = { tab: 'nowhere' }
    writeFileSync(file, JSON.stringify(content))
    await expect(startUnderstudy({ data })).rejects.toThrow(/\/account\/origin\/story\/scenes\/0\/look_at\/tab/)
  })
})
