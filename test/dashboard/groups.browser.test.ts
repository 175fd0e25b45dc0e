import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { placeOf, shareService, WIDE } from './dashboard-page.ts'
import { answer, press, see, viewOf, warns } from './user.ts'

const { visit } = shareService()

const FIXTURE = {
  domains: [
    { name: 'one.example', record: { p: 'reject', count: 1000, dmarc: 25 } },
    { name: 'two.example', record: { p: 'none', count: 3000, dmarc: 100 } },
    { name: 'three.example', profile: 'no-record' },
  ],
  groups: [{ name: 'Marketing', domains: ['one.example', 'two.example'] }, { name: 'Sales' }],
}

const rows = (page: Page) => viewOf(page).getByRole('list', { name: 'Groups' }).getByRole('listitem')
const details = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })

async function openGroup(page: Page, name: string) {
  await rows(page).getByRole('link').filter({ hasText: name }).first().click()
  await details(page, name).waitFor()
  return details(page, name)
}

it('finds groups by name and id, and tells the figures of one and which members need attention', async () => {
  const { page, ask } = await visit('groups', { fixture: FIXTURE, ...WIDE })
  const search = page.getByRole('searchbox', { name: 'Search groups' })
  await search.fill('sal')
  await see(page, '1 of 2 groups')
  const [{ id }] = (await ask('/groups')).groups
  await search.fill(id)
  await expect.poll(() => rows(page).allInnerTexts()).toEqual([expect.stringMatching(/Marketing[\s\S]*2 members/)])
  await search.fill('nobody')
  await see(page, 'No group matches.')
  await search.fill('')

  const group = await openGroup(page, 'Marketing')
  await see(group, 'Its 2 members sent 4,000 messages in 30 days, and 3,250 of them (81.3 %) pass DMARC.')
  await group.getByRole('img', { name: 'Domains by policy: 1 reject, 1 none' }).waitFor()
  await group.getByRole('slider', { name: /DMARC of the group Marketing/ }).waitFor()
  const worst = group.getByRole('table', { name: 'Members that need attention' })
  await worst.getByRole('row', { name: /^High one\.example.* 750/ }).waitFor()
  await worst.getByRole('link', { name: 'one.example' }).click()
  await details(page, 'one.example').getByRole('link', { name: 'Marketing' }).click()
  await group.waitFor()
  expect(placeOf(page)).toMatch(/\/groups\/\w+$/)
})

it('creates a group, says why one is refused, renames it, changes its members and deletes it', async () => {
  const { page, ask, journal } = await visit('groups', { fixture: FIXTURE, ...WIDE })
  await press(page, 'New group…')
  const form = dialog(page, 'New group')
  for (const [name, code] of [
    ['MARKETING', 'duplicate_name'],
    // Nothing of it is visible.
    ['\u200b\u00ad', 'invalid_name'],
  ] as const) {
    await form.getByLabel('Name').fill(name)
    await press(form, 'Create')
    await warns(form, code)
    expect(await form.getByLabel('Name').inputValue()).toBe(name)
  }
  await form.getByLabel('Name').fill('Shop')
  await form.getByLabel('Search domains to choose').fill('t')
  await form.getByLabel('All that match').check()
  await form.getByLabel('two.example').uncheck()
  await see(form, '1 domain chosen')
  await press(form, 'Create')
  await rows(page).filter({ hasText: 'Shop' }).waitFor()
  expect(await journal()).toEqual([])

  const group = await openGroup(page, 'Shop')
  await press(group, 'Rename…')
  await dialog(page, 'Rename').getByLabel('Name').fill('Brand')
  await press(dialog(page, 'Rename'), 'Rename')
  const brand = details(page, 'Brand')
  await press(brand, 'Add members…')
  await dialog(page, 'Add members').getByLabel('one.example').check()
  // Who is a member cannot be chosen again.
  expect(await dialog(page, 'Add members').getByLabel('three.example').count()).toBe(0)
  await press(dialog(page, 'Add members'), 'Add')
  await brand.getByRole('heading', { name: '2 members' }).waitFor()
  await brand.getByLabel('Select three.example').check()
  await press(brand, 'Remove 1…')
  await answer(page, 'Remove')
  await brand.getByText('1 member', { exact: true }).waitFor()
  const groups = async () =>
    (await ask('/groups')).groups.map(({ name, domains }: (typeof FIXTURE.groups)[0]) => [name, domains])
  expect(await groups()).toContainEqual(['Brand', ['one.example']])
  await press(brand, 'Delete…')
  expect(await answer(page, 'Delete')).toContain('Its 1 member stays monitored.')
  await brand.waitFor({ state: 'detached' })
  expect(await groups()).toEqual([expect.arrayContaining(['Marketing']), ['Sales', []]])
})
