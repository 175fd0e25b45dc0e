import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { startService, type TestService } from '../support/service.ts'
import { type Browser, type BrowserPage, startChromium } from './chromium.ts'

const TABS = ['requests', 'faults', 'domains', 'snapshots', 'keys', 'coverage']
const TOKEN = 'open-sesame'

let browser: Browser

/** A page in a browser that shows the dashboard of a service, and complained of nothing when the test is over. */
async function openDashboard(service: TestService, hash = ''): Promise<BrowserPage> {
  const page = await browser.newPage()
  onTestFinished(() => expect(page.complaints()).toEqual([]))
  await page.open(adminUrl(service, `/${hash}`))
  return page
}

async function start(options: ServerOptions = {}, hash = '') {
  const service = await startService(options)
  const page = await openDashboard(service, hash)
  await page.until(`document.getElementById('connection').textContent === 'Live'`)
  return { service, page }
}

function adminUrl({ baseUrl }: TestService, path: string): string {
  return `${new URL(baseUrl).origin}/__admin${path}`
}

/** What the control plane tells. */
async function ask<Data>(service: TestService, path: string, init: RequestInit = {}): Promise<Data> {
  const response = await fetch(adminUrl(service, path), { ...init, headers: { 'content-type': 'application/json' } })
  const answer = (await response.json()) as { data: Data }
  return answer.data
}

const textOf = (page: BrowserPage, selector: string) =>
  page.evaluate<string>(`document.querySelector(${JSON.stringify(selector)}).textContent`)
const contains = (selector: string, text: string) =>
  `document.querySelector(${JSON.stringify(selector)})?.textContent.includes(${JSON.stringify(text)})`
/** What is left of the first quota. */
const left = (text: string) => `document.querySelector('#quotas .count')?.textContent === '${text}'`
/** The button with these words in an element. */
const press = (page: BrowserPage, within: string, words: string) =>
  page.evaluate(
    `[...document.querySelectorAll('${within} button')].find((each) => each.textContent === '${words}').click()`,
  )
const choose = (page: BrowserPage, selector: string, value: string) =>
  page.evaluate(`(() => {
    const field = document.querySelector(${JSON.stringify(selector)})
    field.value = ${JSON.stringify(value)}
    field.dispatchEvent(new Event('change', { bubbles: true }))
  })()`)
