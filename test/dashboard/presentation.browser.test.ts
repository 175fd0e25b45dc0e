import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findAccessibilityProblems } from '../support/accessibility.ts'
import { findLayoutProblems } from '../support/layout.ts'
import { startService, type TestService } from '../support/service.ts'
import { ask, change, newGate, openDashboard, placeOf } from './dashboard-page.ts'

/** An account whose key is not secret: it is its name. */
const SHOP = 'sandbox_shop'
const AS_SHOP = { authorization: `Bearer ${SHOP}` }

const FIXTURE = {
  domains: [{ name: 'shop.example', features: ['mta-sts'], volume: 40_000 }, 'mail.example'],
  scenes: [
    { title: 'A quiet day', text: 'Nothing happens.\nNothing at all.', look_at: { tab: 'overview' } },
    {
      title: 'A bad day',
      text: 'The policy is gone.',
      look_at: { tab: 'domains', domain: 'shop.example' },
      calls: [{ operation: 'pinDmarc', parameters: { domain: 'shop.example' }, body: { p: 'none', dmarc: 12.5 } }],
    },
    {
      title: 'No removal',
      text: 'It is in use.',
      look_at: { tab: 'requests' },
      calls: [{ operation: 'deleteDomains', body: { domains: ['shop.example'] }, expect: 'domain_delete_failed' }],
    },
  ],
}

const bar = (page: Page) => page.getByRole('region', { name: 'Presentation' })
const told = (page: Page) => page.getByRole('main')
const heading = (page: Page, name: string) => told(page).getByRole('heading', { name, level: 1 })
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const log = (page: Page) => page.getByRole('log')

async function startShop(): Promise<TestService> {
  const service = await startService({ now: '2026-03-10T09:00:00Z', frozen: true, enforceQuotas: false })
  await change(service, 'POST', '/accounts', { id: SHOP, fixture: FIXTURE })
  return service
}

async function present(place: string): Promise<{ service: TestService; page: Page }> {
  const service = await startShop()
  const page = await openDashboard(service, `${SHOP}/${place}`)
  await untilPresented(page)
  return { service, page }
}

async function untilPresented(page: Page): Promise<void> {
  await told(page)
    .getByText(/^Scene \d of 3$/)
    .waitFor()
  await settled(page)
}

/** Waits until the page has done what the last key or button began. */
async function settled(page: Page): Promise<void> {
  await page.locator('.steps[aria-busy=false]').waitFor()
}

/** Presses keys one after the other, each when the page has done what the last one began. */
async function pressKeys(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    await page.keyboard.press(key)
    await settled(page)
  }
}

function currentStep(page: Page): Promise<string | null> {
  return bar(page).locator('[aria-current=step]').textContent()
}

async function countSnapshots(service: TestService): Promise<number> {
  return (await ask<{ count: number }>(service, `/accounts/${SHOP}/snapshots`)).count
}

async function isPinned(service: TestService): Promise<boolean> {
  return JSON.stringify(await ask(service, `/accounts/${SHOP}/domains`)).includes('"dmarc":12.5')
}

