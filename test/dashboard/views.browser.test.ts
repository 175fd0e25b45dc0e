import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PAGE_VIEWS, type PageView } from '../../src/admin/paths.ts'
import { findAccessibilityProblems } from '../support/accessibility.ts'
import { BUDGET } from '../support/budget.ts'
import { askControl } from '../support/control-plane.ts'
import { findLayoutProblems } from '../support/layout.ts'
import { openService, type TestService } from '../support/service.ts'
import { goTo, openDashboard, untilLive, watchCalls } from './dashboard-page.ts'

/** Layout mistakes are nearly all seen at the first two sizes; contrast depends on the scheme. */
const LOOKS = [
  { width: 390, height: 844, scheme: 'dark' },
  { width: 1440, height: 900, scheme: 'light' },
  { width: 1440, height: 900, scheme: 'dark' },
  { width: 390, height: 844, scheme: 'light' },
  { width: 1024, height: 768, scheme: 'light' },
  { width: 3840, height: 2160, scheme: 'light' },
] as const

/** Texts that a client may send, each as long as it may be. */
const LONGEST_NAME = [63, 63, 63, 61].map((length) => 'x'.repeat(length)).join('.')
const MARKUP = '<img src=x onerror="document.title = 1"><script>document.title = 1</script>'
const RIGHT_TO_LEFT = '\u202eשלום עולם مرحبا بالعالم\u202c'
const EMOJI = '👩‍👩‍👧‍👦'.repeat(9)
/** The name of the account, too, is long. */
const HOSTILE = 'an-account-with-quite-a-long-name-as-some-people-and-their-scripts-like'

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
  const domains = [{ name: LONGEST_NAME, record: { p: 'none', dmarc: 1, count: 5_000_000 } }]
  await change('POST', '/accounts', { id: HOSTILE, fixture: { domains }, api_key: key })
  const asHostile = { authorization: `Bearer ${key}` }
  await service.send('POST', '/domains', { domains: ['xn--4dbcagdahymbxekheh6e0a7fei0b.example'] }, asHostile)
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

/** Opens a tab and waits until its first data is there. */
async function openTab(page: Page, tab: PageView): Promise<void> {
  await page.locator(`#tab-${tab}`).click()
  await page.locator(`#panel.panel-${tab}`).waitFor({ state: 'attached' })
  await settle(page)
}

/** Waits until the page has got all that it has asked for, and has drawn it. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(DRAWN)
  await calls.get(page)?.settle()
  await page.evaluate(DRAWN)
}

const DRAWN = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))'

const calls = new WeakMap<Page, ReturnType<typeof watchCalls>>()

async function openAccount(account: string, tab: PageView = 'account'): Promise<Page> {
  const page = await openDashboard(service, `${account}/${tab}`)
  calls.set(page, watchCalls(page))
  await untilLive(page)
  return page
}

/** What opens a sheet, a drawer or a dialog in a tab, each tried once: a row of each list, and buttons with an ellipsis. Rows are links. */
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

/**
 * Notes what is wrong with what the page shows, at every look with the full budget. Else axe-core, which takes the most time,
 * has one look at each view of an account with usual texts: the first and the second in turn.
 */
async function examine(page: Page, problems: Problems, account: string, view: string): Promise<void> {
  const turn = examined++ % 2
  for (const [index, { scheme, ...size }] of LOOKS.slice(0, BUDGET === 'full' ? LOOKS.length : 2).entries()) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme: scheme })
    await page.evaluate(DRAWN)
    const place = `${view} ${size.width} ${scheme}`
    problems.add(await findLayoutProblems(page), place)
    if (BUDGET === 'full' || (account === 'default' && index === turn))
      problems.add(await findAccessibilityProblems(page), place)
  }
}
let examined = 0

/** Notes what is wrong with the dialog, sheet or details that are open, if any are, and closes them with Escape. */
async function examineDialog(page: Page, problems: Problems, account: string, tab: PageView): Promise<void> {
  await settle(page)
  const dialog = page.locator('dialog[open], .detail')
  if ((await dialog.count()) === 0) return
  const heading = dialog.last().locator('h2').first()
  const title = (await dialog.last().getAttribute('aria-label')) ?? (await heading.textContent())
  await examine(page, problems, account, `${tab}, ${title}`)
  await page.keyboard.press('Escape')
  await settle(page)
  if ((await dialog.count()) === 0) return
  problems.add(['is not closed by the first Escape'], `${tab}, ${title}`)
  await page.reload()
}

describe('every view of the dashboard', () => {
  beforeAll(async () => {
    service = await openService({ fixture: 'demo' })
    await fillDemo()
    await fillHostile()
  })
  afterAll(() => service.stop())

  it.each(['default', HOSTILE])(
    'can be read and used at each size, light and dark, with its sheets and dialogs, which the first Escape closes: %s',
    { timeout: 300_000 },
    async (account) => {
      const page = await openAccount(account)
      const problems = new Problems()
      const tried = new Set<string>()
      for (const tab of PAGE_VIEWS) {
        await openTab(page, tab)
        await examine(page, problems, account, tab)
        for (const { index, kind } of await findOpeners(page)) {
          if (tried.has(kind)) continue
          tried.add(kind)
          await page.locator(OPENERS).nth(index).click()
          await examineDialog(page, problems, account, tab)
        }
      }
      await goTo(page, `${account}/compare/${account === HOSTILE ? 'default' : HOSTILE}`)
      await settle(page)
      await examine(page, problems, account, 'a comparison')
      expect(tried.size).toBeGreaterThan(10)
      expect(problems.byText).toEqual({})
      expect(await page.title()).toMatch(/, [\w-]+ – dmarc-understudy$/)
    },
  )

  it('is reached by the keyboard alone, in the order in which it is read, with a focus that is seen', async () => {
    const page = await openAccount('default')
    expect(await page.locator('[role=tab]').evaluateAll((tabs) => tabs.map(({ id }) => id))).toEqual(
      PAGE_VIEWS.map((tab) => `tab-${tab}`),
    )
    for (const tab of PAGE_VIEWS) {
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
})
