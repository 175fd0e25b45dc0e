import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DmarcRecord } from '../../src/dashboard/responses.ts'
import type { Fixture } from '../../src/index.ts'
import { openService, type TestService } from '../support/service.ts'
import { ask, change, goTo, lookAgain, newGate, openDashboard, untilLive } from './dashboard-page.ts'

const NOW = '2026-01-15T09:00:00Z'
const MANY = 10_000
/** A name as long as names can be. */
const LONG = `${`${'l'.repeat(60)}.`.repeat(4)}x.example`
const PHONE = { width: 390, height: 844 }
const NASTY = '<img src=x onerror=alert(1)> \u202Eשלום'

interface Row {
  domain: string
  events: { description: string; from: string | null }[]
  pinned: object
  reports: string
  features: string[]
}

let service: TestService
let accounts = 0

/** An account whose key everybody knows, unless it is `secret`. Resolves to its id. */
async function createAccount(fixture: string | Fixture, secret = false): Promise<string> {
  const id = secret ? `closed-${accounts++}` : `sandbox_domains-${accounts++}`
  await change(service, 'POST', '/accounts', {
    ...{ id, fixture, now: NOW, seed: 7 },
    ...(secret && { api_key: `hidden-${id}` }),
  })
  return id
}

/** Opens the table on a screen that shows all rows of a small account. */
async function openDomains(
  fixture: string | Fixture,
  { secret = false, viewport = { width: 1440, height: 2_000 }, own = false } = {},
) {
  const account = await createAccount(fixture, secret)
  const page = await openDashboard(service, `${account}/domains`, { viewport, own })
  await untilLive(page)
  await page.locator('#domain-count').waitFor()
  return { account, page }
}

/** What GET /dmarc answers to a client of the account. */
async function readRecords(account: string): Promise<{ records: DmarcRecord[]; text: string }> {
  const { body, text } = await service.send('GET', '/dmarc', undefined, { authorization: `Bearer ${account}` })
  return { records: body.data, text }
}

async function readRows(account: string): Promise<Row[]> {
  return (await ask<{ domains: Row[] }>(service, `/accounts/${account}/domains?limit=1000`)).domains
}

const readDomains = async (account: string) => (await readRows(account)).map(({ domain }) => domain)

async function readGroups(account: string) {
  return (await ask<{ groups: { name: string; domains: string[] }[] }>(service, `/accounts/${account}/groups`)).groups
}

/** The requests in the journal, the oldest first, such as `addDomains 200`. */
async function readJournal(account: string): Promise<string[]> {
  const { requests } = await ask<{ requests: { operation: string; status: number }[] }>(
    service,
    `/accounts/${account}/requests`,
  )
  return requests.map(({ operation, status }) => `${operation} ${status}`)
}

/** The names in the drawn rows, from the top. */
async function namesOf(page: Page): Promise<string[]> {
  const rows = await page
    .locator('#domain-rows [data-domain]')
    .evaluateAll((all) =>
      all.map((row) => [Number(row.getAttribute('aria-rowindex')), row.getAttribute('data-domain') ?? ''] as const),
    )
  return rows.toSorted(([one], [other]) => one - other).map(([, name]) => name)
}

/** The number of the last drawn row of many. */
const lastDrawn = async (page: Page) => Number((await namesOf(page)).at(-1)?.slice(1, -8))
const rowOf = (page: Page, domain: string) => page.locator(`#domain-rows [data-domain="${domain}"]`)
const count = (page: Page) => page.locator('#domain-count').textContent()
const head = (page: Page, title: string) =>
  page.locator('.domains .head').getByRole('button', { name: title, exact: true })

async function openSheet(page: Page, domain: string): Promise<Locator> {
  await rowOf(page, domain).locator('[data-kind=open]').click()
  return page.locator('#domain-sheet')
}

const dialogOf = (page: Page) => page.locator('dialog[open]:not(.sheet)')
const press = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true }).click()

async function addNames(page: Page, text: string): Promise<Locator> {
  await press(page, 'Add domains…')
  const dialog = dialogOf(page)
  await dialog.locator('textarea').fill(text)
  return dialog
}

