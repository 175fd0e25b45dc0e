import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findAccessibilityProblems } from '../support/accessibility.ts'
import { newPage } from '../support/browser.ts'
import { findLayoutProblems } from '../support/layout.ts'
import { openService, type TestService } from '../support/service.ts'
import { adminUrl, ask, change, NOW, openDashboard, PHONE, placeOf, untilLive, WIDE } from './dashboard-page.ts'
import { detailsOf, linkTo, openView, press, see, viewOf } from './user.ts'

/** Layout mistakes are nearly all seen at one of these sizes, and mistakes of contrast in one of these schemes. */
const LOOKS = [
  { ...WIDE.viewport, colorScheme: 'light' },
  { width: 768, height: 1_024, colorScheme: 'light' },
  { ...PHONE.viewport, colorScheme: 'dark' },
] as const

const LONGEST = [63, 63, 63, 61].map((length) => 'x'.repeat(length)).join('.')
const MARKUP = '<img src=x onerror="document.title = 1"><script>document.title = 1</script>'
/** A right-to-left override that is never closed, and letters that are written from right to left. */
const BIDI = '\u202eשלום עולם'
const EMOJI = '👩‍👩‍👧‍👦'.repeat(9)
const HOSTILE = 'an-account-with-quite-a-long-name-as-some-people-and-their-scripts-like'

let service: TestService
/** The addresses of something whose id is given by the server. */
let ids: Record<'group' | 'refused' | 'hostileGroup' | 'hostileRequest', string>

beforeAll(async () => {
  service = await openService({ fixture: 'demo', now: NOW, frozen: true, enforceQuotas: false })
  ids = { ...(await fillDefault()), ...(await fillHostile()) }
})
afterAll(() => service.stop())

const newestRequest = async (account: string) =>
  (await ask<{ requests: { request_id: string }[] }>(service, `/accounts/${account}/requests?limit=1`)).requests[0]
    ?.request_id ?? ''
const firstGroup = async (account: string) =>
  (await ask<{ groups: { id: string }[] }>(service, `/accounts/${account}/groups`)).groups[0]?.id ?? ''

/** Something of everything. */
async function fillDefault() {
  await service.get('/domains')
  await change(service, 'POST', '/accounts/default/fault-sets/lossy-writes')
  await change(service, 'POST', '/accounts/default/snapshots', { name: 'before' })
  await service.get('/domains')
  await service.send('POST', '/domains', { domains: ['no host'] })
  return { group: await firstGroup('default'), refused: await newestRequest('default') }
}

/** Texts as unkind as the service admits them. */
async function fillHostile() {
  const texts = [MARKUP, BIDI, EMOJI, 'x'.repeat(100)]
  const fixture = {
    domains: [{ name: LONGEST, record: { p: 'none', dmarc: 1, count: 5_000_000 } }],
    groups: texts.map((name) => ({ name, domains: [LONGEST] })),
    scenes: [{ title: MARKUP, text: BIDI, look_at: { tab: 'overview' } }],
  }
  await change(service, 'POST', '/accounts', { id: HOSTILE, fixture, now: NOW, frozen: true, api_key: 'hostile-key' })
  for (const text of texts) {
    await change(service, 'POST', `/accounts/${HOSTILE}/keys`, { label: text })
    const rule = { description: text, match: { key: text, operation: 'listDmarc' }, delay_ms: 1 }
    await change(service, 'POST', `/accounts/${HOSTILE}/faults`, rule)
  }
  await change(service, 'POST', `/accounts/${HOSTILE}/snapshots`, { name: 'x'.repeat(100) })
  const send = (path: string, body: object) =>
    service.send('POST', path, body, { authorization: 'Bearer hostile-key', 'x-attack': MARKUP })
  await send('/domaingroups', { name: `${BIDI} ${MARKUP}`.slice(0, 100) })
  await send(`/domaingroups?id=${encodeURIComponent(MARKUP.repeat(8))}`, { [EMOJI]: MARKUP, name: BIDI })
  return { hostileGroup: await firstGroup(HOSTILE), hostileRequest: await newestRequest(HOSTILE) }
}

/** Opens a place and waits until it shows a text of its data. */
async function openPlace(page: Page, place: string, text: string | RegExp): Promise<void> {
  await page.goto(adminUrl(service, `/page/${place}`))
  await see(page.getByRole('main'), text)
  await page.getByRole('link', { name: /^All accounts: \d/, includeHidden: true }).waitFor({ state: 'attached' })
}

