import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { placeOf, shareService, WIDE } from './dashboard-page.ts'
import { answer, detailsOf, press, see, viewOf, warns } from './user.ts'

const { visit } = shareService()

const FIXTURE = {
  domains: [
    { name: 'one.example', record: { p: 'reject', count: 1000, dmarc: 25 } },
    { name: 'two.example', record: { p: 'none', count: 3000, dmarc: 100 } },
    { name: 'three.example', profile: 'no-record' },
  ],
  groups: [{ name: 'Marketing', domains: ['one.example', 'two.example'] }, { name: 'Sales' }],
}

const rows = (page: Page) => viewOf(page).getByRole('table', { name: 'Groups' }).locator('tbody').getByRole('row')
const details = detailsOf
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })

async function openGroup(page: Page, name: string) {
  await rows(page).getByRole('link').filter({ hasText: name }).first().click()
  await details(page, name).waitFor()
  return details(page, name)
}

it('finds groups by name and id, and shows the members of one with their figures', async () => {
  const { page } = await visit('groups', { fixture: FIXTURE, ...WIDE })
  const search = page.getByRole('searchbox', { name: 'Search groups' })
  await search.fill('sal')
  await see(page, '1 of 2 groups')
  await search.fill('nobody')
  await see(page, 'No group matches.')
  await search.fill('')

  const group = await openGroup(page, 'Marketing')
  const members = group.getByRole('table', { name: 'Members' })
  await members.getByRole('row', { name: /one\.example reject 25\.0 %.* 1,000/ }).waitFor()
  await members.getByRole('link', { name: 'DMARC' }).click()
  const first = members.locator('tbody').getByRole('link').first()
  await expect.poll(() => first.textContent()).toBe('two.example')
  await members.getByRole('link', { name: 'one.example' }).click()
  await details(page, 'one.example').getByRole('link', { name: 'Marketing' }).click()
  await group.waitFor()
  expect(placeOf(page)).toMatch(/\/groups\/\w+$/)
})

it('creates a group, says why one is refused, renames it, changes its members and deletes it', async () => {
  const { page, ask, journal } = await visit('groups', { fixture: FIXTURE, ...WIDE })
  await press(page, 'New group…')
  const form = dialog(page, 'New group')
  await form.getByLabel('Name').fill('MARKETING')
  await press(form, 'Create')
  await warns(form, 'duplicate_name')
  expect(await form.getByLabel('Name').inputValue()).toBe('MARKETING')
  await form.getByLabel('Name').fill('Shop')
  await form.getByLabel('Members').fill('three.example')
  await press(form, 'Create')
  await rows(page).filter({ hasText: 'Shop' }).waitFor()
  expect(await journal()).toEqual([])

  const group = await openGroup(page, 'Shop')
  await press(group, 'Rename…')
  await dialog(page, 'Rename').getByLabel('Name').fill('Brand')
  await press(dialog(page, 'Rename'), 'Rename')
  const brand = details(page, 'Brand')
  await press(brand, 'Add members…')
  const members = dialog(page, 'Add members')
  await members.getByRole('textbox').fill('one.example\n\nnobody.example')
  await press(members, 'Add')
  await see(members, /nobody\.example.* is not a monitored domain/)
  await members.getByRole('textbox').fill('one.example')
  await press(members, 'Add')
  await brand.getByRole('heading', { name: '2 members' }).waitFor()
  await brand.getByLabel('Select three.example').check()
  await press(brand, 'Remove 1…')
  await answer(page, 'Remove')
  await brand.getByRole('heading', { name: '1 member' }).waitFor()
  const groups = async () =>
    (await ask('/groups')).groups.map(({ name, domains }: (typeof FIXTURE.groups)[0]) => [name, domains])
  expect(await groups()).toContainEqual(['Brand', ['one.example']])
  await press(brand, 'Delete…')
  expect(await answer(page, 'Delete')).toContain('Its members stay monitored.')
  await brand.waitFor({ state: 'detached' })
  expect(await groups()).toEqual([expect.arrayContaining(['Marketing']), ['Sales', []]])
})