beforeAll(async () => {
  service = await openService({ fixture: 'empty', now: NOW })
})
afterAll(() => service.stop())

describe('the table of domains', () => {
  it('has the figures of GET /dmarc, the features, the groups and a trend', async () => {
    const { account, page } = await openDomains('demo')
    const { records } = await readRecords(account)
    expect(await namesOf(page)).toEqual(records.map(({ domain }) => domain))
    for (const { domain, p, dmarc, spf, count } of records.slice(0, 12)) {
      const cell = (name: string) => rowOf(page, domain).locator(name).textContent()
      expect(await cell('.count')).toBe(count.toLocaleString('en'))
      expect(await cell('.dmarc')).toBe(count === 0 ? '–' : `${dmarc.toFixed(1)} %`)
      expect(await cell('.spf')).toBe(count === 0 ? '–' : `${spf.toFixed(1)} %`)
      expect(await cell('.policy')).toMatch(new RegExp(`^(${p}|no record)`))
    }
    const [group] = await readGroups(account)
    await expect.poll(() => rowOf(page, `${group?.domains[0]}`).locator('.groups').textContent()).toContain(group?.name)
    const trends = page.locator('#domain-rows .sparkline')
    await expect.poll(() => trends.count()).toBeGreaterThan(5)
    expect(await trends.first().getAttribute('aria-label')).toMatch(/^DMARC from [\d.]+ % to [\d.]+ % in 30 days$/)
    expect(await count(page)).toBe(`${records.length} domains`)
  })

  it('is sorted by each column, by mouse and by key, and says how', async () => {
    const { account, page } = await openDomains('demo')
    const { records } = await readRecords(account)
    const added = records.map(({ domain }) => domain)
    const rows = await readRows(account)
    const silent = new Set(rows.filter(({ reports }) => reports === 'none').map(({ domain }) => domain))
    const sorting = (title: string) =>
      page.locator('.domains .head [aria-sort]', { hasText: title }).getAttribute('aria-sort')
    const fields = { DMARC: 'dmarc', DKIM: 'dkim', SPF: 'spf', Messages: 'count' } as const
    for (const [title, field] of Object.entries(fields)) {
      await head(page, title).click()
      // Nothing is known about the mail of domains without reports, so they come last.
      const falling = records
        .toSorted(
          (one, other) =>
            Number(silent.has(one.domain)) - Number(silent.has(other.domain)) || other[field] - one[field],
        )
        .map(({ domain }) => domain)
      await expect.poll(() => namesOf(page)).toEqual(falling)
      expect(await sorting(title)).toBe('descending')
    }
    await head(page, 'Domain').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => namesOf(page)).toEqual(added.toSorted())
    expect([await sorting('Domain'), await sorting('Messages')]).toEqual(['ascending', 'none'])
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await namesOf(page))[0]).toBe(added.toSorted().at(-1))
    await page.keyboard.press('Enter')
    await expect.poll(() => namesOf(page)).toEqual(added)
    for (const title of ['Policy', 'In use', 'Groups']) {
      await head(page, title).click()
      await expect.poll(() => sorting(title)).not.toBe('none')
    }
  })

  it('is filtered by policy, by profile and by a part of the name', async () => {
    const { page } = await openDomains({
      domains: [
        { name: 'one.example', profile: 'enforced', record: { p: 'reject' } },
        { name: 'two.example', profile: 'parked', record: { p: 'reject' } },
        { name: 'three.example', profile: 'no-record' },
        'münchen.example',
      ],
    })
    const shows = (...names: string[]) => expect.poll(() => namesOf(page)).toEqual(names)
    const choose = (part: string, value: string) => page.locator(`#domain-${part}`).selectOption(value)
    await choose('policy', 'reject')
    await shows('one.example', 'two.example')
    expect(await count(page)).toBe('2 of 4 domains')
    await choose('profile', 'parked')
    await shows('two.example')
    await choose('profile', '')
    await choose('policy', 'no record')
    await shows('three.example')
    await choose('policy', '')
    await page.locator('#domain-filter').fill('MÜNCHEN')
    await shows('xn--mnchen-3ya.example')
    await page.locator('#domain-filter').fill('nothing')
    await page.getByText('No domain matches.').waitFor()
  })

  it('has two lines a row on a phone, all rows of one height, whatever their names, and an order without heads', async () => {
    const domains = [LONG, { name: 'b.example', record: { count: 1 } }]
    const { page } = await openDomains({ domains }, { viewport: PHONE })
    expect(await namesOf(page)).toEqual([LONG, 'b.example'])
    const heights = await page
      .locator('#domain-rows > [role=row]')
      .evaluateAll((rows) => rows.map((row) => row.clientHeight))
    expect(new Set(heights).size).toBe(1)
    await page.locator('.phone-order').selectOption('count false')
    await expect.poll(() => namesOf(page)).toEqual(['b.example', LONG])
    const [name = 0, policy = 0, messages = 0] = await Promise.all(
      ['.domain', '.policy', '.count'].map((part) =>
        rowOf(page, 'b.example')
          .locator(part)
          .evaluate((node) => node.getBoundingClientRect().bottom),
      ),
    )
    expect(policy).toBeGreaterThan(name)
    expect(Math.abs(policy - messages)).toBeLessThan(10)
  })
})

