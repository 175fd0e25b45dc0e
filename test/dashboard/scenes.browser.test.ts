import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openDashboard, placeOf, shareService, type Visit, WIDE } from './dashboard-page.ts'
import { press, see } from './user.ts'

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

/** Waits until a scene is told, and all of its calls are answered. */
async function told(page: Page, title: string): Promise<void> {
  // The list of the scenes has the same headings, also before the story begins.
  await story(page).getByRole('heading', { name: title, exact: true }).waitFor()
  await story(page).locator('[aria-busy=true]').waitFor({ state: 'detached' })
}

async function begin(page: Page, title = 'A quiet day'): Promise<void> {
  await press(page, 'Begin the story')
  await told(page, title)
}

/** Everything that a scene can change. */
const everything = ({ ask }: Visit) =>
  Promise.all(['/state', '/faults', '/quotas', '/snapshots'].map((path) => ask(path)))

const snapshotsOf = async ({ ask }: Visit) =>
  (await ask('/snapshots')).snapshots.map(({ name }: { name: string }) => name)

const isPinned = async ({ ask }: Visit) => JSON.stringify(await ask('/domains')).includes('"dmarc":12.5')

describe('a story', () => {
  it('is told by keyboard to its end, as its texts say, and leaves the account as it was', async () => {
    const visited = await visit('scenes', { fixture: 'demo', ...WIDE })
    const { page, ask } = visited
    const before = await everything(visited)
    const { scenes } = await ask('/scenes')
    await page.getByRole('button', { name: 'Begin the story' }).press('Enter')
    for (const [index, { title, look_at, calls = [] }] of scenes.entries()) {
      await told(page, title)
      await page
        .getByRole('navigation')
        .getByRole('link', { name: new RegExp(`^${look_at.tab}`, 'i'), current: 'page' } as object)
        .waitFor()
      const outcomes = story(page).getByText(/^(Done\.|Refused, as expected)/)
      await expect.poll(() => outcomes.count(), { message: title }).toBe(calls.length)
      await page.keyboard.press(index % 2 === 0 ? 'n' : 'ArrowRight')
    }
    await press(story(page), 'End the story')
    await story(page).waitFor({ state: 'detached' })
    expect(await everything(visited)).toEqual(before)
  })

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

    // A snapshot of the user is none of a story, whatever its name is.
    await visited.change('POST', '/snapshots', { name: 'scene-1' })
    const other = await openDashboard(service(), `${account}/scenes`, WIDE)
    await press(other, 'Restore the state before the story')
    await other.getByText('Restore the state before the story').waitFor({ state: 'detached' })
    expect(await ask('/state')).toEqual(before)
    expect(await snapshotsOf(visited)).toEqual(['scene-1'])
  })

  it('is presented in large type without the header, by the same bar and by the keys of a clicker', async () => {
    const visited = await visit('scenes', { fixture: FIXTURE, ...WIDE })
    const { page } = visited
    const header = page.getByRole('banner')
    const size = () => page.evaluate<number>('parseFloat(getComputedStyle(document.documentElement).fontSize)')
    const usual = await size()
    await begin(page)
    await page.keyboard.press('p')
    await header.waitFor({ state: 'detached' })
    await expect.poll(size).toBeGreaterThan(1.2 * usual)
    for (const [key, title] of [
      ['PageDown', 'A bad day'],
      ['n', 'No removal'],
      ['PageUp', 'A bad day'],
    ] as const) {
      await page.keyboard.press(key)
      await told(page, title)
    }
    expect(placeOf(page)).toMatch(/\/domains\/shop\.example$/)
    await page.keyboard.press('Escape')
    await header.waitFor()
    await expect.poll(size).toBe(usual)
    await press(story(page), 'End the story')
    await story(page).waitFor({ state: 'detached' })
  })
})
