import { once } from 'node:events'
import { connect } from 'node:net'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { ACCOUNT, withKey } from '../support/account.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY, startService, type TestService } from '../support/service.ts'
import { AUTHORIZED, CLOSE, JSON_BODY, requestBytes } from '../support/wire.ts'
import { ask, change, goTo, newGate, openDashboard, placeOf, start, untilLive } from './dashboard-page.ts'

const REQUESTS = 'default/requests'
/** Right-to-left override and right-to-left isolate. */
const RTL = '\u202E\u2067'
const ATTACK = '<img src=x onerror="document.title=1"><script>document.title=1</script>'

/** The paths of the requests that the list shows, the newest first. */
function shownPaths(page: Page): Promise<string[]> {
  return page.locator('#request-rows .target').allTextContents()
}

function shownOrdinals(page: Page): Promise<number[]> {
  return page
    .locator('#request-rows tr[data-ordinal]')
    .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute('data-ordinal'))))
}

/** The ordinals of the newest three hundred in the journal, the newest first, and how many it has. */
async function journal(service: TestService, path = '/accounts/default/requests?limit=300') {
  const { requests, count } = await ask<{ requests: { ordinal: number }[]; count: number }>(service, path)
  return { ordinals: requests.map(({ ordinal }) => ordinal).reverse(), count }
}

/** Opens the details of the newest request in the list. */
async function openNewest(page: Page) {
  await page.locator('#request-rows .target').first().click()
  const detail = page.locator('#detail')
  await detail.getByText('Circumstances').waitFor()
  return detail
}

/** Answers the question in the dialog above everything else. */
async function answer(page: Page, words: string): Promise<string> {
  const question = page.locator('dialog[open] form', { hasText: words })
  const text = (await question.textContent()) ?? ''
  await question.getByRole('button', { name: words, exact: true }).click()
  return text
}

/** Sends requests on a few connections, without waiting for an answer before the next one. */
async function flood(service: TestService, count: number, target = '/api/v1/domains'): Promise<void> {
  const { port, hostname } = new URL(service.baseUrl)
  const bytes = requestBytes({ target })
  const batch = Buffer.concat(Array.from({ length: 50 }, () => bytes))
  const connections = 4
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(Number(port), hostname)
      await once(socket, 'connect')
      let rest = ''
      for (let sent = 0; sent < count / connections; sent += 50) {
        socket.write(batch)
        for (let answered = 0; answered < 50; ) {
          const [chunk] = await once(socket, 'data')
          const parts = (rest + String(chunk)).split('HTTP/1.1 200')
          answered += parts.length - 1
          // The status line may be cut in two.
          rest = (parts.at(-1) ?? '').slice(-11)
        }
      }
      socket.destroy()
    }),
  )
}

/** A server at the same address, to which connections of the stopped one are of no use. */
async function startInPlaceOf({ baseUrl }: TestService) {
  const { sendRaw } = await startService({ port: Number(new URL(baseUrl).port) })
  return { sendOnce: (target: string) => sendRaw(requestBytes({ target, headers: [AUTHORIZED, CLOSE] })) }
}