describe('ten thousand domains', () => {
  const last = `d${MANY - 1}.example`
  let account: string

  beforeAll(async () => {
    account = await createAccount({ domains: Array.from({ length: MANY }, (_, index) => `d${index}.example`) })
  })

  async function openMany({ own = false } = {}): Promise<Page> {
    const page = await openDashboard(service, `${account}/domains`, { own })
    await expect.poll(() => count(page)).toBe('10,000 domains')
    return page
  }

  it('scroll to the last one, and never more than a hundred rows are drawn', async () => {
    const page = await openMany()
    const rows = page.locator('#domain-rows [data-domain]')
    expect(await rows.count()).toBeLessThan(100)
    expect(await page.getByRole('table', { name: 'Monitored domains' }).getAttribute('aria-rowcount')).toBe('10001')
    const table = page.locator('.table.domains')
    for (const share of [0.1, 1]) {
      await table.evaluate((node, part) => node.scrollTo(0, node.scrollHeight * part), share)
      await expect.poll(() => lastDrawn(page)).toBeGreaterThan(MANY * share - 50)
      expect(await rows.count()).toBeLessThan(100)
    }
    await rowOf(page, last).waitFor()
    expect(await rowOf(page, last).getAttribute('aria-rowindex')).toBe('10001')
    const [bottom = 0, end = 1] = await Promise.all(
      [rowOf(page, last), table].map((each) => each.evaluate((node) => node.getBoundingClientRect().bottom)),
    )
    expect(bottom).toBeLessThanOrEqual(end)
    // Only the trends of rows that are seen are asked for.
    await rowOf(page, last).locator('.trend > *').waitFor()
  })

  it('are reached by the keyboard, and the focus stays when its row is scrolled away', async () => {
    const page = await openMany()
    const focused = () =>
      page.evaluate<string>(`document.activeElement?.closest('[data-domain]')?.getAttribute('data-domain')`)
    await rowOf(page, 'd0.example').locator('[data-kind=open]').focus()
    for (const [key, name] of [
      ['ArrowDown', 'd1.example'],
      ['End', last],
      ['Home', 'd0.example'],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(focused).toBe(name)
    }
    await page.keyboard.press('PageDown')
    await expect.poll(focused).toMatch(/^d[1-9]\d?\.example$/)
    const before = await focused()
    await page.locator('.table.domains').evaluate((node) => node.scrollTo(0, 200_000))
    await expect.poll(() => lastDrawn(page)).toBeGreaterThan(1_000)
    expect(await focused()).toBe(before)
    expect(await page.locator('#domain-rows [data-domain]').count()).toBeLessThan(100)
    await page.keyboard.press('ArrowUp')
    await expect.poll(focused).not.toBe(before)
    for (const key of ['Tab', 'Shift+Tab', 'Enter']) await page.keyboard.press(key)
    await page.locator('#domain-sheet').waitFor()
    const name = await page.locator('#domain-sheet h2').textContent()
    await page.keyboard.press('Escape')
    await expect.poll(focused).toBe(name)
  })

  it('are not loaded again for a change of one', async () => {
    const page = await openMany({ own: true })
    await page.locator('#domain-filter').fill('d4242.')
    const sheet = await openSheet(page, 'd4242.example')
    const changed = 'd4241.example'
    const pages: string[] = []
    page.on('request', (request) => {
      if (/\/domains\?/.test(request.url())) pages.push(new URL(request.url()).search)
    })
    await press(sheet, 'Change…')
    await dialogOf(page).locator('[name=count]').fill('424242')
    await press(dialogOf(page), 'Save')
    await expect.poll(() => rowOf(page, 'd4242.example').locator('.count').textContent()).toBe('424,242')
    expect(pages[0]).toBe(`?limit=1&after=${changed}`)
  })
})

describe('what the page says of mail', () => {
  const openOne = async (fixture: string | Fixture, domain: string) => {
    const account = await createAccount(fixture)
    const page = await openDashboard(service, `${account}/domains/${domain}`, {
      viewport: { width: 1440, height: 2_000 },
    })
    await page.getByRole('heading', { name: domain, exact: true }).waitFor()
    return { account, page }
  }

  it('is "no reports" where no record applies, not "no mail", and what the domain sends is said as such', async () => {
    const name = 'quiet.example'
    const fixture: Fixture = { domains: [{ name, profile: 'no-record', volume: 20 }] }
    const { page } = await openOne(fixture, name)
    const row = page.getByRole('row', { name: new RegExp(name) })
    await expect.poll(() => row.getByText('no reports', { exact: true }).count()).toBe(1)
    expect(await page.getByText('no mail').count()).toBe(0)
    await page.getByText('No reports: no DMARC record applies to it').waitFor()
    await page.getByText('20 messages a month').waitFor()
    await page.getByText('This is what it sends. Without a DMARC record, receivers report nothing of it.').waitFor()
    await page.getByText('nobody knows who sends in its name').first().waitFor()
  })

  it('names the senders of a forged domain, and what another policy would do', async () => {
    const { account, page } = await openOne('demo', 'winter-sale.example')
    const senders = page.getByRole('table', { name: 'Senders' })
    const forged = senders.getByRole('row', { name: /Unknown servers \(forged mail\)/ })
    expect(await forged.textContent()).toMatch(/Neither SPF nor DKIM is aligned\..*0 % pass0 % SPF0 % DKIM$/)
    const { data } = await ask<{ data: never }>(
      service,
      `/accounts/${account}/domains/winter-sale.example/senders`,
    ).then((data) => ({ data: data as unknown as { messages: number; senders: { messages: number }[] } }))
    for (const { messages } of data.senders)
      expect(await senders.textContent()).toContain(messages.toLocaleString('en'))
    await page
      .getByText(`${data.messages.toLocaleString('en')} messages in the 30 days up to 15 January 2026.`)
      .waitFor()

    await page.getByText(/^If the policy were quarantine, then of its [\d,]+ messages/).waitFor()
    await page.getByRole('combobox', { name: 'The policy of the question' }).selectOption('reject')
    await page.getByText(/^If the policy were reject, then of its [\d,]+ messages in the last 30 days/).waitFor()
    const fates = page.getByRole('table', { name: 'What happens to the messages' })
    expect(await fates.getByRole('row', { name: /^Rejected/ }).textContent()).toMatch(
      /^Rejected0 today[\d,]+ with reject[\d,]+ legitimate, [\d,]+ forged$/,
    )
    expect(new URL(page.url()).searchParams.get('if')).toBe('reject')
    await page.reload()
    await page.getByText(/^If the policy were reject, then of its/).waitFor()
  })

  it('keeps what is planned apart from what has begun', async () => {
    const fixture: Fixture = { domains: [{ name: 'a.example', profile: 'rolling-out', since: 'P1D', volume: 9000 }] }
    const { page } = await openOne(fixture, 'a.example')
    await page.getByRole('heading', { name: 'Planned' }).waitFor()
    const planned = page.locator('#planned-events')
    await planned.getByText(/^The policy is quarantine in test mode/).waitFor()
    expect(await planned.textContent()).not.toContain('Since')
    await page.locator('#domain-events').getByText('The policy is none: the rollout begins.').waitFor()
  })

  it('explains fixed values, and shows the days before them as they were', async () => {
    const { account, page } = await openOne({ domains: [{ name: 'a.example', volume: 9000 }] }, 'a.example')
    await change(service, 'PUT', `/accounts/${account}/domains/a.example/dmarc`, { dmarc: 12.5 })
    await lookAgain(page)
    await page.getByText('Somebody gave these fields of its record fixed values, since 2026-01-15').waitFor()
    await page.getByText('Its figures have fixed values, so no sender explains them.').waitFor()
    await page.getByText('The figures as a table').click()
    const figures = page.getByRole('table', { name: 'DMARC of a.example' }).locator('tbody tr')
    await expect.poll(() => figures.last().textContent()).toContain('12.5 %')
    expect((await figures.allTextContents()).filter((text) => text.includes('12.5 %'))).toHaveLength(1)
  })

  it('shows a very large number short, with all of its digits as a title', async () => {
    const count = 900_719_925_474
    const { page } = await openOne({ domains: [{ name: 'a.example', record: { count, dmarc: 100 } }] }, 'a.example')
    const row = page.getByRole('row', { name: /a\.example/ })
    const cell = row.getByTitle('900,719,925,474')
    expect(await cell.innerText()).toContain('900.7B')
  })
})

describe('the rows of a long list', () => {
  it('come with the first page, and the page says how many are there while the rest is loaded', async () => {
    const domains = Array.from({ length: 2_500 }, (_, index) => `d${index}.example`)
    const account = await createAccount({ domains })
    const page = await openDashboard(service, `${account}/overview`, { own: true })
    const gate = newGate()
    await page.route('**/domains?*after=*', async (route) => {
      await gate.opened
      await route.continue()
    })
    await page.getByRole('tab', { name: 'Domains' }).click()
    await page.getByRole('row', { name: /d0\.example/ }).waitFor()
    await page.getByText('100 of 2,500 loaded… Search, filters and sorting cover these until all are there.').waitFor()
    gate.open()
    await page.getByText('2,500 domains', { exact: true }).waitFor()
    await page.getByText('loaded…').waitFor({ state: 'detached' })
  })

  it('keep their order in the address', async () => {
    const { page } = await openDomains('demo')
    await head(page, 'Messages').click()
    await expect.poll(() => new URL(page.url()).searchParams.get('sort')).toBe('-count')
    const names = await namesOf(page)
    await page.reload()
    await expect.poll(() => namesOf(page)).toEqual(names)
  })
})

describe('the sheet of a domain', () => {
  it('has its history, its reasons, its groups, and its record byte for byte', async () => {
    const { account, page } = await openDomains('demo')
    const { text, records } = await readRecords(account)
    const told = (await readRows(account)).find(({ events }) => events.some(({ from }) => from !== null))
    const sheet = await openSheet(page, `${told?.domain}`)
    await sheet.locator('.chart svg').first().waitFor()
    for (const { description } of told?.events ?? []) expect(await sheet.textContent()).toContain(description)
    const shown = (await sheet.locator('#domain-record').textContent()) ?? ''
    expect(JSON.parse(shown)).toEqual(records.find(({ domain }) => domain === told?.domain))
    // A number such as 100.0 keeps its decimal.
    expect(text).toContain(shown.replaceAll(/\n\s*/g, '').replaceAll('": ', '":'))
    await page.keyboard.press('Escape')
    await expect.poll(() => sheet.count()).toBe(0)

    const [group] = await readGroups(account)
    await openSheet(page, `${group?.domains[0]}`)
    await sheet
      .locator('#domain-groups')
      .getByRole('link', { name: `${group?.name}` })
      .click()
    await expect.poll(() => page.locator('#tab-groups').getAttribute('aria-selected')).toBe('true')
    await page.locator('#group-sheet').waitFor()
    await page.keyboard.press('Escape')
    // The sheet does not come back with the tab.
    await page.locator('#tab-domains').click()
    await page.locator('#domain-count').waitFor()
    expect(await sheet.count()).toBe(0)
  })

  it('leads to the domain whose record it inherits', async () => {
    const { page } = await openDomains({
      domains: [
        { name: 'top.example', profile: 'enforced' },
        { name: 'mail.top.example', profile: 'no-record' },
      ],
    })
    const sheet = await openSheet(page, 'mail.top.example')
    await sheet.getByText('no DMARC record').waitFor()
    await sheet.getByRole('link', { name: 'top.example' }).click()
    await expect.poll(() => sheet.locator('h2').first().textContent()).toBe('top.example')
    await sheet.getByText(/v=DMARC1; p=/).waitFor()
  })

  it("changes what the user touches of today's values, and removes the fixed values", async () => {
    const { account, page } = await openDomains({
      domains: [{ name: 'a.example', profile: 'enforced', record: { dkim: 90 } }],
    })
    const readPins = async () => (await readRows(account))[0]
    const [record] = (await readRecords(account)).records
    const sheet = await openSheet(page, 'a.example')
    await press(sheet, 'Change…')
    const dialog = dialogOf(page)
    const field = (name: string) => dialog.locator(`[name=${name}]`)
    for (const [name, value] of Object.entries({ count: `${record?.count}`, p: record?.p, dkim: '90' })) {
      expect([name, await field(name).inputValue()]).toEqual([name, value])
    }
    await field('count').fill('many')
    await press(dialog, 'Save')
    await dialog.getByText('“Messages in 30 days” must be').waitFor()
    await field('count').fill('1200')
    await field('testing').selectOption('y')
    await field('features').fill('bimi, mta-sts')
    await press(dialog, 'Save')
    const pinned = { count: 1200, testing: 'y', dkim: 90 }
    await expect.poll(readPins).toMatchObject({ pinned, features: ['bimi', 'mta-sts'] })
    await expect.poll(() => rowOf(page, 'a.example').locator('.policy').textContent()).toContain('testing')
    await expect.poll(() => sheet.locator('#domain-record').textContent()).toContain('"count": 1200')
    await press(sheet, 'Remove the fixed values')
    await expect.poll(async () => (await readPins())?.pinned).toEqual({})
    await expect.poll(() => sheet.getByRole('button', { name: 'Remove the fixed values' }).count()).toBe(0)
  })

  it('says so when another client removes the domain, and the page goes on', async () => {
    const { account, page } = await openDomains({ domains: ['a.example', 'b.example'] }, { secret: true })
    const sheet = await openSheet(page, 'a.example')
    await press(sheet, 'Change…')
    await change(service, 'DELETE', `/accounts/${account}/domains`, { domains: ['a.example'] })
    await dialogOf(page).locator('[name=count]').fill('1')
    await press(dialogOf(page), 'Save')
    await dialogOf(page).getByText('not_found').waitFor()
    await page.keyboard.press('Escape')
    await sheet.getByText('does not monitor this domain any more').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => namesOf(page)).toEqual(['b.example'])
  })
})