async function findProblems(page: Page, looks: readonly (typeof LOOKS)[number][]): Promise<string[]> {
  const problems: string[] = []
  for (const { colorScheme, ...size } of looks) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme })
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    const found = [...(await findLayoutProblems(page)), ...(await findAccessibilityProblems(page))]
    problems.push(...found.map((problem) => `${size.width} ${colorScheme}: ${problem}`))
  }
  return problems
}

describe('every view', () => {
  const PLACES: [place: string, text: string | RegExp, opener?: string][] = [
    ['overview', 'news.fjordlight.example'],
    ['domains', '25 domains', 'Add domains…'],
    ['domains/winter-sale.example', 'Others forge mail in its name, about 3,508 messages a day.', 'Change…'],
    ['groups', '5 groups', 'New group…'],
    ['groups/{group}', '4 members', 'Delete…'],
    ['requests', 'violates the contract', 'Clear the journal…'],
    ['requests/{refused}', 'A request that the service accepts now'],
    ['time', 'before', 'Restore before'],
    ['scenes', 'One company, twenty-five names'],
    ['faults', 'Ready-made sets'],
    ['account', 'How a client reaches the service', 'New…'],
    ['coverage', /^\d+ gaps$/],
    ['verdict', 'Start the verdict again', 'Start the verdict again…'],
  ]

  it.each(PLACES)(
    'can be read and used on a phone and on a wide screen, light and dark: %s',
    async (place, text, opener) => {
      const page = await openDashboard(service, 'default/account')
      await openPlace(page, `default/${place.replace(/\{(\w+)\}/, (_, name: keyof typeof ids) => ids[name])}`, text)
      const problems = await findProblems(page, LOOKS)
      if (opener !== undefined) {
        await page.getByRole('button', { name: opener }).first().click()
        await page.getByRole('dialog').last().waitFor()
        const open = await page.getByRole('dialog').count()
        problems.push(...(await findProblems(page, LOOKS.slice(-1))))
        await page.keyboard.press('Escape')
        await expect.poll(() => page.getByRole('dialog').count()).toBeLessThan(open)
      }
      expect(problems).toEqual([])
    },
  )

  it('can be read below a story, also in large type', async () => {
    const page = await openDashboard(service, 'default/scenes')
    await press(page, 'Begin with scene 2')
    await see(page.getByRole('main'), /^\d+ of 25 domains$/)
    const problems = await findProblems(page, LOOKS)
    await press(page, 'Present')
    await page.getByRole('banner').waitFor({ state: 'detached' })
    problems.push(...(await findProblems(page, LOOKS)))
    await press(page, 'End the story')
    await page.getByRole('region', { name: 'Story', exact: true }).waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })

  it('is reached by the keyboard alone, with a focus that is seen, past the header', async () => {
    const page = await openDashboard(service, 'default/requests', { viewport: { width: 360, height: 700 } })
    await untilLive(page)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.localName')).toBe('main')
    for (const view of ['Coverage', 'Overview']) {
      await linkTo(page, view).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('region', { name: view, exact: true }).waitFor()
      const { x = -1, width = 0 } = (await linkTo(page, view).boundingBox()) ?? {}
      expect([x >= 0, x + width <= 361], view).toEqual([true, true])
    }
    for (const view of ['Domains', 'Requests', 'Faults', 'Account']) {
      await openView(page, view)
      await viewOf(page).getByRole('button').first().waitFor()
      await page.evaluate('globalThis.visited = new Set(), document.activeElement.blur()')
      for (let step = 0; step < 60; step++) {
        await page.keyboard.press('Tab')
        const at = await page.evaluate<string | null>(FOCUSED)
        if (at === null) break
        expect(at, view).toMatch(/^seen/)
      }
    }
  })
})

/** What has the focus, and whether it is on the screen with a ring; null where it has been already. */
const FOCUSED = `(() => {
  const element = document.activeElement
  if (element === null || element === document.body || visited.has(element)) return null
  visited.add(element)
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const box = element.getBoundingClientRect()
  const seen = box.right > 0 && box.left < innerWidth && box.bottom > 0 && box.top < innerHeight
  const ring = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1
  return (seen && ring ? 'seen: ' : seen ? 'no ring: ' : 'not seen: ') + element.outerHTML.slice(0, 120)
})()`

