import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findAccessibilityProblems } from '../support/accessibility.ts'
import type { PageOptions } from '../support/browser.ts'
import type { TestService } from '../support/service.ts'
import { ask, change, placeOf, start } from './dashboard-page.ts'

const DOMAINS = ['one.example', 'two.example', 'three.example']
const FIXTURE = {
  domains: DOMAINS,
  groups: [
    { name: 'Marketing', domains: ['one.example', 'two.example'] },
    { name: 'Sales', domains: [] },
  ],
}

interface Group {
  id: string
  name: string
  domains: string[]
}

async function groupsOf(service: TestService): Promise<Group[]> {
  return (await ask<{ groups: Group[] }>(service, '/accounts/default/groups')).groups
}

function rows(page: Page) {
  return page.locator('#group-rows > li')
}

/** Opens the view. Without a key of its own, the account has one that everybody knows. */
async function open(options: object = {}, look: PageOptions = {}) {
  const { service, page } = await start({ fixture: FIXTURE, ...options }, 'default/groups', look)
  await page.locator('#group-count').waitFor()
  return { service, page }
}

async function openGroup(page: Page, name: string) {
  await page.locator('#group-rows').getByText(name, { exact: true }).click()
  const sheet = page.locator('#group-sheet')
  await sheet.waitFor()
  return sheet
}