const HANG = { connection: 'hang' }

describe('domains by mouse', () => {
  it("are added with the account's key, so that the journal has the request, and refused with the line it is about", async () => {
    const { account, page } = await openDomains('empty')
    const dialog = await addNames(page, `good.example\n\nbad_name.example\n${NASTY}\n1.2.3.4`)
    await press(dialog, 'Add')
    await dialog.locator('.refusal', { hasText: 'invalid_domain' }).waitFor()
    const words = (await dialog.locator('.refusal').textContent()) ?? ''
    for (const line of [3, 4, 5]) expect(words).toContain(`Line ${line} must be a valid hostname`)
    // The problem that the message tells is not told again, and nothing of what was typed is lost.
    expect(words.split('Line 3')).toHaveLength(2)
    expect(await dialog.locator('textarea').inputValue()).toContain('good.example')
    expect(await readDomains(account)).toEqual([])
    expect(await page.locator('img').count()).toBe(0)
    await dialog.locator('textarea').fill(' , ;')
    await press(dialog, 'Add')
    await dialog.getByText('Write at least one domain.').waitFor()

    await dialog.locator('textarea').fill('A.Example., b.example\nc.example;d.example')
    await dialog.getByText('4 domains, sent as typed.').waitFor()
    await dialog.getByText("Sent to the service's API with the account's key").waitFor()
    await press(dialog, 'Add')
    await expect.poll(() => namesOf(page)).toEqual(['a.example', 'b.example', 'c.example', 'd.example'])
    await page.locator('#toasts', { hasText: '4 domains were added.' }).waitFor()
    expect(await readJournal(account)).toEqual(['addDomains 400', 'addDomains 200'])
    await page.locator('#select-all').check()
    await page.getByText('4 selected').waitFor()
    await rowOf(page, 'b.example').locator('[data-kind=select]').uncheck()
    await press(page, 'Remove…')
    await dialogOf(page).getByText('Remove 3 domains?').waitFor()
    await dialogOf(page).getByText('They are removed from their groups, too.').waitFor()
    await press(dialogOf(page), 'Remove')
    await expect.poll(() => namesOf(page)).toEqual(['b.example'])
    await rowOf(page, 'b.example').locator('[data-kind=select]').check()
    await press(page, 'Remove…')
    await dialogOf(page).getByText('It is removed from its groups, too.').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => readJournal(account)).toEqual(['addDomains 400', 'addDomains 200', 'deleteDomains 200'])
  })

  it('go through the control plane where the key is secret, and the page says so', async () => {
    const { account, page } = await openDomains('empty', { secret: true })
    const dialog = await addNames(page, 'a.example')
    await dialog.getByText('Sent through the control plane, because the key of this account is secret').waitFor()
    expect(await dialog.locator('.service-way input').count()).toBe(0)
    await press(dialog, 'Add')
    await expect.poll(() => namesOf(page)).toEqual(['a.example'])
    const again = await addNames(page, 'x.example\na.example')
    await press(again, 'Add')
    await again.getByText(/invalid_domain\s+Line 2: a\.example is monitored already/).waitFor()
    expect(await readJournal(account)).toEqual([])
  })

  it('are added in as many requests as the limit of the service needs; only what was refused is left', async () => {
    const { account, page } = await openDomains({ domains: ['taken.example'] })
    const names = Array.from({ length: 110 }, (_, index) => `n${index}.example`)
    const dialog = await addNames(page, [...names, 'taken.example'].join('\n'))
    await dialog.getByText('111 domains, sent as typed in 3 requests, because one takes at most 50.').waitFor()
    await press(dialog, 'Add')
    const said = 'taken.example is monitored already. 100 domains were added. Only the others are left above.'
    await dialog.getByText(`Line 11: ${said}`).waitFor()
    expect((await dialog.locator('textarea').inputValue()).split('\n')).toEqual([...names.slice(100), 'taken.example'])
    await dialog.locator('textarea').fill(names.slice(100).join('\n'))
    await press(dialog, 'Add')
    await expect.poll(() => readDomains(account)).toHaveLength(111)
    await expect.poll(() => count(page)).toBe('111 domains')
    expect((await readJournal(account)).map((text) => text.split(' ')[1])).toEqual(['200', '200', '400', '200'])
  })

  it('are not removed while a feature uses them, in the words of the service', async () => {
    const { account, page } = await openDomains({
      domains: [{ name: 'used.example', features: ['bimi'] }, 'free.example'],
    })
    await press(await openSheet(page, 'used.example'), 'Remove…')
    await press(dialogOf(page), 'Remove')
    await dialogOf(page)
      .getByText(/domain_delete_failed.*used\.example is in use by bimi/)
      .waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('dialog[open]').count()).toBe(0)
    await page.locator('#select-all').check()
    await press(page, 'Remove…')
    await dialogOf(page).getByLabel('Leave out what is in use').check()
    await press(dialogOf(page), 'Remove')
    await expect.poll(() => readDomains(account)).toEqual(['used.example'])
    expect(await readJournal(account)).toEqual(['deleteDomains 409', 'deleteDomains 200'])
  })

  it('wait for the quota, or go through the control plane', async () => {
    const { account, page } = await openDomains('empty')
    await change(service, 'PATCH', `/accounts/${account}/quotas`, { bucket: 'domains', remaining: 0 })
    const dialog = await addNames(page, 'a.example')
    await press(dialog, 'Add')
    await dialog.getByText(/rate_limited.*Wait until 10:00:00 UTC of its clock, refill the quota/).waitFor()
    await dialog.getByLabel('Send it through the control plane').check()
    await press(dialog, 'Add')
    await expect.poll(() => namesOf(page)).toEqual(['a.example'])
  })

  it('tell what happened when the service does not answer as it should', async () => {
    const { account, page } = await openDomains('empty', { own: true })
    const faults = `/accounts/${account}/faults`
    await page.clock.install()
    for (const [rule, message] of [
      [{ connection: 'truncate' }, /did not arrive whole.*The change may have been made/],
      [{ respond: { status: 502, body: '<html>Bad gateway</html>' } }, /status 502 and this.*<html>Bad gateway/],
      [{ respond: { status: 503, body: '' } }, /status 503 and an empty body/],
      [{ corrupt: 'malformed-json' }, /status (200|400) and this, which is not what the service answers/],
      [HANG, /has not answered for 20 seconds/],
    ] as const) {
      await change(service, 'POST', faults, { ...rule, times: 1 })
      const dialog = await addNames(page, 'a.example')
      await press(dialog, 'Add')
      if (rule === HANG) {
        const hits = async () => (await ask<{ faults: { hits: number }[] }>(service, faults)).faults.at(-1)?.hits
        await expect.poll(hits).toBe(1)
        await page.clock.fastForward(21_000)
      }
      await dialog.locator('.refusal', { hasText: message }).waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
  })
})

