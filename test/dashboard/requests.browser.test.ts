import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { PHONE, placeOf, shareService, WIDE } from './dashboard-page.ts'
import { answer, detailsOf, lookAgain, press, see, viewOf } from './user.ts'

const { visit, service } = shareService()

/** The requests that the list shows, the newest first, without the path of the API. */
const shown = async (page: Page) =>
  (await viewOf(page).getByRole('row').getByRole('link').allTextContents()).map((text) => text.replace('/api/v1', ''))
const shows = (page: Page, ...paths: string[]) => expect.poll(() => shown(page)).toEqual(paths)
const words = (page: Page) => page.getByRole('searchbox', { name: 'Words to look for in the requests' })
const listed = (items: Locator) => items.getByRole('listitem').allInnerTexts()

/** Opens a request of the list, beside it. */
async function open(page: Page, name: string): Promise<Locator> {
  await page
    .getByRole('link', { name: `/api/v1${name}`, exact: true })
    .first()
    .click()
  const details = detailsOf(page, new RegExp(`^[A-Z]+ /api/v1${name.replace('?', '\\?')}$`))
  await details.getByRole('heading', { name: 'Circumstances' }).waitFor()
  return details
}

describe('the list of requests', () => {
  it('shows requests as they happen, the newest first, with the day of those of another day', async () => {
    const { page, send, change } = await visit('requests', WIDE)
    await see(page, 'No requests yet.')
    await see(viewOf(page), /^curl -sS -H 'Authorization: Bearer sandbox_1' \S+\/dmarc$/)
    await send('GET', '/dmarc')
    await send('POST', '/domaingroups', { name: '' })
    await shows(page, '/domaingroups', '/dmarc')
    const row = '09:00:00 POST /api/v1/domaingroups 400 invalid_name'
    await page.getByRole('row', { name: new RegExp(`^${row}.*violates the contract$`) }).waitFor()
    await see(page, '2 requests')
    await change('PATCH', '/clock', { advance: 'P40D' })
    await send('GET', '/nothing')
    await page.getByRole('row', { name: '15 Jan 09:00:00 GET /api/v1/dmarc' }).waitFor()
    await page.getByRole('row', { name: /^09:00:00 GET \/api\/v1\/nothing/ }).waitFor()
  })

  it('looks for words in the bodies, too, for an operation and for kinds, also in what comes later', async () => {
    const { page, send } = await visit('requests', WIDE)
    await send('GET', '/dmarc')
    await send('POST', '/domaingroups', { name: 'Lamps' })
    await words(page).fill('post lamps')
    await see(page, '1 match')
    await send('POST', '/domaingroups?again', { name: 'Lamps' })
    await send('GET', '/domains')
    await see(page, '2 matches')
    await shows(page, '/domaingroups?again', '/domaingroups')
    await words(page).fill('')
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('listDomains')
    await shows(page, '/domains')
    await press(page, 'Violations')
    await see(page, 'No request in the journal is of this kind.')
    expect(new URL(page.url()).search).toBe('?operation=listDomains&violation=true')
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('')
    await send('POST', '/domains', { domains: ['no host'] })
    await shows(page, '/domains')
    await page.reload()
    await page.getByRole('button', { name: 'Violations', pressed: true }).click()
    await expect.poll(() => shown(page)).toHaveLength(5)
  })

  it('leads back through many requests, page after page, and says what has no valid key', async () => {
    const { page, send, account } = await visit('requests', WIDE)
    for (let number = 1; number <= 250; number++) await send('GET', `/domains?n=${number}`)
    await see(page, 'latest 100 of 250 requests')
    await lookAgain(page)
    await expect.poll(async () => (await shown(page)).slice(0, 1)).toEqual(['/domains?n=250'])
    const older = page.getByRole('link', { name: 'Older requests' })
    for (const first of [150, 50]) {
      await older.click()
      await expect.poll(async () => (await shown(page))[0]).toBe(`/domains?n=${first}`)
    }
    expect([await older.count(), (await shown(page)).length]).toEqual([0, 50])
    await send('GET', '/dmarc')
    await see(page, 'older 50 of 251 requests')
    await page.goBack()
    await expect.poll(async () => (await shown(page))[0]).toBe('/domains?n=150')
    await words(page).fill('n=7 get')
    await see(page, '11 matches')
    // Other conditions begin with the newest requests again.
    await expect.poll(() => placeOf(page)).toMatch(/requests\?search=n%3D7\+get$/)

    await service().send('GET', '/dmarc?keyless', undefined, { authorization: 'Bearer nobody' })
    await lookAgain(page)
    await see(page, '1 request without a valid key.')
    await page.getByRole('link', { name: 'Show them' }).click()
    await shows(page, '/dmarc?keyless')
    await page.getByRole('link', { name: 'Back to this account' }).click()
    await see(page, 'latest 100 of 251 requests')
    await press(page, 'Clear the journal…')
    expect(await answer(page, 'Clear the journal')).toContain(
      `The requests of the account ${account} leave the journal`,
    )
    await see(page, 'No requests yet.')
  })

  it('opens a request in place of the list on a phone, closes it with Escape, and leads to others', async () => {
    const { page, send } = await visit('requests', PHONE)
    await send('GET', '/domains')
    await send('GET', '/dmarc')
    await shows(page, '/dmarc', '/domains')
    await page.getByRole('link', { name: '/api/v1/dmarc' }).focus()
    await page.keyboard.press('Enter')
    await detailsOf(page, 'GET /api/v1/dmarc').waitFor()
    expect(await page.getByRole('searchbox').isVisible()).toBe(false)
    await page.getByRole('link', { name: '↓ Older' }).click()
    const details = detailsOf(page, 'GET /api/v1/domains')
    await see(details, 'listDomains succeeded.')
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'detached' })
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('/api/v1/domains')
  })
})

