import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { findAccessibilityProblems } from '../support/accessibility.ts'
import { newPage, shareBrowser } from '../support/browser.ts'
import { IS_FULL_BUDGET } from '../support/budget.ts'
import { askControl } from '../support/control-plane.ts'
import { findLayoutProblems } from '../support/layout.ts'
import { openService, type TestService } from '../support/service.ts'
import { openDashboard } from './dashboard-page.ts'

const TABS = ['overview', 'domains', 'groups', 'requests', 'time', 'scenes', 'faults', 'account', 'coverage'] as const
type Tab = (typeof TABS)[number]

const SIZES = [
  [390, 844],
  [1024, 768],
  [1440, 900],
  [3840, 2160],
] as const
/** The narrowest and a usual one show nearly every mistake; the others are looked at in CI. */
const WIDTHS = IS_FULL_BUDGET ? SIZES : [SIZES[0], SIZES[2]]
/** Width → the schemes in which axe-core looks at the page. */
const AXE_SCHEMES: Readonly<Record<number, readonly ('light' | 'dark')[]>> = { 390: ['dark'], 1440: ['light', 'dark'] }

/** Texts that a client may send, each as long as it may be. */
const LONGEST_NAME = [63, 63, 63, 61].map((length) => 'x'.repeat(length)).join('.')
const MARKUP = '<img src=x onerror="document.title = 1"><script>document.title = 1</script>'
const RIGHT_TO_LEFT = '\u202eשלום עולם مرحبا بالعالم\u202c'
const EMOJI = '👩‍👩‍👧‍👦'.repeat(9)
const HOSTILE = 'hostile'

let service: TestService

async function change(method: string, path: string, body?: unknown): Promise<void> {
  const { status, error } = await askControl(service, method, path, body)
  expect(status, `${method} ${path}: ${error?.message}`).toBeLessThan(300)
}

/** An account that has something of everything: requests of each outcome, rules, snapshots, keys. */
async function fillDemo(): Promise<void> {
  await service.get('/domains')
  await service.get('/dmarc')
  await service.send('POST', '/domains', { domains: ['new.example'] })
  await service.send('POST', '/domains', { domains: ['no host'] })
  await service.get('/domaingroups?id=nobody')
  await change('POST', '/accounts/default/fault-sets/lossy-writes')
  const rule = { match: { operation: 'listDomains' }, times: 2, respond: { error: 'rate_limited' } }
  await change('POST', '/accounts/default/faults', rule)
  await service.get('/domains')
  await change('POST', '/accounts/default/snapshots', { name: 'before' })
  await change('POST', '/accounts/default/keys', { label: 'CI' })
}

/** An account all of whose texts are as unkind as the service admits. */
async function fillHostile(): Promise<void> {
  const key = 'hostile-key'
  await change('POST', '/accounts', { id: HOSTILE, fixture: 'empty', api_key: key })
  const asHostile = { authorization: `Bearer ${key}` }
  await service.send(
    'POST',
    '/domains',
    { domains: [LONGEST_NAME, 'xn--4dbcagdahymbxekheh6e0a7fei0b.example'] },
    asHostile,
  )
  for (const name of [MARKUP, RIGHT_TO_LEFT, EMOJI, 'x'.repeat(100), `${'wide '.repeat(19)}end`]) {
    await service.send('POST', '/domaingroups', { name, domains: [LONGEST_NAME] }, asHostile)
  }
  await service.send('POST', '/domains', { domains: [MARKUP, RIGHT_TO_LEFT], [EMOJI]: MARKUP }, asHostile)
  await service.send('GET', `/domaingroups?id=${encodeURIComponent(MARKUP.repeat(8))}`, undefined, asHostile)
  await service.send('GET', `/${'x'.repeat(2_000)}`, undefined, asHostile)
  for (const text of [MARKUP, RIGHT_TO_LEFT, EMOJI]) {
    await change('POST', `/accounts/${HOSTILE}/keys`, { label: text })
    await change('POST', `/accounts/${HOSTILE}/faults`, { description: text, match: { key: text }, delay_ms: 1 })
  }
}

async function show(page: Page, [width, height]: readonly [number, number], scheme: 'light' | 'dark'): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: scheme })
}

/** Opens a tab and waits until its first data is there. */
async function openTab(page: Page, tab: Tab): Promise<void> {
  await page.locator(`#tab-${tab}`).click()
  await page.locator(`#panel.panel-${tab}`).waitFor({ state: 'attached' })
  await settle(page)
}