describe('the view Groups', () => {
  it('lists the groups, finds them by name and id, and leads from a member to the domain and back', async () => {
    const { service, page } = await open()
    await expect.poll(() => rows(page).allInnerTexts()).toHaveLength(2)
    expect(await rows(page).first().innerText()).toMatch(/Marketing[\s\S]*one\.example, two\.example[\s\S]*2 members/)
    await page.locator('#group-filter').fill('sal')
    await expect.poll(() => rows(page).allInnerTexts()).toEqual([expect.stringContaining('Sales')])
    expect(await page.locator('#group-count').innerText()).toBe('1 of 2 groups')
    const [first] = await groupsOf(service)
    await page.locator('#group-filter').fill(first?.id ?? '')
    await expect.poll(() => rows(page).allInnerTexts()).toEqual([expect.stringContaining('Marketing')])
    await page.locator('#group-filter').fill('nobody')
    await page.getByText('No group matches.').waitFor()

    await page.locator('#group-filter').fill('')
    const sheet = await openGroup(page, 'Marketing')
    await sheet.getByLabel('Members', { exact: true }).getByRole('link', { name: 'two.example' }).first().click()
    const domain = page.locator('#domain-sheet')
    await domain.getByRole('heading', { name: 'two.example' }).waitFor()
    await domain.getByRole('link', { name: 'Marketing' }).click()
    await page.locator('#group-sheet').getByRole('heading', { name: 'Marketing' }).waitFor()
    expect(placeOf(page)).toContain('default/groups')
  })

  it('has the figures of a group: its mail, its policies, its days, and the worst members', async () => {
    const fixture = {
      domains: [
        { name: 'one.example', record: { p: 'reject', count: 1000, dmarc: 25 } },
        { name: 'two.example', record: { p: 'none', count: 3000, dmarc: 100 } },
        { name: 'three.example', profile: 'no-record' },
      ],
      groups: [
        { name: 'Marketing', domains: ['one.example', 'two.example'] },
        { name: 'Silent', domains: ['three.example'] },
      ],
    }
    const { page } = await open({ fixture })
    const sheet = await openGroup(page, 'Marketing')
    const words = 'Its 2 members sent 4,000 messages in 30 days, and 3,250 of them (81.3 %) pass DMARC.'
    await sheet.getByText(words).waitFor()
    await sheet.getByRole('img', { name: 'Domains by policy: 1 reject, 1 none' }).waitFor()
    await sheet.getByRole('slider', { name: /DMARC of the group Marketing/ }).waitFor()
    const worst = sheet.getByRole('table', { name: 'Members that need attention' }).locator('tbody tr')
    expect(await worst.allTextContents()).toEqual([expect.stringMatching(/^Highone\.example.*750/)])
    expect(await findAccessibilityProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    const silent = await openGroup(page, 'Silent')
    await silent.getByText('There are no reports about the 1 member of the group.').waitFor()
  })

  it('creates a group with members that are chosen by mouse, and the request is in the journal', async () => {
    const { service, page } = await open({ apiKey: undefined })
    await page.getByRole('button', { name: 'New group…' }).click()
    const dialog = page.getByRole('dialog', { name: 'New group' })
    await dialog.getByText("Sent to the service's API with the account's key").waitFor()
    await dialog.getByLabel('Name').fill('Shop')
    await dialog.getByLabel('Search domains to choose').fill('t')
    await dialog.getByLabel('Search domains to choose').press('Enter')
    await dialog.getByLabel('All that match').check()
    await dialog.getByLabel('two.example').uncheck()
    await dialog.getByText('1 domain chosen').waitFor()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await rows(page).getByText('Shop').waitFor()
    expect(await groupsOf(service)).toContainEqual({ id: expect.any(String), name: 'Shop', domains: ['three.example'] })
    const { requests } = await ask<{ requests: { operation: string }[] }>(service, '/accounts/default/requests')
    expect(requests.map(({ operation }) => operation)).toEqual(['createDomainGroup'])
  })

  it.each([
    ['the service', { apiKey: undefined }],
    ['the control plane', {}],
  ])('shows in the form why a name is refused by %s, and keeps what was typed', async (_, options) => {
    const { service, page } = await open(options)
    const dialog = page.getByRole('dialog', { name: 'New group' })
    for (const [name, code] of [
      ['MARKETING', 'duplicate_name'],
      ['', 'invalid_name'],
      ['x'.repeat(101), 'invalid_name'],
      // Nothing of it is visible.
      ['\u200b\u00ad', 'invalid_name'],
    ] as const) {
      await page.getByRole('button', { name: 'New group…' }).click()
      await dialog.getByLabel('Name').fill(name)
      await dialog.getByRole('button', { name: 'Create' }).click()
      await dialog.getByRole('alert').getByText(code).first().waitFor()
      expect(await dialog.getByRole('alert').innerText()).not.toContain('`name`')
      expect(await dialog.getByLabel('Name').inputValue()).toBe(name)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
    expect(await groupsOf(service)).toHaveLength(2)
  })

  it('renames a group, adds and removes members, and deletes it; axe-core objects to nothing of it in the dark', async () => {
    const { service, page } = await open({}, { colorScheme: 'dark', viewport: { width: 390, height: 844 } })
    const sheet = await openGroup(page, 'Marketing')
    await sheet.getByRole('button', { name: 'Rename…' }).click()
    await page.getByRole('dialog', { name: 'Rename' }).getByLabel('Name').fill('Brand')
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    await sheet.getByRole('heading', { name: 'Brand' }).waitFor()

    await sheet.getByRole('button', { name: 'Add members…' }).click()
    const adding = page.getByRole('dialog', { name: 'Add members' })
    // Who is a member cannot be chosen again.
    await expect.poll(() => adding.locator('#domain-choices > li').allInnerTexts()).toEqual(['three.example'])
    await adding.getByLabel('three.example').check()
    expect(await findAccessibilityProblems(page)).toEqual([])
    await adding.getByRole('button', { name: 'Add', exact: true }).click()
    await sheet.getByRole('heading', { name: '3 members' }).waitFor()

    await sheet.getByLabel('Select one.example').check()
    await sheet.getByLabel('Select two.example').check()
    expect(await findAccessibilityProblems(page)).toEqual([])
    await sheet.getByRole('button', { name: 'Remove 2…' }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await sheet.getByText('1 member', { exact: true }).waitFor()
    expect((await groupsOf(service))[0]).toMatchObject({ name: 'Brand', domains: ['three.example'] })

    await sheet.getByRole('button', { name: 'Delete…' }).click()
    const deleting = page.getByRole('dialog', { name: 'Delete the group?' })
    await deleting.getByText('Its 1 member stays monitored.').waitFor()
    await page.keyboard.press('Escape')
    await deleting.waitFor({ state: 'detached' })
    expect(await groupsOf(service)).toHaveLength(2)
    await sheet.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await sheet.waitFor({ state: 'detached' })
    await expect.poll(() => rows(page).allInnerTexts()).toEqual([expect.stringContaining('Sales')])
    expect((await ask<{ account: { domains: number } }>(service, '/accounts/default')).account.domains).toBe(3)
  })

  it('says that a group is gone which another client deletes while it is open, also to a change of it', async () => {
    const { service, page } = await open()
    const [first] = await groupsOf(service)
    const sheet = await openGroup(page, 'Marketing')
    await sheet.getByRole('button', { name: 'Rename…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Rename' })
    await dialog.getByLabel('Name').fill('Brand')
    await change(service, 'DELETE', `/accounts/default/groups/${first?.id}`)
    await dialog.getByRole('button', { name: 'Rename', exact: true }).click()
    await dialog.getByRole('alert').getByText('not_found').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await sheet.getByText('This account has no such group.').waitFor()
    expect(await sheet.getByRole('heading', { name: 'Marketing' }).count()).toBe(1)
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
  })

  it('draws of 5,000 members and of 3,000 groups only those that are seen, and reaches all by keys', async () => {
    const domains = Array.from({ length: 5_000 }, (_, index) => `d${index}.example`)
    const groups = Array.from({ length: 3_000 }, (_, index) => ({
      name: `Group ${index}`,
      domains: index === 0 ? domains : [],
    }))
    const { service, page } = await open({ fixture: { domains, groups } })
    await expect.poll(() => page.locator('#group-count').innerText()).toBe('3,000 groups')
    expect(await rows(page).count()).toBeLessThan(80)
    const sheet = await openGroup(page, 'Group 0')
    const members = sheet.locator('#group-members > li')
    expect(await members.count()).toBeLessThan(80)
    await members.getByRole('link', { name: 'd0.example', exact: true }).focus()
    await page.keyboard.press('End')
    await expect
      .poll(() => page.evaluate("document.activeElement.closest('li').textContent"))
      .toContain('d4999.example')
    await sheet.locator('#member-filter').fill('d499')
    await sheet.getByLabel('Select all that match').check()
    await sheet.getByRole('button', { name: 'Remove 11…' }).click()
    await page.getByRole('dialog', { name: 'Remove 11 members' }).getByText('and 1 other').waitFor()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await sheet.getByText('4,989 members').waitFor()
    expect((await groupsOf(service))[0]?.domains).toHaveLength(4_989)
  })
})
