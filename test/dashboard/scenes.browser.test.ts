import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openDashboard, placeOf, shareService, type Visit, WIDE } from './dashboard-page.ts'
import { press, see, warns } from './user.ts'

const { service, visit } = shareService()

const PIN = { operation: 'pinDmarc', parameters: { domain: 'shop.example' }, body: { p: 'none', dmarc: 12.5 } }
const REMOVAL = { operation: 'deleteDomains', body: { domains: ['shop.example'] } }
const FIXTURE = {
  title: 'The shop',
  domains: [{ name: 'shop.example', features: ['mta-sts'], volume: 40_000 }, 'mail.example'],
  scenes: [
    { title: 'A quiet day', text: 'Nothing happens.\nשלום עולם', look_at: { tab: 'overview' } },
    {
      title: 'A bad day',
      text: 'The policy is gone.',
      look_at: { tab: 'domains', domain: 'shop.example' },
      calls: [PIN],
    },
    {
      title: 'No removal',
      text: 'It is in use.',
      look_at: { tab: 'requests' },
      calls: [{ ...REMOVAL, expect: 'domain_delete_failed' }],
    },
    { title: 'A surprise', text: 'It is still in use.', look_at: { tab: 'requests' }, calls: [REMOVAL] },
  ],
}

const story = (page: Page) => page.getByRole('region', { name: 'Story', exact: true })
const bar = (page: Page) => page.getByRole('region', { name: 'Presentation' })
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

/** Waits until a scene is told, and all of its calls are answered. */
async function told(page: Page, title: string): Promise<void> {
  await heading(page, title).first().waitFor()
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
}

async function begin(page: Page, title = 'A quiet day'): Promise<void> {
  await press(page, 'Begin the story')
  await told(page, title)
}

/** Everything that a scene can change. */
const everything = ({ ask }: Visit) =>
  Promise.all(['/state', '/faults', '/quotas', '/snapshots'].map((path) => ask(path)))

const isPinned = async ({ ask }: Visit) => JSON.stringify(await ask('/domains')).includes('"dmarc":12.5')

describe('a story', () => {
  it.each(['demo', 'agency'])(
    'of the fixture %s is told by keyboard to its end, as its texts say, and leaves the account as it was',
    async (fixture) => {
      const visited = await visit('scenes', { fixture, ...WIDE })
      const { page, ask } = visited
      const before = await everything(visited)
      const { scenes } = await ask('/scenes')
      await page.getByRole('button', { name: 'Begin the story' }).focus()
      await page.keyboard.press('Enter')
      for (const [index, { title, look_at, calls = [] }] of scenes.entries()) {
        await told(page, title)
        await page.getByRole('tab', { name: new RegExp(`^${look_at.tab}`, 'i'), selected: true }).waitFor()
        const outcomes = story(page).getByText(/^(Done\.|Refused, as expected)/)
        await expect.poll(() => outcomes.count(), { message: title }).toBe(calls.length)
        await page.keyboard.press(index % 2 === 0 ? 'n' : 'ArrowRight')
      }
      await page.keyboard.press('Escape')
      await press(story(page), 'End the story')
      await story(page).waitFor({ state: 'detached' })
      expect(await everything(visited)).toEqual(before)
    },
  )

  it('goes forward and back, says what no scene expects, and can be left, found again and restored', async () => {
    const visited = await visit('scenes', { fixture: FIXTURE, ...WIDE })
    const { page, account, ask } = visited
    const before = await ask('/state')
    await begin(page)
    expect(await isPinned(visited)).toBe(false)
    await press(story(page), 'Next')
    await told(page, 'A bad day')
    await page.getByRole('region', { name: 'shop.example' }).waitFor()
    expect(await isPinned(visited)).toBe(true)
    await page.keyboard.press('b')
    await told(page, 'A quiet day')
    expect(await isPinned(visited)).toBe(false)
    for (const title of ['A bad day', 'No removal']) {
      await page.keyboard.press('n')
      await told(page, title)
    }
    await see(story(page), /Refused, as expected/)
    await see(page, 'Refused with domain_delete_failed')
    // What somebody types is no key of the story.
    await page.getByRole('searchbox').first().press('n')
    await told(page, 'No removal')
    await press(story(page), 'Next')
    await see(story(page), /Refused, which the scene does not expect: \d{3} domain_delete_failed/)
    await page.close()

    const other = await openDashboard(service(), `${account}/overview`, WIDE)
    await press(other, 'Restore the state before the story')
    await press(other.getByRole('dialog').last(), 'Restore')
    await other.getByText('Restore the state before the story').waitFor({ state: 'detached' })
    expect(await ask('/state')).toEqual(before)
    expect((await ask('/snapshots')).count).toBe(0)
  })

  it('says what stands in its way: another page, and a snapshot that is gone', async () => {
    const { page, account, ask, change } = await visit('scenes', { fixture: FIXTURE, ...WIDE })
    await begin(page)
    const other = await openDashboard(service(), `${account}/scenes`)
    await see(other, 'another page is telling it now')
    await press(other, 'Begin the story')
    await press(other.getByRole('dialog'), 'Begin')
    await see(other, 'Another page tells a story')
    await press(story(page), 'Next')
    await see(page, 'Another page tells a story')
    for (const { name } of (await ask('/snapshots')).snapshots) await change('DELETE', `/snapshots/${name}`)
    await page.keyboard.press('n')
    await warns(story(page), /snapshot [\s\S]* is gone[\s\S]*stays as it is now/)
    await press(story(page), 'Close')
  })
})