describe('a text of a client', () => {
  it.each<[place: string, texts: string[]]>([
    ['overview', [LONGEST]],
    [`domains/${LONGEST}`, [LONGEST, MARKUP, BIDI]],
    ['groups/{hostileGroup}', [MARKUP, LONGEST]],
    ['requests', ['onerror']],
    ['requests/{hostileRequest}', [EMOJI, MARKUP, BIDI]],
    ['time', ['x'.repeat(100)]],
    ['scenes', [MARKUP, BIDI]],
    ['faults', [MARKUP, BIDI, EMOJI]],
    ['account', [MARKUP, BIDI, EMOJI]],
  ])('is text, keeps its direction to itself, and fits: %s', async (place, texts) => {
    const page = await openDashboard(service, 'default/account', PHONE)
    await openPlace(
      page,
      `${HOSTILE}/${place.replace(/\{(\w+)\}/, (_, name: keyof typeof ids) => ids[name])}`,
      texts[0] ?? '',
    )
    for (const text of texts) await expect.poll(() => page.textContent('body')).toContain(text)
    expect(await page.evaluate('document.images.length')).toBe(0)
    expect(await page.title()).toMatch(/ – dmarc-understudy$/)
    expect(await page.evaluate(LEAKS), 'what turns the direction of what follows').toEqual([])
    expect(await findLayoutProblems(page)).toEqual([])
  })

  it('can be neither markup nor code, even where a mistake would make it so', async () => {
    const { page } = await newPage()
    await page.goto(adminUrl(service, '/'))
    await expect(page.evaluate(`document.body.innerHTML = '<b>x</b>'`)).rejects.toThrow('TrustedHTML')
    const { headers } = await fetch(adminUrl(service, '/'))
    const policy = headers.get('content-security-policy') ?? ''
    for (const part of ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"])
      expect(policy).toContain(part)
    expect(policy).not.toContain('unsafe')
  })
})

/** Texts with a right-to-left override outside of an element that isolates them. */
const LEAKS = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const leaks = []
  while (walker.nextNode()) {
    const { data, parentElement: parent } = walker.currentNode
    if (!data.includes('\\u202e') || parent.closest('option, textarea, script, style')) continue
    const isolates = [parent, parent.parentElement].some((each) =>
      ['isolate', 'isolate-override', 'plaintext'].includes(getComputedStyle(each).unicodeBidi))
    if (!isolates) leaks.push(parent.outerHTML.slice(0, 150))
  }
  return leaks
})()`

describe('the address of the page', () => {
  it('follows views, details and filters, each of which Back and Forward reach, and a reload keeps', async () => {
    const page = await openDashboard(service, 'default/overview', WIDE)
    await openView(page, 'Domains')
    const policy = page.getByRole('combobox', { name: 'Policy', exact: true })
    await policy.selectOption('reject')
    const search = page.getByRole('searchbox', { name: 'Search domains' })
    await search.fill('fjord')
    await page.getByRole('link', { name: 'fjordlight.example', exact: true }).click()
    const details = detailsOf(page, 'fjordlight.example')
    await details.waitFor()
    const whole = 'default/domains/fjordlight.example?policy=reject&search=fjord'
    expect(placeOf(page)).toBe(whole)
    await page.reload()
    await details.waitFor()
    expect([await search.inputValue(), await policy.inputValue()]).toEqual(['fjord', 'reject'])
    // Typing is no step of its own.
    const steps = ['default/domains?policy=reject&search=fjord', 'default/domains', 'default/overview']
    for (const step of steps) {
      await page.goBack()
      await expect.poll(() => placeOf(page)).toBe(step)
    }
    for (const step of [...steps.slice(0, -1).reverse(), whole]) {
      await page.goForward()
      await expect.poll(() => placeOf(page)).toBe(step)
    }
    await details.waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => placeOf(page)).toBe(steps[0])

    await page.getByRole('combobox', { name: 'Account', exact: true }).selectOption(HOSTILE)
    await expect.poll(() => placeOf(page)).toContain(HOSTILE)
    await page.goBack()
    await expect.poll(() => page.getByRole('combobox', { name: 'Account', exact: true }).inputValue()).toBe('default')
  })

  it.each([
    ['default', 'default/overview', 'Passes DMARC'],
    ['default/domains?policy=reject', 'default/domains?policy=reject', '9 of 25 domains'],
    ['default/requests?whose=all', 'default/requests?whose=all', 'invalid_domain'],
    ['default/requests/never-sent', 'default/requests/never-sent', 'There is no request "never-sent".'],
    ['nobody/account', 'default/account', 'There is no account nobody, so this is the account default.'],
    ['%zz/requests', '%zz/requests', 'invalid_domain'],
    [`${'a'.repeat(300)}/requests`, 'default/requests', 'invalid_domain'],
    ['default/nothing', 'default/nothing', 'Passes DMARC'],
  ])('%s leads to %s', async (given, shown, text) => {
    const page = await openDashboard(service, given, WIDE)
    await see(page, text)
    await expect.poll(() => placeOf(page)).toBe(shown)
  })
})