/** Waits until nothing has changed in the page for a moment. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    let timer = setTimeout(resolve, 60)
    const observer = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(resolve, 60) })
    observer.observe(document.body, { subtree: true, childList: true, characterData: true })
    setTimeout(resolve, 2000)
  })`)
}

async function openAccount(account: string, tab: Tab = 'account'): Promise<Page> {
  const page = await openDashboard(service, `#${account}/${tab}`)
  await page.locator('#connection', { hasText: 'Live' }).waitFor()
  return page
}

/** What opens a sheet, a drawer or a dialog in a tab, each tried once: a row of each list, and buttons with an ellipsis. */
const OPENERS = `#panel :is([data-request], [data-domain], [data-group]), #panel button, header button`

/** The places in a tab that open something, as indexes of the elements of \`OPENERS\`. */
function findOpeners(page: Page): Promise<{ index: number; kind: string }[]> {
  return page.evaluate<{ index: number; kind: string }[]>(`(() => {
    const seen = new Set()
    return [...document.querySelectorAll(${JSON.stringify(OPENERS)})].flatMap((each, index) => {
      const row = ['request', 'domain', 'group'].find((name) => each.dataset[name] !== undefined)
      const words = (each.textContent + ' ' + (each.getAttribute('aria-label') ?? '')).trim()
      const opens = row !== undefined || each.ariaHasPopup === 'dialog' || /…$|^(New|Add|Change|Clear|Delete|Remove all|Reset)\\b/.test(words)
      const kind = row ?? words.replace(/\\S*[\\d._-]\\S*/g, '')
      if (!opens || !each.checkVisibility() || each.ariaDisabled === 'true' || each.disabled || each.type === 'submit' || seen.has(kind)) return []
      seen.add(kind)
      return [{ index, kind }]
    })
  })()`)
}

/** What is wrong → where. One cause is often seen in many places. */
class Problems {
  readonly byText: Record<string, string[]> = {}

  add(texts: readonly string[], place: string): void {
    for (const text of texts) this.byText[text] = [...(this.byText[text] ?? []), place]
  }
}

/** Notes what is wrong with the dialog or sheet that is open, if one is, and closes it with Escape. */
async function examineDialog(page: Page, problems: Problems, tab: Tab): Promise<void> {
  await settle(page)
  const dialog = page.locator('dialog[open]')
  if ((await dialog.count()) === 0) return
  const heading = dialog.last().locator('h2').first()
  const title = (await dialog.last().getAttribute('aria-label')) ?? (await heading.textContent())
  for (const [size, scheme] of [
    [SIZES[0], 'dark'],
    [SIZES[2], 'light'],
  ] as const) {
    await show(page, size, scheme)
    const found = [...(await findLayoutProblems(page)), ...(await findAccessibilityProblems(page))]
    problems.add(found, `${tab}, ${title} ${size[0]} ${scheme}`)
  }
  await page.keyboard.press('Escape')
  await settle(page)
  if ((await dialog.count()) === 0) return
  problems.add(['is not closed by the first Escape'], `${tab}, ${title}`)
  await page.reload()
}

