import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { answer, lookAgain, PHONE, placeOf, press, shareService, viewOf, WIDE } from './dashboard-page.ts'

const { visit } = shareService()

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
  const details = page.getByRole('region', { name: new RegExp(`^[A-Z]+ /api/v1${name.replace('?', '\\?')}$`) })
  await details.getByRole('heading', { name: 'Circumstances' }).waitFor()
  return details
}

describe('the list of requests', () => {
  it('shows requests as they happen, the newest first, with the day above them, unless it is paused', async () => {
    const { page, send, change } = await visit('requests', WIDE)
    await page.getByText('No requests yet.').waitFor()
    await viewOf(page)
      .getByText(/^curl -sS -H 'Authorization: Bearer sandbox_1' \S+\/dmarc$/)
      .waitFor()
    await send('GET', '/dmarc')
    await send('POST', '/domaingroups', { name: '' })
    await shows(page, '/domaingroups', '/dmarc')
    const row = '09:00:00 POST /api/v1/domaingroups 400 invalid_name'
    await page.getByRole('row', { name: new RegExp(`^${row}.*violates the contract$`) }).waitFor()
    await page.getByRole('tab', { name: 'Requests 2' }).waitFor()
    await press(page, 'Pause')
    await send('GET', '/domains')
    await page.getByText('paused, 1 new request').waitFor()
    expect(await shown(page)).toHaveLength(2)
    await press(page, 'Go on')
    await shows(page, '/domains', '/domaingroups', '/dmarc')
    await change('PATCH', '/clock', { advance: 'P40D' })
    await send('GET', '/nothing')
    await page.getByRole('rowheader', { name: '24 February 2026' }).waitFor()
    expect(await page.getByRole('rowheader').allTextContents()).toEqual(['24 February 2026', '15 January 2026'])
  })

  it('looks for words in the bodies, too, for an operation and for kinds, also in what comes later', async () => {
    const { page, send } = await visit('requests', WIDE)
    await send('GET', '/dmarc')
    await send('POST', '/domaingroups', { name: 'Lamps' })
    await words(page).fill('post lamps')
    await page.getByText('1 of 2 requests contains these words').waitFor()
    await send('POST', '/domaingroups?again', { name: 'Lamps' })
    await send('GET', '/domains')
    await page.getByText('2 of 4 requests contain these words').waitFor()
    await shows(page, '/domaingroups?again', '/domaingroups')
    await words(page).press('Escape')
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('listDomains')
    await shows(page, '/domains')
    await press(page, 'Violations')
    await page.getByText('No request in the journal is of this kind.').waitFor()
    expect(new URL(page.url()).search).toBe('?violation=true&operation=listDomains')
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('')
    await send('POST', '/domains', { domains: ['no host'] })
    await shows(page, '/domains')
    await page.reload()
    await page.getByRole('button', { name: 'Violations', pressed: true }).click()
    await expect.poll(() => shown(page)).toHaveLength(5)
  })

  it('leads back through many requests, page after page, while new ones stand at the top', async () => {
    const { page, send } = await visit('requests', WIDE)
    for (let number = 1; number <= 950; number++) await send('GET', `/domains?n=${number}`)
    await page.getByText('latest 300 of 950 requests').waitFor()
    await lookAgain(page)
    await expect.poll(async () => (await shown(page)).slice(0, 1)).toEqual(['/domains?n=950'])
    expect((await shown(page)).at(-1)).toBe('/domains?n=651')
    const older = page.getByRole('link', { name: 'Older requests' })
    for (const first of [650, 350, 50]) {
      await older.click()
      await expect.poll(async () => (await shown(page))[0]).toBe(`/domains?n=${first}`)
    }
    expect([await older.count(), (await shown(page)).length]).toEqual([0, 50])
    await send('GET', '/dmarc')
    await page.getByText('older 50 of 951 requests').waitFor()
    await page.goBack()
    await expect.poll(async () => (await shown(page))[0]).toBe('/domains?n=350')
    const details = await open(page, '/domains?n=300')
    expect(new URL(page.url()).searchParams.get('before')).not.toBeNull()
    await page.getByRole('link', { name: 'Newest requests' }).click()
    await expect.poll(async () => (await shown(page))[0]).toBe('/dmarc')
    await details.waitFor({ state: 'detached' })
    await words(page).fill('n=7 get')
    await page.getByText('111 of 951 requests contain these words').waitFor()
  })

  it('opens a request as a sheet on a phone, closes it with Escape, and leads to others by key', async () => {
    const { page, send } = await visit('requests', PHONE)
    await send('GET', '/domains')
    await send('GET', '/dmarc')
    await shows(page, '/dmarc', '/domains')
    await page.getByRole('link', { name: '/api/v1/dmarc' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'GET /api/v1/dmarc' }).waitFor()
    await page.keyboard.press('ArrowDown')
    const sheet = page.getByRole('dialog', { name: 'GET /api/v1/domains' })
    await sheet.getByText('listDomains succeeded.').waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    await expect.poll(() => page.evaluate('document.activeElement.href')).toMatch(/\/requests\/[\w-]+$/)
  })
})

