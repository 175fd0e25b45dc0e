import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { TestService } from '../support/service.ts'
import { ask, change, goTo, isTooWide, openDashboard, placeOf, start } from './dashboard-page.ts'

const STATE = '/accounts/default/state'
const NOW = '2026-03-10T09:00:00Z'
/** A clock that stands still shows the same before and after a story. */
const FROZEN = { now: NOW, frozen: true, enforceQuotas: false }

interface Scene {
  title: string
  text: string
  look_at?: object
  calls?: object[]
}

function fixtureOf(...scenes: Scene[]) {
  return {
    title: 'The shop',
    domains: [{ name: 'shop.example', features: ['mta-sts'] }, 'mail.example'],
    scenes,
  } as never
}

const QUIET = { title: 'A quiet day', text: 'Nothing happens.\nNothing at all.', look_at: { tab: 'overview' } }
const PIN = {
  title: 'A bad day',
  text: 'The policy is gone.\nשלום עולם',
  look_at: { tab: 'domains', domain: 'shop.example' },
  calls: [{ operation: 'pinDmarc', parameters: { domain: 'shop.example' }, body: { p: 'none', dmarc: 12.5 } }],
}
const ADDITION = {
  title: 'A new domain',
  text: 'It has just been added.',
  look_at: { tab: 'domains', domain: 'new.example' },
  calls: [{ operation: 'addDomains', body: { domains: ['new.example'] } }],
}
const REFUSAL = {
  title: 'No removal',
  text: 'It is in use.',
  look_at: { tab: 'requests' },
  calls: [{ operation: 'deleteDomains', body: { domains: ['shop.example'] }, expect: 'domain_delete_failed' }],
}

const story = (page: Page) => page.locator('#story')
const title = (page: Page) => story(page).locator('h2')
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

async function begin(page: Page): Promise<void> {
  await press(page, 'Begin the story')
  await settled(page, 1)
}

/** Waits until the scene with this number is told, and all of its calls are answered. */
async function settled(page: Page, step: number): Promise<void> {
  await story(page)
    .locator('.step', { hasText: `Scene ${step} of` })
    .waitFor()
  await story(page).locator('.steps[aria-busy=false]').waitFor()
}

/** Shows a scene in an account whose key is no secret, so that the page sends requests as a client does. */
async function showScene(fixture: string, number: number) {
  const account = `sandbox_${fixture}`
  const { service, page } = await start({ fixture, ...FROZEN })
  await change(service, 'POST', '/accounts', { id: account })
  await goTo(page, `${account}/scenes`)
  await press(page, `Show this scene, number ${number}`)
  await settled(page, number)
  return { service, page }
}

/** Everything that a scene can change. */
async function everything(service: TestService): Promise<unknown> {
  const paths = [STATE, '/accounts/default/faults', '/accounts/default/quotas', '/accounts/default/snapshots']
  return Promise.all(paths.map((path) => ask(service, path)))
}

async function snapshotNames(service: TestService): Promise<string[]> {
  const { snapshots } = await ask<{ snapshots: { name: string }[] }>(service, '/accounts/default/snapshots')
  return snapshots.map(({ name }) => name)
}

describe('the story of demo', () => {
  it('is told from the beginning to the end by keyboard, and leaves the account as it was', async () => {
    const { service, page } = await start({ fixture: 'demo', ...FROZEN }, 'default/scenes')
    const before = await everything(service)
    const { scenes } = await ask<{ scenes: Scene[] }>(service, '/accounts/default/scenes')
    await page.locator('#scene-list').waitFor()
    expect(await page.locator('#scene-list h3').allTextContents()).toEqual(scenes.map((scene) => scene.title))
    const button = page.getByRole('button', { name: 'Begin the story' })
    await button.focus()
    await page.keyboard.press('Enter')
    for (const [index, scene] of scenes.entries()) {
      await settled(page, index + 1)
      expect(await title(page).textContent()).toBe(scene.title)
      const { tab } = scene.look_at as { tab: string }
      await expect.poll(() => page.locator(`#tab-${tab}`).getAttribute('aria-selected')).toBe('true')
      // Every call of it was answered as the text says.
      expect(await story(page).locator('.outcomes .good').count()).toBe(scene.calls?.length ?? 0)
      expect(await story(page).locator('.warn, .bad').count()).toBe(0)
      await page.keyboard.press(index % 2 === 0 ? 'n' : 'ArrowRight')
    }
    // Neither the last Next nor Escape ends the story.
    await page.keyboard.press('Escape')
    await settled(page, scenes.length)
    const { domains } = await ask<{ domains: object[] }>(service, '/accounts/default/domains')
    const pinned = { p: 'none', dmarc: 12.5 }
    expect(domains).toContainEqual(expect.objectContaining({ domain: 'fjordlight.example', pinned }))
    await press(page, 'End the story')
    await story(page).waitFor({ state: 'detached' })
    expect(await everything(service)).toEqual(before)
  })

  it('shows the refusal that it expects, in words and as a request', async () => {
    const { service, page } = await showScene('demo', 7)
    expect(await story(page).locator('.outcomes').innerText()).toMatch(
      /DELETE \/domains\s+Refused, as expected: \d{3} domain_delete_failed/,
    )
    await page.locator('#request-rows', { hasText: '/domains' }).waitFor()
    expect(await story(page).locator('.warn').count()).toBe(0)
    // Its explanation is open, and is opened again, although other requests have come since.
    const detail = page.locator('#detail')
    await detail.getByText('Refused with domain_delete_failed').waitFor()
    await page.keyboard.press('Escape')
    await detail.waitFor({ state: 'detached' })
    await service.get('/domaingroups')
    await press(page, 'Look again')
    await detail.getByText('Refused with domain_delete_failed').waitFor()
    await press(page, 'Next')
    await settled(page, 8)
    expect(await detail.count()).toBe(0)
  })
})