describe('domains that other clients change', () => {
  it('appear in the table, also while there are very many requests', async () => {
    const { account, page } = await openDomains({ domains: ['a.example'] }, { own: true })
    const send = (...request: [string, string, object?]) =>
      service.send(...request, ...(request.length === 2 ? [undefined] : []), { authorization: `Bearer ${account}` })
    let loads = 0
    page.on('request', (request) => {
      if (request.url().includes(`${account}/domains?`)) loads++
    })
    await send('POST', '/domains', { domains: ['b.example'] })
    await Promise.all(Array.from({ length: 100 }, () => send('GET', '/domains')))
    await expect.poll(() => namesOf(page)).toEqual(['a.example', 'b.example'])
    expect(loads).toBeLessThan(6)
    await change(service, 'DELETE', `/accounts/${account}/domains`, { domains: ['a.example'] })
    await lookAgain(page)
    await expect.poll(() => namesOf(page)).toEqual(['b.example'])
  })

  it('never appear in another account that was chosen while they were loaded', async () => {
    const slow = await createAccount({ domains: ['slow.example'] })
    const { account: fast, page } = await openDomains({ domains: ['fast.example'] })
    const gate = newGate()
    await page.route(`**/accounts/${slow}/domains?*`, (route) => gate.opened.then(() => route.continue()))
    await goTo(page, `${slow}/domains`)
    await expect.poll(() => page.locator('#account').inputValue()).toBe(slow)
    await goTo(page, `${fast}/domains`)
    gate.open()
    await expect.poll(() => namesOf(page)).toEqual(['fast.example'])
    expect(await count(page)).toBe('1 domain')
  })
})