describe('every view of the dashboard', () => {
  shareBrowser()
  beforeAll(async () => {
    service = await openService({ fixture: 'demo' })
    await fillDemo()
    await fillHostile()
  })
  afterAll(() => service.stop())

  describe.each(['default', HOSTILE])('of the account %s', (account) => {
    it('can be read and used at each size, light and dark', { timeout: 180_000 }, async () => {
      const page = await openAccount(account)
      const problems = new Problems()
      for (const tab of TABS) {
        for (const size of WIDTHS) {
          await show(page, size, 'light')
          await openTab(page, tab)
          problems.add(await findLayoutProblems(page), `${tab} ${size[0]}`)
          // Contrast depends on the scheme; names and the order of headings on the narrow layout, too.
          for (const scheme of AXE_SCHEMES[size[0]] ?? []) {
            await show(page, size, scheme)
            problems.add(await findAccessibilityProblems(page), `${tab} ${size[0]} ${scheme}`)
          }
        }
      }
      expect(problems.byText).toEqual({})
      expect(await page.title()).toBe('dmarc-understudy')
    })

    it('has sheets and dialogs that can be read and used, and that the first Escape closes', {
      timeout: 180_000,
    }, async () => {
      const page = await openAccount(account)
      const problems = new Problems()
      const tried = new Set<string>()
      for (const tab of TABS) {
        await openTab(page, tab)
        for (const { index, kind } of await findOpeners(page)) {
          if (tried.has(kind)) continue
          tried.add(kind)
          await page.locator(OPENERS).nth(index).click()
          await examineDialog(page, problems, tab)
        }
      }
      expect(problems.byText).toEqual({})
      expect(await page.title()).toBe('dmarc-understudy')
    })
  })

  it('is one of these tabs', async () => {
    const page = await openAccount('default')
    expect(await page.locator('[role=tab]').evaluateAll((tabs) => tabs.map(({ id }) => id))).toEqual(
      TABS.map((tab) => `tab-${tab}`),
    )
  })

  it('is reached by the keyboard alone, in the order in which it is read, with a focus that is seen', async () => {
    const page = await openAccount('default')
    for (const tab of TABS) {
      await openTab(page, tab)
      await page.evaluate('document.activeElement.blur()')
      const problems = await page.evaluate<string[]>('globalThis.visited = [], []')
      for (let step = 0; step < 80; step++) {
        await page.keyboard.press('Tab')
        const at = await page.evaluate<string | null>(`(() => {
          const element = document.activeElement
          if (element === null || element === document.body || visited.includes(element)) return null
          visited.push(element)
          const { outlineStyle, outlineWidth } = getComputedStyle(element)
          const box = element.getBoundingClientRect()
          const seen = box.right > 0 && box.left < innerWidth && box.bottom > 0 && box.top < innerHeight
          const ring = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1
          return (seen && ring ? '' : seen ? 'no ring: ' : 'not seen: ') + element.outerHTML.slice(0, 120)
        })()`)
        if (at === null) break
        if (/^(no ring|not seen)/.test(at)) problems.push(at)
      }
      expect([tab, problems]).toEqual([tab, []])
      const places = await page.evaluate<number[]>(`visited.map((each) => visited.every((other) =>
        other === each || !(each.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING) || visited.indexOf(other) < visited.indexOf(each)) ? 0 : 1)`)
      expect([tab, places.filter((out) => out === 1).length]).toEqual([tab, 0])
      const isInPanel = `visited.some((each) => document.getElementById('panel').contains(each))`
      if (await page.evaluate(`document.querySelector('#panel :is(button, input, select)') !== null`))
        expect([tab, await page.evaluate(isInPanel)]).toEqual([tab, true])
    }
  })

  it('shows a note above it without taking Escape from a dialog', async () => {
    const page = await openAccount('default', 'faults')
    await page.getByRole('button', { name: 'Add the set flaky' }).click()
    await page.locator('.toast').waitFor()
    await page.getByRole('button', { name: 'Remove all' }).click()
    await page.locator('dialog[open]').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('dialog[open]').count()).toBe(0)
  })

  it('is the same in two pages at once, and each shows what the other changes', async () => {
    const [one, other] = [await openAccount('default', 'faults'), await openAccount('default', 'faults')]
    const before = await other.locator('#faults > li').count()
    await one.getByRole('button', { name: 'Add the rule' }).click()
    await expect.poll(() => one.locator('#faults > li').count()).toBe(before + 1)
    await service.get('/dmarc')
    await expect.poll(() => other.locator('#faults > li').count()).toBe(before + 1)
    await expect
      .poll(() => one.locator('#tab-requests').textContent())
      .toBe(await other.locator('#tab-requests').textContent())
  })

  it('goes on when the server was started again', async () => {
    const { page } = await newPage()
    const first = await openService({ fixture: 'demo' })
    onTestFinished(() => first.stop())
    const port = Number(new URL(first.baseUrl).port)
    await page.goto(`${new URL(first.baseUrl).origin}/__admin/#default/faults`)
    await page.locator('#connection', { hasText: 'Live' }).waitFor()
    await first.stop()
    await page.locator('#notice', { hasText: 'does not answer' }).waitFor()
    const second = await openService({ fixture: 'demo', port })
    onTestFinished(() => second.stop())
    await page.locator('#connection', { hasText: 'Live' }).waitFor()
    for (const tab of TABS) {
      await openTab(page, tab)
      expect([tab, await page.locator('#panel').textContent()]).not.toEqual([tab, ''])
    }
    await expect.poll(() => page.locator('#notice').isHidden()).toBe(true)
  })
})
