import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { loadControlApi, readLimits } from '../../src/admin/document.ts'
import { FAINT_TEXTS } from '../support/contrast.ts'
import { askControl } from '../support/control-plane.ts'
import { API_KEY, startService } from '../support/service.ts'
import { newPage, shareBrowser } from '../support/shared-browser.ts'
import { adminUrl, ask, contains, openDashboard, shownPaths, start, textOf } from './browser-page.ts'

const TABS = ['requests', 'faults', 'domains', 'snapshots', 'keys', 'coverage']
const TOKEN = 'open-sesame'
const { pageLimit: PAGE_LIMIT } = readLimits(await loadControlApi())

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

describe('the page of the dashboard', () => {
  shareBrowser()

  it('has the browser refuse markup and code that is made from text', async () => {
    const page = await newPage()
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

  it('asks for the token until it is the right one, and keeps it only for its tab', async () => {
    const service = await startService({ adminToken: TOKEN })
    const page = await openDashboard(service)
    await page.until(contains('dialog[open]', 'requires a token'))
    expect(await textOf(page, '#request-rows')).toBe('')
    await page.press('Escape')
    await page.until(contains('dialog[open]', 'requires a token'))
    await page.evaluate(`document.querySelector('dialog[open] [name=token]').focus()`)
    await page.type('wrong')
    await page.press('Enter')
    await page.until(contains('dialog[open]', 'This token is wrong'))
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

  it('keeps the token from a page that a fault sends in place of an answer', async () => {
    const service = await startService({ adminToken: TOKEN })
    const asAdmin = { authorization: `Bearer ${TOKEN}` }
    const page = await newPage()
    await page.open(adminUrl(service, '/'))
    await page.evaluate(`sessionStorage.setItem('token', ${JSON.stringify(TOKEN)})`)
    const { pathname } = new URL(service.baseUrl)
    const leak = `new Image().src = '${pathname}/leaked?' + sessionStorage.getItem('token')`
    const body = `<!doctype html><title>A gateway</title><script>${leak}</script><img src="${pathname}/loaded">`
    const rule = {
      match: { operation: 'listDomains' },
      respond: { status: 200, headers: { 'Content-Type': 'text/html' }, body },
    }
    await askControl(service, 'POST', '/accounts/default/faults', rule, asAdmin)
    await page.addHeaders({ authorization: `Bearer ${API_KEY}` })
    await page.evaluate(`void (location.href = '${pathname}/domains')`)
    const paths = async () => {
      const { data } = await askControl(service, 'GET', '/requests', undefined, asAdmin)
      return data.requests.map((request: { path: string }) => request.path)
    }
    await expect.poll(paths).toContain(`${pathname}/loaded`)
    expect(await paths()).not.toContain(`${pathname}/leaked`)
  })

  it('says that the server does not answer, and continues when it answers again', async () => {
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

  it('chooses the default account when another client deletes the chosen one', async () => {
    const service = await startService()
    await ask(service, '/accounts', { method: 'POST', body: '{"id":"short-lived"}' })
    const page = await openDashboard(service, '#short-lived/keys')
    await page.until(contains('#connection', 'Live'))
    await ask(service, '/accounts/short-lived', { method: 'DELETE' })
    await page.until(contains('#toasts', 'The account short-lived does not exist any more.'))
    await page.until(`document.getElementById('account').value === 'default'`)
  })

  it('offers all accounts, also when they have more than one page', async () => {
    const service = await startService({ fixture: 'empty' })
    const count = PAGE_LIMIT + 5
    for (let number = 1; number <= count; number++) await ask(service, '/accounts', { method: 'POST', body: '{}' })
    const page = await openDashboard(service)
    await page.until(`document.getElementById('account').options.length === ${count + 1}`)
    expect(await page.evaluate(`document.getElementById('account').lastElementChild.value`)).toBe(`account-${count}`)
  })

  it('moves through its tabs with the arrow keys', async () => {
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
      await page.until(contains('#detail', 'The response'))
      expect(await page.evaluate(FAINT_TEXTS)).toEqual([])
      expect(await page.evaluate(`document.getElementById('drawer').scrollWidth <= innerWidth`)).toBe(true)
    })
  })
})