describe('the list of requests', () => {
  it('shows requests as they happen, the newest first, and the earlier ones, unless it is paused', async () => {
    const service = await startService()
    await service.get('/dmarc')
    const page = await openDashboard(service, REQUESTS)
    await page.getByText('/api/v1/dmarc').waitFor()
    await service.get('/domains')
    await service.send('POST', '/domaingroups', { name: '' })
    await expect.poll(() => shownPaths(page)).toEqual(['/api/v1/domaingroups', '/api/v1/domains', '/api/v1/dmarc'])
    expect(await page.locator('#request-rows tr[data-ordinal]').first().textContent()).toMatch(
      /^09:30:00POST\/api\/v1\/domaingroups400invalid_name.*violates the contract$/,
    )
    expect(await page.locator('#request-count').textContent()).toBe('3 requests')
    await expect.poll(() => page.locator('#tab-requests').textContent()).toBe('Requests 3')
    // It stands still while somebody reads, and says how many requests came meanwhile.
    await page.getByRole('button', { name: 'Pause' }).click()
    await service.get('/dmarc')
    await service.get('/domaingroups')
    await page.getByText('paused, 2 new requests').waitFor()
    expect(await shownPaths(page)).toHaveLength(3)
    await page.getByRole('button', { name: 'Go on' }).click()
    await expect.poll(() => shownPaths(page)).toHaveLength(5)
    await expect.poll(() => page.locator('#request-count').textContent()).toBe('5 requests')
  })

  it('shows the newest three hundred, also when these are too long for one page', async () => {
    const service = await startService({ enforceQuotas: false })
    const body = '\u0001'.repeat(10_240)
    for (let number = 1; number <= 320; number++) {
      await sendRequest('POST', `${service.baseUrl}/domains?n=${number}`, body, { authorization: `Bearer ${API_KEY}` })
    }
    const page = await openDashboard(service, REQUESTS)
    await expect.poll(() => page.locator('#request-rows tr[data-ordinal]').count()).toBe(300)
    const paths = await shownPaths(page)
    expect([paths[0], paths[299]]).toEqual(['/api/v1/domains?n=320', '/api/v1/domains?n=21'])
    expect(await page.locator('#request-count').textContent()).toBe('latest 300 of 320 requests')
  })

  it('is what the journal has after thousands of requests a second, also when the page was too slow for the stream', async () => {
    const { service, page } = await start({ enforceQuotas: false }, REQUESTS)
    const isTheJournal = async () => {
      const { ordinals, count } = await journal(service)
      expect([ordinals.length, count]).toEqual([300, 1_000])
      await expect.poll(() => shownOrdinals(page)).toEqual(ordinals)
      await expect.poll(() => page.locator('#request-count').textContent()).toContain('latest 300 of 1,000 requests')
    }
    await flood(service, 2_000)
    await isTheJournal()
    await service.get('/dmarc')
    await expect.poll(async () => (await shownPaths(page))[0]).toBe('/api/v1/dmarc')
    let streams = 1
    page.on('request', (request) => {
      if (request.url().endsWith('/events')) streams++
    })
    // The page stands still while it waits for this answer.
    const gate = newGate()
    await page.route('**/__admin/held', (route) => gate.opened.then(() => route.fulfill({ body: '' })))
    const asked = page.waitForRequest('**/__admin/held')
    const blocked = page.evaluate(`{
      const request = new XMLHttpRequest()
      request.open('GET', '/__admin/held', false)
      request.send()
    }`)
    await asked
    await flood(service, 6_000, `/api/v1/domains?${'x'.repeat(2_000)}`)
    gate.open()
    await blocked
    await isTheJournal()
    // It has asked again, because the server may have left some out.
    await expect.poll(() => streams).toBeGreaterThan(1)
    await isTheJournal()
    await untilLive(page)
  })

  it('begins again with a server that has taken the place of another one and counts from one', async () => {
    const { service, page } = await start({}, REQUESTS)
    for (const number of [1, 2, 3]) await service.get(`/domains?n=${number}`)
    await page.getByText('n=3').waitFor()
    await service.stop()
    const again = await startInPlaceOf(service)
    await again.sendOnce('/api/v1/dmarc')
    await expect.poll(() => shownPaths(page)).toEqual(['/api/v1/dmarc'])
    await again.sendOnce('/api/v1/domaingroups')
    await expect.poll(() => shownPaths(page)).toEqual(['/api/v1/domaingroups', '/api/v1/dmarc'])
    await untilLive(page)
  })

  it('leaves an account that a restart of the server has lost', async () => {
    const service = await startService()
    await change(service, 'POST', '/accounts', { id: 'short-lived' })
    const page = await openDashboard(service, 'short-lived/requests')
    await untilLive(page)
    await service.stop()
    await page.locator('#notice', { hasText: 'The server does not answer.' }).waitFor()
    const again = await startInPlaceOf(service)
    await again.sendOnce('/api/v1/dmarc')
    await expect.poll(() => shownPaths(page)).toEqual(['/api/v1/dmarc'])
    expect(placeOf(page)).toBe(REQUESTS)
  })

  it('shows the requests of the chosen account alone, and has one stream', async () => {
    const service = await startService()
    await change(service, 'POST', '/accounts', { id: 'other', api_key: 'other-key' })
    const page = await openDashboard(service, REQUESTS)
    const open = new Set<string>()
    page.on('request', (request) => request.url().endsWith('/events') && open.add(request.url()))
    page.on('requestfailed', (request) => open.delete(request.url()))
    await untilLive(page)
    for (const id of ['other', 'default', 'other', 'default', 'other']) {
      await goTo(page, `${id}/requests`)
    }
    await service.get('/domains')
    await service.send('GET', '/dmarc', undefined, withKey('other-key'))
    await expect.poll(() => shownPaths(page)).toEqual(['/api/v1/dmarc'])
    await expect.poll(() => [...open]).toEqual([expect.stringContaining('/accounts/other/events')])
  })

  it('looks for words in all requests, with their bodies, and adds new ones that contain them', async () => {
    const { service, page } = await start({}, REQUESTS)
    await service.get('/dmarc')
    await service.send('POST', '/domaingroups', { name: 'Lamps' })
    const field = page.getByRole('searchbox', { name: 'Words to look for in the requests' })
    await field.fill('post lamps')
    await page.getByText('1 of 2 requests contains these words').waitFor()
    expect(await shownPaths(page)).toEqual(['/api/v1/domaingroups'])
    await service.send('POST', '/domaingroups?again', { name: 'Lamps' })
    await service.get('/domains')
    await page.getByText('2 of 4 requests contain these words').waitFor()
    expect(await shownPaths(page)).toEqual(['/api/v1/domaingroups?again', '/api/v1/domaingroups'])
    expect(page.url()).toContain('?search=post+lamps')
    await page.reload()
    await page.getByText('2 of 4 requests contain these words').waitFor()
    expect(await field.inputValue()).toBe('post lamps')
    await field.fill('lamps nowhere')
    await page.getByText('None of the 4 requests contains these words.').waitFor()
    await field.press('Escape')
    await expect.poll(() => shownPaths(page)).toHaveLength(4)
    await field.fill('a b c d e f g h i j k')
    await page.getByText('only the first 10 words, up to 200 characters, are looked for').waitFor()
  })

  it('asks the server for one operation and for kinds, which stand in the address', async () => {
    const { service, page } = await start({}, REQUESTS)
    await service.get('/dmarc')
    await service.get('/domains')
    await page.getByText('2 requests').waitFor()
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('listDomains')
    await expect.poll(() => shownPaths(page)).toEqual(['/api/v1/domains'])
    await page.getByRole('button', { name: 'Violations' }).click()
    await page.getByText('No request in the journal is of this kind.').waitFor()
    expect(new URL(page.url()).search).toBe('?violation=true&operation=listDomains')
    await page.goBack()
    await expect.poll(() => shownPaths(page)).toEqual(['/api/v1/domains'])
    await page.goForward()
    await page.getByText('No request in the journal is of this kind.').waitFor()
    await page.reload()
    await page.getByText('No request in the journal is of this kind.').waitFor()
    const pressed = page.getByRole('button', { name: 'Violations', pressed: true })
    await pressed.waitFor()
    await pressed.click()
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('')
    await expect.poll(() => shownPaths(page)).toHaveLength(2)
    expect(new URL(page.url()).search).toBe('')
  })

  it('leads back to the oldest request, page after page, while new ones stand at the top', async () => {
    const service = await startService({ enforceQuotas: false })
    for (let number = 1; number <= 620; number++) await service.get(`/domains?n=${number}`)
    const page = await openDashboard(service, REQUESTS)
    const link = page.getByRole('link', { name: 'Older requests' })
    await page.getByText('latest 300 of 620 requests').waitFor()
    await service.get('/dmarc')
    await page.getByText('latest 300 of 621 requests').waitFor()
    await expect.poll(async () => (await shownPaths(page))[0]).toBe('/api/v1/dmarc')
    await link.click()
    await page.getByText('older 300 of 621 requests').waitFor()
    await expect.poll(async () => (await shownPaths(page))[0]).toBe('/api/v1/domains?n=321')
    await link.click()
    await expect.poll(async () => (await shownPaths(page)).at(-1)).toBe('/api/v1/domains?n=1')
    expect([await link.count(), (await shownPaths(page)).length]).toEqual([0, 21])
    await page.reload()
    await expect.poll(() => shownPaths(page)).toHaveLength(21)
    await service.get('/dmarc')
    await page.getByText('older 21 of 622 requests').waitFor()
    expect(await shownPaths(page)).toHaveLength(21)
    await page.goBack()
    await expect.poll(async () => (await shownPaths(page)).at(-1)).toBe('/api/v1/domains?n=22')
    // A request of a page has an address of its own, from which the page can be reached again.
    await page.getByRole('link', { name: 'n=300', exact: false }).click()
    await page.getByText('listDomains succeeded.').waitFor()
    expect(new URL(page.url()).searchParams.get('before')).toBe('322')
    await page.getByRole('link', { name: 'Newest requests' }).click()
    await expect.poll(async () => (await shownPaths(page))[0]).toBe('/api/v1/dmarc')
    // The search goes over all pages.
    await page.getByRole('searchbox', { name: /^Words/ }).fill('n=7 get')
    await page.getByText('11 of 622 requests contain these words').waitFor()
    expect((await shownPaths(page)).at(-1)).toBe('/api/v1/domains?n=7')
  })

  it('names the day above the first row of each day, on the clock of the account', async () => {
    const { service, page } = await start({}, REQUESTS)
    await service.get('/dmarc')
    await service.get('/domains')
    await page.getByRole('rowheader', { name: '15 January 2026' }).waitFor()
    await change(service, 'PATCH', '/accounts/default/clock', { advance: 'P40D' })
    await service.get('/nothing')
    await page.getByRole('rowheader', { name: '24 February 2026' }).waitFor()
    const rows = await page.getByRole('row').allTextContents()
    expect(rows.slice(1).map((text) => text.slice(0, 16))).toEqual([
      '24 February 2026',
      '09:30:00GET/api/',
      '15 January 2026',
      '09:30:00GET/api/',
      '09:30:00GET/api/',
    ])
    await page.getByRole('combobox', { name: 'Whose requests' }).selectOption('all')
    await page.getByRole('cell', { name: '24 Feb 09:30:00' }).waitFor()
  })

  it('has a request with a wrong path or method, with code that sends it again', async () => {
    const { service, page } = await start({}, REQUESTS)
    await service.get('/Domains')
    await service.send('PUT', '/domains', {})
    await expect.poll(() => shownPaths(page)).toEqual(['/api/v1/domains', '/api/v1/Domains'])
    expect(await page.getByText('belongs to no account').count()).toBe(0)
    await page.getByRole('link', { name: '/api/v1/Domains', exact: true }).click()
    await page.getByRole('heading', { name: 'Send it again' }).waitFor()
  })

  it('asks the server for a kind, which need not be among the latest, and takes new ones', async () => {
    const { service, page } = await start({ enforceQuotas: false }, REQUESTS)
    await service.send('POST', '/domains?n=1', { domains: ['no host'] })
    await service.send('GET', '/dmarc', undefined, { prefer: 'code=rate_limited' })
    await flood(service, 400)
    await page.getByText('latest 300 of').waitFor()
    for (const [name, first, mark, fresh] of [
      ['Violations', '/api/v1/domains?n=1', 'violates the contract', 1],
      ['Refused', '/api/v1/domains?n=1', 'invalid_domain', 2],
      ['Injected', '/api/v1/dmarc', 'injected', 1],
    ] as const) {
      const chosen = page.getByRole('button', { name, exact: true })
      await chosen.click()
      await expect.poll(() => shownPaths(page)).toContain(first)
      expect(await page.locator('#request-rows').textContent()).toContain(mark)
      const before = await page.locator('#request-rows tr[data-ordinal]').count()
      await service.get('/dmarc')
      await service.send('POST', '/domains?n=2', { domains: ['no host'] }, { prefer: 'code=rate_limited' })
      if (name !== 'Injected') await service.send('POST', '/domains?n=3', { domains: ['no host'] })
      await expect.poll(() => page.locator('#request-rows tr[data-ordinal]').count()).toBe(before + fresh)
      expect(await shownPaths(page)).not.toContain('/api/v1/domains')
      await chosen.click()
    }
  })

  it('counts the requests without a valid key, and shows them and those of all accounts', async () => {
    const service = await startService()
    await service.get('/dmarc')
    for (const number of [1, 2]) await service.send('GET', `/domains?n=${number}`, undefined, { authorization: null })
    const page = await openDashboard(service, REQUESTS)
    await expect
      .poll(() => page.locator('#keyless').textContent())
      .toBe('2 requests without a valid key belong to no account. Show them')
    await expect.poll(() => shownPaths(page)).toEqual(['/api/v1/dmarc'])
    await page.getByRole('button', { name: 'Show them' }).click()
    await expect.poll(() => shownPaths(page)).toEqual(['/api/v1/domains?n=2', '/api/v1/domains?n=1'])
    await service.get('/domaingroups')
    await service.send('GET', '/domains?n=3', undefined, withKey('wrong-key'))
    await expect.poll(async () => (await shownPaths(page))[0]).toBe('/api/v1/domains?n=3')
    expect(await shownPaths(page)).toHaveLength(3)
    await page.locator('#request-scope').selectOption('all')
    await expect.poll(() => shownPaths(page)).toHaveLength(5)
    expect(await page.locator('#request-rows').textContent()).toContain('no account')
    await page.getByRole('button', { name: 'Back to this account' }).click()
    await expect.poll(() => shownPaths(page)).toEqual(['/api/v1/domaingroups', '/api/v1/dmarc'])
  })

  it('clears the journal after a question that says what is lost, and offers a first command', async () => {
    const { service, page } = await start({}, REQUESTS)
    await service.get('/domains')
    await service.get('/dmarc')
    await page.getByText('/api/v1/dmarc').waitFor()
    await page.getByRole('button', { name: 'Clear the journal…' }).click()
    const question = await answer(page, 'Clear the journal')
    expect(question).toContain('2 requests of the account default leave the journal, for all users.')
    expect(question).toContain('The verdict and the coverage stay')
    await page.getByText('No requests yet.').waitFor()
    const command = `curl -sS -H "Authorization: Bearer $API_KEY" ${service.baseUrl}/dmarc`
    expect(await page.locator('#requests-empty pre').textContent()).toBe(command)
    expect((await journal(service)).count).toBe(0)
    expect(await ask(service, '/verdict')).toMatchObject({ requests: 2 })
  })

  it('says that a journal that keeps nothing has lost what came', async () => {
    const { service, page } = await start({ journal: 0 }, REQUESTS)
    await service.get('/domains')
    await page.getByText('1 request came, but the journal does not have it.').waitFor()
  })
})