describe('the presentation', () => {
  it('shows one thing at a time, and does what happens only when its step is reached', async () => {
    const service = await startShop()
    const page = await openDashboard(service, `${SHOP}/scenes`)
    await page.getByRole('heading', { name: 'A bad day' }).waitFor()
    await page.keyboard.press('p')
    await untilPresented(page)
    await heading(page, 'A quiet day').waitFor()
    await told(page).getByText('Nothing at all.').waitFor()
    const figures = page.getByRole('heading', { name: 'Passes DMARC' })
    expect([await figures.isVisible(), await page.getByRole('tablist').isVisible()]).toEqual([false, false])
    await pressKeys(page, 'ArrowRight')
    await figures.waitFor()
    expect(await told(page).getByText('Nothing at all.').count()).toBe(0)

    await pressKeys(page, ' ')
    await heading(page, 'A bad day').waitFor()
    expect([await currentStep(page), await isPinned(service)]).toEqual(['Words', false])
    await pressKeys(page, 'n')
    await told(page).getByText('Done.').waitFor()
    expect([await currentStep(page), await isPinned(service)]).toEqual(['What happens', true])
    await pressKeys(page, 'PageDown')
    await page.getByRole('region', { name: 'shop.example' }).waitFor()
    // Back shows the same again, and sends nothing.
    await pressKeys(page, 'b', 'ArrowLeft')
    expect([await currentStep(page), await isPinned(service)]).toEqual(['Words', true])
    // Before it, there is the end of the scene before, in the account as it was then.
    await pressKeys(page, 'PageUp')
    await figures.waitFor()
    expect(await isPinned(service)).toBe(false)
    await pressKeys(page, 'End')
    await heading(page, 'No removal').waitFor()
    await pressKeys(page, 'Home')
    await heading(page, 'A quiet day').waitFor()
  })

  it('leaves with Escape, and then shows all of the scene', async () => {
    const { service, page } = await present('scenes/2?present=yes')
    expect(await isPinned(service)).toBe(false)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await heading(page, 'A bad day').waitFor()
    await page.keyboard.press('Escape')
    const story = page.getByRole('region', { name: 'Story' })
    await story.getByText('Done.').waitFor()
    await settled(page)
    expect(await isPinned(service)).toBe(true)
    expect(placeOf(page)).toBe(`${SHOP}/domains/shop.example?scene=2`)
    await story.getByRole('button', { name: 'Present' }).click()
    await told(page).getByText('The policy is gone.').waitFor()
    // The browser's Back leaves it, too.
    await page.goBack()
    await story.waitFor()
  })

  it('waits with the view until it has its figures', async () => {
    const { page } = await present('scenes/2?present=yes')
    const gate = newGate()
    await page.route('**/accounts/*/overview?*', async (route) => {
      await gate.opened
      await route.continue()
    })
    await pressKeys(page, '1')
    await page.keyboard.press('ArrowRight')
    await page.locator('.steps[aria-busy=true]').waitFor()
    expect(await currentStep(page)).toBe('Words')
    gate.open()
    await settled(page)
    expect(await currentStep(page)).toBe('Look')
    expect(await page.getByRole('heading', { name: 'Passes DMARC' }).isVisible()).toBe(true)
  })

  it.each([
    [1280, 720, 'light'],
    [390, 844, 'dark'],
    [3840, 2160, 'dark'],
  ] as const)('can be read and used on a screen of %i × %i', async (width, height, colorScheme) => {
    const service = await startShop()
    const page = await openDashboard(service, `${SHOP}/scenes/2?present=yes`, {
      viewport: { width, height },
      colorScheme,
    })
    await untilPresented(page)
    const problems: string[] = []
    for (const key of ['3', 'ArrowRight', 'ArrowRight', '1', 'ArrowRight']) {
      await pressKeys(page, key)
      const found = await findLayoutProblems(page)
      // It takes the most time, and finds the same on a larger screen.
      if (width < 2_000) found.push(...(await findAccessibilityProblems(page)))
      problems.push(...found.map((problem) => `${placeOf(page)}: ${problem}`))
    }
    expect([...new Set(problems)]).toEqual([])
    const size = await page.evaluate<number>(`parseFloat(getComputedStyle(document.querySelector('main h1')).fontSize)`)
    expect(size).toBeGreaterThan(width < 500 ? 16 : height / 35)
  })
})