describe('a request', () => {
  it('is explained: why it was refused, a request that is accepted as a difference, the rule, what is assumed', async () => {
    const { page, send } = await visit('requests', { fixture: { domains: ['one.example'] }, ...WIDE })
    await send('POST', '/domains', { domains: ['no host', 'one.example', 'new.example'] })
    const details = await open(page, '/domains')
    await see(details, 'Refused with invalid_domain: domains[0] must be a valid hostname')
    expect(await details.getByRole('heading', { level: 3 }).allTextContents()).toEqual([
      'The request',
      'The response',
      'A request that the service accepts now',
      'Problems; the response reports the first one',
      'Rules of the specification',
      'Send it again',
      'Circumstances',
      'Assumed, because the specification does not say it',
    ])
    const difference = details.getByRole('list', { name: 'What was sent, and what is accepted' })
    expect((await listed(difference)).map((line) => line.replace(/\s+/g, ' ').trim())).toEqual([
      'POST /api/v1/domains',
      '{',
      '"domains": [',
      expect.stringContaining('Sent: "no host"'),
      expect.stringContaining('Sent: "one.example"'),
      '"new.example"',
      ']',
      '}',
    ])
    await see(details, `--data-raw '{"domains":["new.example"]}'`)
    await see(details, 'This request changed nothing in the account.')

    await details.getByText('As a test').click()
    await see(details, 'toBe(400)')
    await press(details, 'Copy as vitest')
    await page.getByText('Copied.').or(page.getByText('The text is selected')).first().waitFor()

    await send('POST', '/domaingroups', '{"name": "x",}')
    const broken = await open(page, '/domaingroups')
    await see(broken, 'The JSON breaks here')
    await see(broken, 'at line 1, column 13: a comma stands before the closing }')
  })

  it('says what it changed, and the account is rewound to just before it, after a question', async () => {
    const { page, send, ask } = await visit('requests', WIDE)
    await send('POST', '/domains', { domains: ['late.example'] })
    await send('POST', '/domains?later', { domains: ['later.example'] })
    const details = await open(page, '/domains')
    await details
      .getByRole('listitem')
      .filter({ hasText: /added\s*domain\s*late\.example/ })
      .waitFor()
    await press(details, 'Rewind to here…')
    const question = await answer(page, 'Rewind')
    expect(question).toContain('Everything that was changed since then is lost')
    await see(page, /The account \S+ is as it was just before POST/)
    expect([(await ask('/domains')).count, (await ask('/requests')).count]).toEqual([0, 2])
  })

  it('leads to a rule that lets the next such request fail', async () => {
    const { page, send, ask } = await visit('requests', WIDE)
    await send('GET', '/domains')
    const details = await open(page, '/domains')
    await details.getByRole('link', { name: 'Let the next such request fail…' }).click()
    const form = viewOf(page).getByRole('region', { name: 'Add a rule' })
    await form.getByText('The next GET /domains: error rate_limited, before anything changes').waitFor()
    await press(form, 'Add the rule')
    await page.getByRole('heading', { name: /^The next GET \/domains: error rate_limited/ }).waitFor()
    const rule = { match: { operation: 'listDomains' }, respond: { error: 'rate_limited' }, times: 1 }
    expect((await ask('/faults')).faults).toMatchObject([{ rule }])
    expect(placeOf(page)).toMatch(/\/faults\?operation=listDomains$/)
  })
})