describe('the address of a request', () => {
  it('opens it beside the list with its search, and is reached by Back, Forward and a link', async () => {
    const { service, page } = await start({}, REQUESTS)
    for (const number of [1, 2]) await service.get(`/dmarc?n=${number}`)
    await service.get('/domains')
    await page.getByRole('searchbox', { name: /^Words/ }).fill('dmarc')
    await page.getByText('2 of 3 requests contain these words').waitFor()
    const row = page.getByRole('link', { name: '/api/v1/dmarc?n=1' })
    await row.click()
    const detail = page.getByRole('region', { name: 'GET /api/v1/dmarc?n=1' })
    await detail.getByText('listDmarc succeeded.').waitFor()
    const [requestId] = (await ask<{ requests: { request_id: string }[] }>(service, '/accounts/default/requests'))
      .requests
    const address = page.url()
    expect(address).toContain(`/accounts/default/requests/${requestId?.request_id}?search=dmarc`)
    expect(await row.getAttribute('href')).toBe(new URL(address).pathname + new URL(address).search)
    await page.goBack()
    await expect.poll(() => detail.count()).toBe(0)
    expect(await shownPaths(page)).toHaveLength(2)
    await page.goForward()
    await detail.waitFor()
    const other = await page.context().newPage()
    await other.goto(address)
    await other.getByRole('region', { name: 'GET /api/v1/dmarc?n=1' }).waitFor()
    await other.getByText('2 of 3 requests contain these words').waitFor()
    await other.close()
  })

  it('says so if the request does not exist', async () => {
    const service = await startService()
    const page = await openDashboard(service, `${REQUESTS}/never-sent`)
    await page.getByRole('alert').getByText('There is no request "never-sent".').waitFor()
    await page.getByText('No requests yet.').waitFor()
  })

  it('opens a sheet above the list on a narrow screen, and a region beside it on a wide one', async () => {
    const { service, page } = await start({}, REQUESTS)
    await service.get('/domains')
    await openNewest(page)
    await page.setViewportSize({ width: 1_200, height: 800 })
    expect(await page.getByRole('region', { name: 'GET /api/v1/domains' }).count()).toBe(1)
    expect(await shownPaths(page)).toHaveLength(1)
    await page
      .getByRole('row')
      .filter({ has: page.locator('[aria-current="true"]') })
      .getByText('/api/v1/domains')
      .waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('dialog', { name: 'GET /api/v1/domains' }).waitFor()
  })
})