describe('the address of a scene', () => {
  it('continues after a reload without another snapshot, and has Back and Forward', async () => {
    const { service, page } = await present('scenes/2?present=yes')
    await pressKeys(page, 'ArrowRight', 'ArrowRight')
    expect(placeOf(page)).toBe(`${SHOP}/domains/shop.example?scene=2&present=yes`)
    await page.reload()
    await untilPresented(page)
    expect([await currentStep(page), await isPinned(service), await countSnapshots(service)]).toEqual(['Look', true, 1])
    await page.getByRole('region', { name: 'shop.example' }).waitFor()
    expect(await page.getByText('A story was begun in this account').count()).toBe(0)
    await pressKeys(page, '3')
    await heading(page, 'No removal').waitFor()
    await page.goBack()
    await heading(page, 'A bad day').waitFor()
    await page.goForward()
    await heading(page, 'No removal').waitFor()
    await settled(page)
    await pressKeys(page, 'ArrowRight', 'ArrowRight')
    await press(page, 'End the story')
    await bar(page).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Begin the story' }).waitFor()
    // Back leads to the view, but does not begin the story again.
    await page.goBack()
    await page.getByText('Refused with domain_delete_failed').first().waitFor()
    expect([await bar(page).count(), await countSnapshots(service)]).toEqual([0, 0])
    expect(placeOf(page)).not.toContain('scene=')
  })

  it('asks before it begins a story beside another one, and says that a scene does not exist', async () => {
    const { service } = await present('scenes/2?present=yes')
    const other = await openDashboard(service, `${SHOP}/scenes/3`)
    await other.getByRole('dialog', { name: 'Begin beside another story?' }).waitFor()
    await press(other, 'Cancel')
    await expect.poll(() => placeOf(other)).toBe(`${SHOP}/scenes`)
    expect(await countSnapshots(service)).toBe(1)
    await other.goto(other.url().replace('/scenes', '/scenes/77'))
    await other.getByText('The story of this account has no scene 77.').waitFor()
    await other.getByRole('link', { name: 'No removal' }).click()
    await press(other, 'Begin')
    await other.getByText('Refused, as expected').waitFor()
    expect(await countSnapshots(service)).toBe(2)
  })
})

describe('the live client', () => {
  it('shows what arrives, with the newest last, and marks what belongs to the scene', async () => {
    const { service, page } = await present('scenes/3?present=yes')
    await page.locator('#connection', { hasText: 'Live' }).waitFor({ state: 'attached' })
    await log(page).getByText('Nothing has arrived yet.').waitFor()
    // Before the story has begun, the keys do nothing.
    await expect.poll(() => countSnapshots(service)).toBe(1)
    await pressKeys(page, 'ArrowRight')
    await service.send('POST', '/domains', { domains: ['new.example'] }, AS_SHOP)
    await service.get('/domains')
    const lines = log(page).getByRole('listitem')
    await expect.poll(() => lines.count()).toBe(2)
    expect(await lines.allInnerTexts()).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d DELETE \/domains 409 domain_delete_failed this scene\s+→ \{"domains":/),
      expect.stringMatching(/^\d\d:\d\d:\d\d POST \/domains 200\s+→ \{"domains":\["new\.example"\]\}/),
    ])
    // It is bounded.
    await Promise.all(Array.from({ length: 60 }, () => service.send('GET', '/domaingroups', undefined, AS_SHOP)))
    await expect.poll(() => lines.count()).toBe(50)
    await page.keyboard.press('l')
    await log(page).waitFor({ state: 'detached' })
  })

  it('sends requests itself until the quota is used up or nobody sees the page', async () => {
    const { service, page } = await present('scenes/1?present=yes')
    await page.locator('#connection', { hasText: 'Live' }).waitFor({ state: 'attached' })
    await press(page, 'Send a request every two seconds')
    await log(page).getByText('GET /dmarc').first().waitFor()
    await log(page).getByText('GET /domaingroups').first().waitFor()
    await page.evaluate(`Object.defineProperty(document, 'hidden', { value: true, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
      delete document.hidden`)
    await page.getByText('It has stopped, because nobody sees this page.').waitFor()
    const rule = { match: { operation: 'listDmarc' }, respond: { error: 'rate_limited' } }
    await change(service, 'POST', `/accounts/${SHOP}/faults`, rule)
    await press(page, 'Send a request every two seconds')
    await page.getByText('It has stopped, because the quota of the account is used up.').waitFor()
    await press(page, 'Send a request every two seconds')
    await press(page, 'Stop presenting')
    await page.getByRole('button', { name: 'Present' }).click()
    await page.getByRole('button', { name: 'Send a request every two seconds' }).waitFor()
  })
})