describe('the presentation', () => {
  const step = (page: Page) => bar(page).getByRole('listitem').and(page.locator('[aria-current=step]')).innerText()

  async function keys(page: Page, ...pressed: string[]): Promise<void> {
    for (const key of pressed) {
      await page.keyboard.press(key)
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    }
  }

  it('shows one thing at a time in large type, does what happens when its step is reached, and has addresses', async () => {
    const visited = await visit('scenes', { fixture: FIXTURE, ...WIDE })
    const { page, ask } = visited
    await heading(page, 'A bad day').waitFor()
    await page.keyboard.press('p')
    await bar(page).waitFor()
    await told(page, 'A quiet day')
    expect((await heading(page, 'A quiet day').boundingBox())?.height).toBeGreaterThan(35)
    const figures = heading(page, 'Passes DMARC')
    expect([await figures.count(), await page.getByRole('tablist').count()]).toEqual([0, 0])
    await keys(page, 'ArrowRight')
    await figures.waitFor()
    await keys(page, ' ')
    await told(page, 'A bad day')
    expect([await step(page), await isPinned(visited)]).toEqual(['Words', false])
    await keys(page, 'n')
    await see(page, 'Done.')
    expect(await isPinned(visited)).toBe(true)
    await keys(page, 'PageDown')
    await page.getByRole('region', { name: 'shop.example' }).waitFor()
    expect(placeOf(page)).toMatch(/\/domains\/shop\.example\?scene=2&present=yes$/)

    await page.reload()
    await page.getByRole('region', { name: 'shop.example' }).waitFor()
    expect([await isPinned(visited), (await ask('/snapshots')).count]).toEqual([true, 1])
    // Back shows the same again, and sends nothing; before the first step is the scene before, as the account was then.
    await keys(page, 'b', 'b')
    expect([await step(page), await isPinned(visited)]).toEqual(['Words', true])
    await keys(page, 'PageUp')
    await figures.waitFor()
    expect(await isPinned(visited)).toBe(false)
    await keys(page, '3')
    await told(page, 'No removal')
    await page.goBack()
    await page.goForward()
    await told(page, 'No removal')
    await keys(page, '?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await keys(page, 'Escape', 'Escape')
    await see(story(page), /Refused, as expected/)
    await press(story(page), 'End the story')
    await story(page).waitFor({ state: 'detached' })
    expect(placeOf(page)).not.toContain('scene=')
    await page.goto(page.url().replace(/accounts\/([^/]+)\/.*/, 'accounts/$1/scenes/77'))
    await see(page, 'The story of this account has no scene 77.')
  })

  it('shows what a client sends, and sends requests itself until the quota is used up', async () => {
    const { page, send, change, ask: askAccount } = await visit('scenes/3?present=yes', { fixture: FIXTURE, ...WIDE })
    const log = page.getByRole('log')
    await see(log, 'Nothing has arrived yet.')
    await expect.poll(async () => (await askAccount('/snapshots')).count).toBe(1)
    await keys(page, 'ArrowRight')
    await send('POST', '/domains', { domains: ['new.example'] })
    await see(log, /^\d\d:\d\d:\d\d\s*DELETE \/domains\s*409\s*domain_delete_failed\s*this scene/)
    await see(log, /POST \/domains\s*200/)
    await press(page, 'Send a request every two seconds')
    await see(log, 'GET /domaingroups')
    await change('POST', '/faults', { match: { operation: 'listDmarc' }, respond: { error: 'rate_limited' } })
    await see(page, 'It has stopped, because the quota of the account is used up.')
  })
})