describe('a request', () => {
  it('is explained: why it was refused, a request that is accepted as a difference, the rule, what is assumed', async () => {
    const { page, send } = await visit('requests', { fixture: { domains: ['one.example'] }, ...WIDE })
    await send('POST', '/domains', { domains: ['no host', 'one.example', 'new.example'] })
    const details = await open(page, '/domains')
    await details.getByText('Refused with invalid_domain: domains[0] must be a valid hostname').waitFor()
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
    await details.getByText(`--data-raw '{"domains":["new.example"]}'`).waitFor()
    await details.getByText('This request changed nothing in the account.').waitFor()

    await press(details, 'vitest')
    await details.getByText('toBe(400)').waitFor()
    await press(details, 'Copy as vitest')
    await page.getByText('Copied.').or(page.getByText('The text is selected')).first().waitFor()
    await press(details, 'Copy the address')
    await details.getByText(new URL(page.url()).pathname).first().waitFor()

    await send('POST', '/domaingroups', '{"name": "x",}')
    const broken = await open(page, '/domaingroups')
    await broken.getByText('The JSON breaks here').waitFor()
    await broken.getByText('at line 1, column 13: a comma stands before the closing }').waitFor()
    await send('GET', '/Domains')
    await press(await open(page, '/Domains'), 'pytest')
    await page.getByText('== 404').waitFor()
  })

  it('shows bodies as they were sent or indented, long ones on demand, and what is missing of them', async () => {
    const { page, send } = await visit('requests', WIDE)
    await send('POST', '/domains', '{"domains":["a.example"]}')
    const short = await open(page, '/domains')
    await short.getByText('{ "domains": [ "a.example" ] }').first().waitFor()
    await press(short, 'As sent').catch(() => short.getByRole('button', { name: 'As sent' }).first().click())
    await short.getByText('{"domains":["a.example"]}', { exact: true }).waitFor()
    await send('POST', '/domains?many', `[${'1,'.repeat(5_000)}1]`)
    await (await open(page, '/domains?many')).getByRole('button', { name: 'Show all 25,007 characters' }).click()
    await send('POST', '/domains?cut', JSON.stringify({ domains: Array(5_000).fill('1') }))
    await (await open(page, '/domains?cut')).getByText(/bytes; the journal keeps only the beginning/).waitFor()
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
    await page.getByText(/The account \S+ is as it was just before POST/).waitFor()
    expect([(await ask('/domains')).count, (await ask('/requests')).count]).toEqual([0, 2])
  })

  it('lets the next such request fail, and leads to the rules', async () => {
    const { page, send, ask } = await visit('requests', WIDE)
    await send('GET', '/domains')
    const details = await open(page, '/domains')
    await details.getByText('Let the next such request fail…').click()
    await details.getByLabel('What happens').selectOption('rate_limited')
    await details.getByLabel('How many times').fill('0')
    await press(details, 'Add the rule')
    await details.getByText('“How many times” must be').waitFor()
    await details.getByLabel('How many times').fill('1')
    await press(details, 'Add the rule')
    await details.getByText('Added as fault_1.').waitFor()
    const rule = { match: { operation: 'listDomains' }, respond: { error: 'rate_limited' }, times: 1 }
    expect((await ask('/faults')).faults).toMatchObject([{ rule }])
    const statuses = [await send('GET', '/dmarc'), await send('GET', '/domains'), await send('GET', '/domains')]
    expect(statuses.map(({ status }) => status)).toEqual([200, 429, 200])
    await press(details, 'Show the rules')
    await page.getByRole('heading', { name: /^The next GET \/domains: error rate_limited/ }).waitFor()
    expect(placeOf(page)).toMatch(/\/faults$/)
  })
})