describe('the story of agency', () => {
  it('shows the developer a used-up quota, and a change whose response was lost', async () => {
    const { page } = await showScene('agency', 5)
    expect(await story(page).locator('.outcomes .good').allInnerTexts()).toEqual([
      expect.stringMatching(/^POST …\/faults Done\.$/),
      expect.stringMatching(/^GET \/dmarc Refused, as expected: 429 rate_limited/),
    ])
    await press(page, 'Next')
    await settled(page, 6)
    expect(await story(page).locator('.outcomes .good').allInnerTexts()).toEqual([
      expect.stringMatching(/^POST …\/faults Done\.$/),
      expect.stringMatching(/^POST \/domains Refused, as expected: 500 internal_error/),
    ])
    await page.getByRole('region', { name: 'new-client.example' }).waitFor()
  })

  it('says why a fault does not act where the key of the account is secret', async () => {
    const { page } = await start({ fixture: 'agency', ...FROZEN }, 'default/scenes')
    await press(page, 'Show this scene, number 6')
    await settled(page, 6)
    expect(await story(page).locator('.outcomes .warn').innerText()).toMatch(/key of the account is secret/)
  })
})

describe('a story', () => {
  it('highlights what a scene looks at, as long as it is told, in words that have their own direction', async () => {
    const { page } = await start({ fixture: fixtureOf(PIN, QUIET), ...FROZEN }, 'default/scenes')
    const row = page.locator('#domain-rows [data-domain="shop.example"]')
    const shadow = `getComputedStyle(document.querySelector('#domain-rows [data-domain="shop.example"]')).boxShadow`
    await begin(page)
    await row.waitFor()
    await expect.poll(() => page.evaluate(shadow)).toContain('inset')
    expect(await story(page).locator('.said').allTextContents()).toEqual(PIN.text.split('\n'))
    expect(await page.evaluate('getComputedStyle(document.querySelectorAll("#story .said")[1]).direction')).toBe('rtl')
    await press(page, 'End the story')
    await story(page).waitFor({ state: 'detached' })
    await page.locator('#tab-domains').click()
    await row.waitFor()
    expect(await page.evaluate(shadow)).not.toContain('inset')
  })

  it('shows in each scene exactly what it showed before, in both directions, and leaves keys alone while somebody types', async () => {
    const { service, page } = await start({ fixture: fixtureOf(QUIET, PIN, ADDITION), ...FROZEN }, 'default/scenes')
    const seen: string[] = []
    const note = async (step: number) => {
      await settled(page, step)
      seen[step] ??= JSON.stringify(await ask(service, STATE))
      expect(JSON.stringify(await ask(service, STATE))).toBe(seen[step])
    }
    await begin(page)
    await note(1)
    for (const [name, step] of [
      ['Next', 2],
      ['Next', 3],
      ['Back', 2],
      ['Next', 3],
      ['Back', 2],
      ['Back', 1],
    ] as const) {
      await press(page, name)
      await note(step)
    }
    await page.keyboard.press('n')
    await note(2)
    await page.keyboard.press('b')
    await note(1)
    expect(new Set(seen.filter(Boolean)).size).toBe(3)
    expect(seen[3]).toContain('new.example')
    // At the first scene, there is nothing to go back to, and what somebody types is no key of the story.
    await page.keyboard.press('ArrowLeft')
    await note(1)
    await page.evaluate('document.body.append(document.createElement("input"))')
    const field = page.locator('body > input')
    await field.press('n')
    await field.press('ArrowRight')
    await expect.poll(() => field.inputValue()).toBe('n')
    await note(1)
  })

  it('goes on where a call is refused without being expected, and says so', async () => {
    const surprise = { ...REFUSAL, calls: [{ operation: 'deleteDomains', body: { domains: ['shop.example'] } }] }
    const accepted = {
      ...ADDITION,
      calls: [{ operation: 'addDomains', body: { domains: ['new.example'] }, expect: 'domain_add_failed' }],
    }
    const { page } = await start({ fixture: fixtureOf(surprise, accepted, REFUSAL), ...FROZEN }, 'default/scenes')
    await begin(page)
    expect(await story(page).locator('.outcomes .warn').innerText()).toMatch(
      /Refused, which the scene does not expect: \d{3} domain_delete_failed/,
    )
    await press(page, 'Next')
    await settled(page, 2)
    expect(await story(page).locator('.outcomes .warn').innerText()).toMatch(/although the scene expects the refusal/)
    await press(page, 'Next')
    await settled(page, 3)
    expect(await story(page).locator('.outcomes .good').innerText()).toMatch(/Refused, as expected/)
  })

  it('offers the way back where its page was closed in the middle', async () => {
    const { service, page } = await start({ fixture: fixtureOf(PIN, QUIET), ...FROZEN }, 'default/scenes')
    const before = await ask(service, STATE)
    await begin(page)
    expect(await snapshotNames(service)).toEqual([expect.stringMatching(/^scene-[0-9a-f]{8}$/)])
    await page.close()
    const other = await openDashboard(service, 'default/overview')
    await other.locator('#unfinished-story').waitFor()
    expect(await ask(service, STATE)).not.toEqual(before)
    await press(other, 'Restore the state before the story')
    await press(other, 'Restore')
    await other.locator('#unfinished-story').waitFor({ state: 'detached' })
    expect(await ask(service, STATE)).toEqual(before)
    expect(await snapshotNames(service)).toEqual([])
  })

  it('says on both pages that two of them tell one', async () => {
    const { service, page } = await start({ fixture: fixtureOf(PIN, QUIET), ...FROZEN }, 'default/scenes')
    await begin(page)
    const other = await openDashboard(service, 'default/scenes')
    await other.locator('#unfinished-story', { hasText: 'another page is telling it now' }).waitFor()
    await press(other, 'Begin the story')
    await press(other, 'Begin')
    await settled(other, 1)
    await story(other).locator('.warn', { hasText: 'Another page tells a story' }).waitFor()
    await press(page, 'Next')
    await settled(page, 2)
    await story(page).locator('.warn', { hasText: 'Another page tells a story' }).waitFor()
  })

  it('ends in clear words where its snapshot is gone, as after a start of the server', async () => {
    const { service, page } = await start({ fixture: fixtureOf(PIN, QUIET), ...FROZEN }, 'default/scenes')
    await begin(page)
    const [name] = await snapshotNames(service)
    await change(service, 'DELETE', `/accounts/default/snapshots/${name}`)
    await page.keyboard.press('n')
    await story(page).getByRole('alert').waitFor()
    expect(await story(page).getByRole('alert').innerText()).toMatch(/snapshot .* is gone.*stays as it is now/s)
    expect(await title(page).textContent()).toBe(PIN.title)
    await story(page).getByRole('button', { name: 'Close' }).click()
    await story(page).waitFor({ state: 'detached' })
    // What the scene has changed is still there, and the page can begin again.
    expect(JSON.stringify(await ask(service, STATE))).toContain('12.5')
    await begin(page)
  })

  it('belongs to its account, also when another one is chosen or it is deleted', async () => {
    const { service, page } = await start({ fixture: 'empty', ...FROZEN }, 'default/scenes')
    await page.locator('.empty', { hasText: 'has no scenes' }).waitFor()
    await change(service, 'POST', '/accounts', { id: 'shop', fixture: fixtureOf(PIN, QUIET) })
    await goTo(page, 'shop/scenes')
    await begin(page)
    await goTo(page, 'default/requests')
    await story(page).locator('.warn', { hasText: 'told in the account shop' }).waitFor()
    await press(page, 'Next')
    await settled(page, 2)
    expect(placeOf(page)).toBe('shop/overview?scene=2')
    await change(service, 'DELETE', '/accounts/shop')
    await press(page, 'Back')
    await story(page).getByRole('alert').waitFor()
    expect(await story(page).getByRole('alert').innerText()).toContain('The account shop does not exist any more')
    await story(page).getByRole('button', { name: 'Close' }).click()
    await story(page).waitFor({ state: 'detached' })
  })

  it('does not begin where there is no room for another snapshot, and says why', async () => {
    const { service, page } = await start({ fixture: fixtureOf(PIN), ...FROZEN }, 'default/scenes')
    for (let index = 0; index < 100; index++) {
      await change(service, 'POST', '/accounts/default/snapshots', { name: `s${index}` })
    }
    await press(page, 'Begin the story')
    await page.locator('#toasts', { hasText: 'too_many' }).waitFor()
    expect(await story(page).count()).toBe(0)
  })

  it('leaves more than half of any window to what it looks at', async () => {
    const { page } = await start({ fixture: 'demo', ...FROZEN }, 'default/scenes')
    await begin(page)
    for (const [width, height] of [
      [360, 740],
      [390, 844],
      [1024, 768],
      [1440, 900],
      [3840, 2160],
    ] as const) {
      await page.setViewportSize({ width, height })
      const box = await story(page).boundingBox()
      expect([width, (box?.height ?? height) < height / 2]).toEqual([width, true])
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeCloseTo(height, 0)
      expect([width, await isTooWide(page)]).toEqual([width, false])
      for (const button of await story(page).getByRole('button').all()) {
        expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(32)
      }
    }
  })
})