const shownPaths = (page: BrowserPage) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('#request-rows tr:not([hidden]) button')].map((each) => each.textContent)`,
  )

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** The contrast of each visible text with what lies behind it, as WCAG 2 counts it; those that have too little. */
const FAINT_TEXTS = `(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true })
  const colour = (text) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = text
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  }
  const luminance = ([...rgb]) => rgb.slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0)
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const behind = colour(getComputedStyle(each).backgroundColor)
      if (behind[3] === 255) return behind
    }
    return colour('canvas')
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const faint = []
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement
    if (walker.currentNode.data.trim() === '' || !element.checkVisibility() || element.closest(':disabled, script, style')) continue
    const [one, other] = [luminance(colour(getComputedStyle(element).color)), luminance(ground(element))].sort((a, b) => b - a)
    const contrast = (one + 0.05) / (other + 0.05)
    if (contrast < 4.5) faint.push(walker.currentNode.data.trim() + ' ' + contrast.toFixed(2))
  }
  return faint
})()`

describe('the dashboard in a browser', () => {
  beforeAll(async () => {
    browser = await startChromium()
  }, 60_000)
  afterAll(() => browser?.close())

  it('shows requests as they happen, the newest first, and what was there before', async () => {
    const service = await startService()
    await service.get('/dmarc')
    const page = await openDashboard(service)
    await page.until(contains('#request-rows', '/api/v1/dmarc'))
    await service.get('/domains')
    await service.send('POST', '/domaingroups', { name: '' })
    await page.until(contains('#request-rows', '/api/v1/domaingroups'))
    expect(await shownPaths(page)).toEqual(['/api/v1/domaingroups', '/api/v1/domains', '/api/v1/dmarc'])
    expect(await textOf(page, '#request-rows tr')).toMatch(/^09:30:00POST\/api\/v1\/domaingroups400invalid_name/)
  })

  it('filters them by words', async () => {
    const { service, page } = await start()
    await service.get('/dmarc')
    await service.get('/domaingroups?id=nobody')
    await page.until(contains('#request-rows', 'nobody'))
    await page.click('#request-filter')
    await page.type('get 4xx')
    expect(await shownPaths(page)).toEqual(['/api/v1/domaingroups?id=nobody'])
    await service.get('/domaingroups?id=neither')
    await page.until(contains('#request-rows', 'neither'))
    await service.get('/domains')
    await page.until(`document.querySelectorAll('#request-rows tr').length === 4`)
    expect(await shownPaths(page)).toEqual(['/api/v1/domaingroups?id=neither', '/api/v1/domaingroups?id=nobody'])
    await page.type(' nowhere')
    expect(await textOf(page, '#requests-empty')).toBe('None of 4 requests matches the filter.')
  })

  it('shows what is in the hands of a client as text, whatever it is', async () => {
    const { service, page } = await start()
    const attack = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
    await service.send('POST', '/domaingroups', { name: 'x', [attack]: attack }, { 'x-attack': attack })
    await page.until(contains('#request-rows', 'unknown_field'))
    await page.click('#request-rows button')
    await page.until(contains('#detail', 'x-attack'))
    expect(await textOf(page, '#detail')).toContain(attack)
    expect(await page.evaluate(`document.querySelectorAll('img, #detail script').length`)).toBe(0)
    expect(await page.evaluate('document.title')).toBe('dmarc-understudy')
  })

  it('has the browser refuse markup and code, should the page ever make some of a text', async () => {
    const page = await browser.newPage()
    await page.open(adminUrl(await startService(), '/'))
    await expect(page.evaluate(`document.body.innerHTML = '<b>x</b>'`)).rejects.toThrow('TrustedHTML')
    await page.evaluate(`{
      const script = document.createElement('div').appendChild(document.createElement('script'))
      script.append('document.title = 1')
      document.body.append(script)
    }`)
    expect(await page.evaluate('document.title')).toBe('dmarc-understudy')
    await expect(page.evaluate(`fetch('http://127.0.0.1:1/')`)).rejects.toThrow('Failed to fetch')
    expect(page.complaints().join()).toContain('violates the following Content Security Policy directive')
  })

  it('explains a refusal, offers a request that is accepted, and goes to its neighbours by keyboard', async () => {
    const { service, page } = await start()
    await service.get('/domains')
    await service.send('POST', '/domaingroups', { nam: 'Lamps' })
    await page.until(contains('#request-rows', 'domaingroups'))
    await page.evaluate(`document.querySelector('#request-rows button').focus()`)
    await page.press('Enter')
    await page.until(contains('#detail', 'A request that is accepted now'))
    const refusal = await textOf(page, '#detail')
    expect(refusal).toContain('Refused with unknown_field')
    expect(refusal).toContain(`--data-raw '{"name":"Lamps"}'`)
    expect(refusal).toContain('Bearer key_TestKey1.[redacted]')
    await page.press('ArrowDown')
    await page.until(contains('#detail', 'listDomains succeeded.'))
    await page.press('Escape')
    expect(await page.evaluate(`document.getElementById('drawer').open`)).toBe(false)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('/api/v1/domaingroups')
  })

  it('moves and stops the clock, and shows where it stands', async () => {
    const { service, page } = await start()
    await press(page, 'main', '+1 hour')
    await page.until(contains('#clock', '2026-01-15 10:30'))
    await press(page, 'main', '+1 day')
    await page.until(contains('#clock', '2026-01-16 10:30'))
    await page.click('#freeze')
    await page.until(contains('#clock-state', 'frozen'))
    expect(await ask(service, '/accounts/default/clock')).toEqual({ now: '2026-01-16T10:30:00Z', frozen: true })
    expect(await textOf(page, '#clock')).toBe('2026-01-16 10:30:00 UTC')
    await page.click('#freeze')
    await page.until(contains('#clock-state', 'running'))
  })

  it('shows what is left of the quotas, uses one up, and fills it again', async () => {
    const { service, page } = await start()
    await service.get('/dmarc')
    await page.until(left('9 / 10'))
    await press(page, '#quotas', 'Use up')
    await page.until(left('0 / 10'))
    expect((await service.get('/dmarc')).status).toBe(429)
    await press(page, '#quotas', 'Refill')
    await page.until(left('10 / 10'))
    expect((await service.get('/dmarc')).status).toBe(200)
  })

  it('changes the plan', async () => {
    const { service, page } = await start()
    await choose(page, '#plan', 'below-stone')
    await page.until(
      `fetch('accounts/default').then((answer) => answer.json()).then(({ data }) => data.account.plan === 'below-stone')`,
    )
    expect((await service.get('/domains')).status).toBe(403)
  })

  it('makes requests fail, tells how often, and shows a refusal of the control plane as it is', async () => {
    const { service, page } = await start({}, '#default/faults')
    await page.until(contains('#faults', 'every answer is genuine'))
    await choose(page, '#fault-form [name=operation]', 'listDomains')
    await choose(page, '#fault-form [name=error]', 'rate_limited')
    await page.click('#fault-form [name=times]')
    await page.type('1')
    await page.press('Enter')
    await page.until(contains('#faults', 'rate_limited'))
    expect((await service.get('/domains')).status).toBe(429)
    await page.until(contains('#faults', 'struck once'))
    expect(await textOf(page, '#faults')).toContain('spent')

    await page.click('#fault-form [name=probability]')
    await page.type('7')
    await press(page, '#fault-form', 'Add the rule')
    await page.until(contains('#fault-form .refusal', 'invalid_value `probability` must be at most 1, not 7.'))

    await press(page, '#fault-sets', 'Add')
    await page.until(contains('#faults', 'set flaky'))
    await press(page, '#panel-faults', 'Remove all')
    await page.until(contains('#faults', 'every answer is genuine'))
    expect(await ask(service, '/accounts/default/faults')).toEqual({ faults: [] })
  })

  it('pins the record of a domain, says that it is in use, and shows the record', async () => {
    const { service, page } = await start({ fixture: 'demo' }, '#default/domains')
    await page.until(contains('#domain-rows', 'glowkids.example'))
    await page.click('#domain-filter')
    await page.type('glowkids')
    await press(page, '#domain-rows', 'Change…')
    await choose(page, 'dialog[open] [name=p]', 'reject')
    await page.click('dialog[open] [name=features]')
    await page.type('bimi')
    await press(page, 'dialog[open]', 'Change it')
    await page.until(contains('#domain-rows', 'p reject · sp reject'))
    const { domains } = await ask<{ domains: unknown[] }>(service, '/accounts/default/state')
    expect(domains).toContainEqual(
      expect.objectContaining({
        name: 'glowkids.example',
        features: ['bimi'],
        record: { p: 'reject' },
        profile: 'monitoring-only',
      }),
    )
    await page.until(contains('#domain-rows', 'bimi'))
  })

  it('takes a snapshot and goes back to it', async () => {
    const { service, page } = await start({}, '#default/snapshots')
    await page.click('#snapshot-form [name=name]')
    await page.type('dawn')
    await page.press('Enter')
    await page.until(contains('#snapshots', 'dawn'))
    await service.send('POST', '/domains', { domains: ['late.example'] })
    await press(page, '#snapshots', 'Restore')
    await press(page, 'dialog[open]', 'Restore')
    await page.until(contains('#toasts', 'The account is as it was in dawn.'))
    expect(await ask(service, '/accounts/default')).toMatchObject({ account: { domains: 0 } })
    await page.click('#snapshot-form [name=name]')
    await page.type('dawn')
    await page.press('Enter')
    await page.until(contains('#snapshot-form .refusal', 'taken There is already a snapshot "dawn".'))
    await press(page, '#snapshots', 'Delete')
    await press(page, 'dialog[open]', 'Delete')
    await page.until(contains('#snapshots', 'No snapshots.'))
  })

  it('creates a key, shows its secret once, disables and deletes it', async () => {
    const { service, page } = await start({}, '#default/keys')
    await page.click('#key-form [name=label]')
    await page.type('CI')
    await page.press('Enter')
    await page.until(contains('dialog[open]', 'export API_KEY='))
    const secret = /'([^']+)'/.exec(await textOf(page, 'dialog[open] pre'))?.[1]
    const read = () => service.send('GET', '/domains', undefined, { authorization: `Bearer ${secret}` })
    expect((await read()).status).toBe(200)
    await press(page, 'dialog[open]', 'Close')
    await page.until(`!document.documentElement.outerHTML.includes('${secret}')`)
    await press(page, '#keys li:last-child', 'Disable')
    await page.until(contains('#keys li:last-child', 'disabled'))
    expect((await read()).status).toBe(401)
    await press(page, '#keys li:last-child', 'Delete')
    await press(page, 'dialog[open]', 'Delete')
    await page.until(`document.querySelectorAll('#keys li').length === 1`)
  })

  it('makes an account, shows that alone, resets and deletes it', async () => {
    const { service, page } = await start()
    await service.get('/domains')
    await page.until(contains('#request-rows', '/domains'))
    await page.click('#account-new')
    await page.evaluate(`document.querySelector('dialog[open] [name=id]').focus()`)
    await page.type('other')
    await choose(page, 'dialog[open] [name=fixture]', 'demo')
    await press(page, 'dialog[open]', 'Create')
    await page.until(contains('dialog[open]', 'The account other'))
    const secret = /'([^']+)'/.exec(await textOf(page, 'dialog[open] pre'))?.[1]
    await press(page, 'dialog[open]', 'Close')
    await page.until(contains('#tab-domains', '25'))
    expect(await shownPaths(page)).toEqual([])
    expect(await page.evaluate('location.hash')).toBe('#other/requests')

    await page.until(contains('#connection', 'Live'))
    await service.send('GET', '/dmarc', undefined, { authorization: `Bearer ${secret}` })
    await page.until(contains('#request-rows', '/dmarc'))
    await service.get('/domaingroups')
    await page.click('#account-reset')
    await press(page, 'dialog[open]', 'Reset')
    await page.until(`document.querySelectorAll('#request-rows tr').length === 0`)

    await page.click('#account-delete')
    await press(page, 'dialog[open]', 'Delete')
    await page.until(contains('#request-rows', '/domaingroups'))
    expect(await ask(service, '/accounts')).toMatchObject({ count: 1 })
    expect(await page.evaluate('location.hash')).toBe('#default/requests')
  })

  it('shows, when it is asked, also the requests that nobody could tell whose they are', async () => {
    const { service, page } = await start()
    await page.click('#everyone')
    await page.until(contains('#connection', 'Live'))
    await service.send('GET', '/domains', undefined, { authorization: null })
    await page.until(contains('#request-rows', 'no account'))
    expect(await textOf(page, '#request-rows')).toContain('401')
  })

  it('shows how much of the contract was seen, and commands for the rest', async () => {
    const { service, page } = await start({}, '#default/coverage')
    await page.until(contains('#coverage-bars', '0 / 8'))
    await service.get('/domains')
    await page.until(contains('#coverage-bars', '1 / 8'))
    await page.click('#gap-filter')
    await page.type('createDomainGroup')
    await page.until(contains('#gaps', 'duplicate_name'))
    expect(await textOf(page, '#gaps')).toContain('curl -sS -X POST -H "Authorization: Bearer $API_KEY"')
  })

  it('asks for the token until it is the right one, and keeps it for this tab alone', async () => {
    const service = await startService({ adminToken: TOKEN })
    const page = await openDashboard(service)
    await page.until(contains('dialog[open]', 'needs its token'))
    expect(await textOf(page, '#request-rows')).toBe('')
    await page.press('Escape')
    await page.until(contains('dialog[open]', 'needs its token'))
    await page.evaluate(`document.querySelector('dialog[open] [name=token]').focus()`)
    await page.type('wrong')
    await page.press('Enter')
    await page.until(contains('dialog[open]', 'not the right one'))
    await page.evaluate(`document.querySelector('dialog[open] [name=token]').focus()`)
    await page.type(TOKEN)
    await page.press('Enter')
    await page.until(contains('#connection', 'Live'))
    await service.get('/domains')
    await page.until(contains('#request-rows', '/domains'))
    expect(
      await page.evaluate(
        '[sessionStorage.token, localStorage.length, document.cookie, document.querySelectorAll("dialog[open]").length]',
      ),
    ).toEqual([TOKEN, 0, '', 0])
  })

  it('says that the server is gone, and comes back with it', async () => {
    const port = await freePort()
    const { service, page } = await start({ port })
    await service.get('/dmarc')
    await page.until(contains('#request-rows', '/dmarc'))
    await service.stop()
    await page.until(`!document.getElementById('notice').hidden`)
    expect(await textOf(page, '#notice')).toContain('The server does not answer.')
    const again = await startService({ port })
    await page.until(contains('#connection', 'Live'))
    expect(await page.evaluate(`document.getElementById('notice').hidden`)).toBe(true)
    await again.get('/domains')
    await page.until(contains('#request-rows', '/domains'))
    expect(await shownPaths(page)).toEqual(['/api/v1/domains'])
  })

  it('leaves an account that somebody else has deleted', async () => {
    const service = await startService()
    await ask(service, '/accounts', { method: 'POST', body: '{"id":"short-lived"}' })
    const page = await openDashboard(service, '#short-lived/keys')
    await page.until(contains('#connection', 'Live'))
    await ask(service, '/accounts/short-lived', { method: 'DELETE' })
    await page.until(contains('#toasts', 'The account short-lived is no more.'))
    await page.until(`document.getElementById('account').value === 'default'`)
  })

  it('walks through its tabs with the arrow keys', async () => {
    const { page } = await start()
    await page.evaluate(`document.getElementById('tab-requests').focus()`)
    await page.press('ArrowRight')
    expect(await page.evaluate(`document.activeElement.id`)).toBe('tab-faults')
    await page.press('ArrowLeft')
    await page.press('ArrowLeft')
    expect(await page.evaluate(`document.activeElement.id`)).toBe('tab-coverage')
    expect(await page.evaluate(`document.querySelectorAll('[role=tabpanel]:not([hidden])').length`)).toBe(1)
    expect(await page.evaluate('location.hash')).toBe('#default/coverage')
  })

  describe.each(['light', 'dark'] as const)('in %s', (scheme) => {
    it.each([360, 1280])('can be read and used at %i pixels', async (width) => {
      const { service, page } = await start({ fixture: 'demo' })
      await page.show(width, scheme)
      await ask(service, '/accounts/default/fault-sets/quota-storm', { method: 'POST' })
      await ask(service, '/accounts/default/snapshots', { method: 'POST', body: '{"name":"one"}' })
      for (let index = 0; index < 8; index++) await service.get('/domaingroups?id=nobody')
      await page.until(contains('#request-rows', 'injected'))
      for (const tab of TABS) {
        await page.evaluate(`document.getElementById('tab-${tab}').click()`)
        await page.until(`document.querySelector('#panel-${tab} :is(tr, li):not([hidden])') !== null`)
        expect([tab, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([tab, true])
        expect([tab, await page.evaluate(FAINT_TEXTS)]).toEqual([tab, []])
        const nameless = (await page.controls()).filter(
          ({ role, name }) =>
            ['button', 'textbox', 'searchbox', 'combobox', 'checkbox', 'spinbutton', 'tab', 'meter', 'dialog'].includes(
              role,
            ) && name === '',
        )
        expect([tab, nameless]).toEqual([tab, []])
      }
      await page.evaluate(`document.getElementById('tab-requests').click()`)
      await page.click('#request-rows button')
      await page.until(contains('#detail', 'The answer'))
      expect(await page.evaluate(FAINT_TEXTS)).toEqual([])
      expect(await page.evaluate(`document.getElementById('drawer').scrollWidth <= innerWidth`)).toBe(true)
    })
  })
})