describe('the details of a request', () => {
  it('explain a refusal and offer a request that is accepted; arrow keys and buttons lead to the next request', async () => {
    const { service, page } = await start({}, REQUESTS)
    await service.get('/domains')
    await service.send('POST', '/domaingroups', { nam: 'Lamps' })
    await page.getByText('/api/v1/domaingroups').waitFor()
    await page.locator('#request-rows .target').first().focus()
    await page.keyboard.press('Enter')
    const detail = page.locator('#detail')
    await detail.getByText('A request that the service accepts now').waitFor()
    const refusal = (await detail.textContent()) ?? ''
    expect(refusal).toContain('Refused with unknown_field')
    expect(refusal).toContain(`--data-raw '{"name":"Lamps"}'`)
    expect(refusal).toContain('Bearer key_TestKey1.[redacted]')
    await page.keyboard.press('ArrowDown')
    await detail.getByText('listDomains succeeded.').waitFor()
    expect(await page.locator('#older').getAttribute('aria-disabled')).toBe('true')
    await page.locator('#newer').click()
    await detail.getByText('Refused with unknown_field').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('#request-sheet').count()).toBe(0)
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('/api/v1/domaingroups')
  })

  it('show the text of a request as text, even if it is markup or turns the direction of writing', async () => {
    const { service, page } = await start({ enforceQuotas: false }, REQUESTS)
    const long = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`
    await service.send('POST', '/domaingroups', { name: `${RTL}x`, [ATTACK]: ATTACK, long }, { 'x-attack': ATTACK })
    const text = (await (await openNewest(page)).textContent()) ?? ''
    for (const each of [ATTACK, RTL, long]) expect(text).toContain(each)
    expect(await page.locator('img, #detail script, #request-rows script').count()).toBe(0)
    expect(await page.title()).toMatch(/, [\w-]+ – dmarc-understudy$/)
    // What turns the direction stays within its own element.
    const directions = await page.evaluate(`[...document.querySelectorAll('#detail :is(pre, code, bdi, dd)')]
      .map((each) => getComputedStyle(each).unicodeBidi)`)
    expect(new Set(directions as string[])).toEqual(new Set(['isolate']))
  })

  it('show bodies as they were sent or indented, long ones on demand, and say what of them is missing', async () => {
    const { service, page } = await start({ enforceQuotas: false }, REQUESTS)
    await service.send('POST', '/domains', '{"domains":["a.example"]}')
    const detail = await openNewest(page)
    const body = detail
      .locator('section', { has: page.getByRole('heading', { name: 'The request', exact: true }) })
      .locator('pre')
    expect(await body.textContent()).toContain('\n  "domains": [')
    await detail.getByRole('button', { name: 'As sent' }).first().click()
    await expect.poll(() => body.textContent()).toBe('{"domains":["a.example"]}')
    await page.keyboard.press('Escape')

    const names = Array.from({ length: 2_500 }, (_, index) => `${index}`)
    await service.send('POST', '/domains', JSON.stringify({ domains: names }))
    await page.getByText('invalid_domain').or(page.getByText('request_too_large')).first().waitFor()
    await openNewest(page)
    await detail.getByText('16,403 bytes; the journal keeps only the beginning').waitFor()
    await page.keyboard.press('Escape')

    await service.send('POST', '/domains?many', `[${'1,'.repeat(5_000)}1]`)
    await page.getByText('?many').waitFor()
    await openNewest(page)
    await detail.getByRole('button', { name: 'Show all 25,007 characters' }).click()
    expect(((await body.textContent()) ?? '').length).toBe(25_007)
    await page.keyboard.press('Escape')

    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x01, 0x7d])
    const headers = [AUTHORIZED, JSON_BODY, CLOSE]
    await service.sendRaw(requestBytes({ method: 'POST', target: '/api/v1/domains?binary', headers, body: bytes }))
    await page.getByText('?binary').waitFor()
    await openNewest(page)
    await detail.getByText('6 bytes; bytes that are not UTF-8 are shown as \uFFFD').waitFor()
  })

  it('show what the request changed as a difference, and code that sends it again', async () => {
    const { service, page } = await start({}, REQUESTS)
    const [late, gone, name] = ['late.example', 'gone.example', `${RTL}New`]
    const members = { added: ['a.example', ATTACK], added_count: 12, removed: [], removed_count: 0 }
    const before = { name: 'Old', members: 2 }
    const after = { name, members: 14 }
    const known = {
      changes: [
        { what: 'domain', name: late, before: null, after: { name: late, profile: 'enforced' }, members: null },
        { what: 'domain', name: gone, before: { name: gone }, after: null, members: null },
        { what: 'group', name, before, after, members },
      ] as object[],
      changes_count: 103,
      changes_note: null,
      reproduction: { curl: 'curl -sS', vitest: `import { ATTACK } // ${ATTACK}`, pytest: 'def test_it(): pass' },
      reproduction_note: 'The set-up leaves the quota out.',
    }
    await page.route('**/explain/*', async (route) => {
      const answer = await (await route.fetch()).json()
      await route.fulfill({ json: { ...answer, data: { ...answer.data, ...known } } })
    })
    await service.get('/domains')
    const detail = await openNewest(page)
    expect(await detail.locator('#changes > li').allTextContents()).toEqual([
      '+ addeddomain late.exampleprofileenforced',
      '− removeddomain gone.example',
      `~ changedgroup ${name}nameOld → ${name}members2 → 14+ 12 members: a.example, ${ATTACK} and 10 more`,
    ])
    await detail.getByText('100 more changes.').waitFor()
    await detail.getByText('The set-up leaves the quota out.').waitFor()
    for (const [way, code] of Object.entries(known.reproduction)) {
      await detail.getByRole('button', { name: way, exact: true }).click()
      await expect.poll(() => detail.locator('#reproduction').textContent()).toBe(code)
      expect(await detail.getByRole('button', { name: `Copy as ${way}` }).count()).toBe(1)
    }
    expect(await page.title()).toMatch(/, [\w-]+ – dmarc-understudy$/)
    known.changes = []
    await page.keyboard.press('Escape')
    await openNewest(page)
    await detail.getByText('This request changed nothing in the account.').waitFor()
  })

  it('lead back: a rewind asks, says what is lost, and undoes what came since', async () => {
    const { service, page } = await start({ fixture: ACCOUNT }, REQUESTS)
    await service.send('POST', '/domains', { domains: ['late.example'] })
    await service.send('POST', '/domains', { domains: ['later.example'] })
    await expect.poll(() => shownPaths(page)).toHaveLength(2)
    await page.locator('#request-rows .target').last().click()
    await page.locator('#detail').getByText('Circumstances').waitFor()
    await page.getByRole('button', { name: 'Rewind to here…' }).click()
    const question = await answer(page, 'Rewind')
    expect(question).toContain('Everything that was changed since then is lost')
    expect(question).toContain('The journal, the coverage and the snapshots stay')
    await page.getByText('The account default is as it was just before POST').waitFor()
    expect(await ask(service, '/accounts/default')).toMatchObject({ account: { domains: ACCOUNT.domains?.length } })
    expect((await journal(service)).count).toBe(2)
  })

  it('say why the account cannot be rewound, and that the journal has lost the request', async () => {
    const { service, page } = await start({}, REQUESTS)
    await service.get('/domains')
    const detail = await openNewest(page)
    await page.getByRole('button', { name: 'Rewind to here…' }).click()
    await change(service, 'DELETE', '/accounts/default/requests')
    await answer(page, 'Rewind')
    await page.locator('.toast.bad', { hasText: 'not_found' }).waitFor()
    await detail.getByText('The journal does not have this request any more').waitFor()
    expect(await detail.textContent()).toContain('listDomains succeeded.')
    expect(await page.getByRole('button', { name: 'Rewind to here…' }).count()).toBe(0)
  })

  it('let the next such request meet something else, once', async () => {
    const { service, page } = await start({}, REQUESTS)
    await service.get('/domains')
    const detail = await openNewest(page)
    await page.getByText('Let the next such request fail…').click()
    await page.getByLabel('What happens').selectOption('rate_limited')
    await page.getByLabel(/^Only with the key/).check()
    await page.getByRole('button', { name: 'Add the rule' }).click()
    await detail.getByText('Added as fault_1.').waitFor()
    const match = { operation: 'listDomains', key: 'key_TestKey1' }
    const rule = { match, respond: { error: 'rate_limited' }, times: 1 }
    expect(await ask(service, '/accounts/default/faults')).toMatchObject({ faults: [{ rule }] })
    expect((await service.get('/dmarc')).status).toBe(200)
    expect((await service.get('/domains')).status).toBe(429)
    expect((await service.get('/domains')).status).toBe(200)
    await page.getByLabel('How many times').fill('0')
    await page.getByRole('button', { name: 'Add the rule' }).click()
    await detail.getByText('“How many times” must be').waitFor()
    await page.getByRole('button', { name: 'Show the rules' }).click()
    await expect.poll(() => page.locator('#request-sheet').count()).toBe(0)
    expect(placeOf(page)).toBe('default/faults')
    await page.locator('#tab-requests').click()
    await openNewest(page)
    await page.getByText('Let the next such request fail…').click()
    await page.getByRole('button', { name: 'More choices…' }).click()
    await expect.poll(() => page.locator('#request-sheet').count()).toBe(0)
    await expect.poll(() => page.locator('#fault-form [name="match.operation"]').inputValue()).toBe('listDomains')
    // Nothing is said of what goes wrong, so the form proposes what it proposes at first.
    expect(await page.locator('#fault-form [name=family]:checked').inputValue()).toBe('error')
  })
})
