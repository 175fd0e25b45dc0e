import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { Schemas } from '../../src/dashboard/responses.ts'
import { shareService, WIDE } from './dashboard-page.ts'
import { answer, detailsOf, dialogOf, lookAgain, press, see } from './user.ts'

const { visit } = shareService()

const table = (page: Page) => page.getByRole('table', { name: 'Monitored domains' })
const rowOf = (page: Page, domain: string) =>
  table(page)
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: domain, exact: true }) })
/** The names in the drawn rows, from the top. */
const namesOf = (page: Page) => table(page).locator('tbody').getByRole('link').allTextContents()
const shows = (page: Page, names: readonly string[]) => expect.poll(() => namesOf(page)).toEqual(names)
const says = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).first().waitFor()
const dialog = dialogOf

async function openDomain(page: Page, domain: string): Promise<Locator> {
  await rowOf(page, domain).getByRole('link').click()
  const details = detailsOf(page, domain)
  await details.waitFor()
  return details
}

async function addNames(page: Page, text: string): Promise<Locator> {
  await press(page, 'Add domains…')
  await dialog(page).getByRole('textbox').fill(text)
  return dialog(page)
}

describe('the view Domains', () => {
  it('has the figures of GET /dmarc, in any order, filtered, and keeps both in the address', async () => {
    const { page, send } = await visit('domains', { fixture: 'demo', ...WIDE })
    const records: Schemas['DmarcRecord'][] = (await send('GET', '/dmarc')).body.data
    await says(page, `${records.length} domains`)
    expect(await namesOf(page)).toEqual(records.map(({ domain }) => domain))
    const { domain, p, dmarc, dkim, spf, count } = records[0] as Schemas['DmarcRecord']
    const shares = [dmarc, dkim, spf].map((share) => `${share.toFixed(1)} %`)
    const cells = await rowOf(page, domain).getByRole('cell').allInnerTexts()
    expect(cells).toEqual(expect.arrayContaining([p, ...shares, count.toLocaleString('en')]))

    const falling = records.toSorted((one, other) => other.count - one.count).slice(0, 5)
    await table(page).getByRole('link', { name: 'Messages' }).click()
    await expect.poll(async () => (await namesOf(page)).slice(0, 5)).toEqual(falling.map((each) => each.domain))
    await table(page).getByRole('link', { name: 'Domain', exact: true }).focus()
    await page.keyboard.press('Enter')
    await shows(page, records.map((each) => each.domain).toSorted())
    const heads = table(page).getByRole('columnheader', { name: 'Domain' })
    await expect.poll(() => heads.evaluateAll((all) => all.map((each) => each.ariaSort))).toContain('ascending')

    await page.getByRole('combobox', { name: 'Policy', exact: true }).selectOption('no record')
    await page.getByRole('searchbox', { name: 'Search domains' }).fill('OLD')
    await shows(page, ['fjordlight-old.test'])
    await says(page, `1 of ${records.length} domains`)
    const kept = new URL(page.url()).searchParams
    expect(Object.fromEntries(kept)).toEqual({ search: 'OLD', policy: 'no record', sort: 'domain' })
    await page.reload()
    await shows(page, ['fjordlight-old.test'])
    await page.getByRole('searchbox', { name: 'Search domains' }).fill('nothing')
    await see(page, 'No domain matches.')
  })

  it('tells of one domain its history and its record', async () => {
    const { page, send } = await visit('domains', { fixture: 'demo', ...WIDE })
    const details = await openDomain(page, 'winter-sale.example')
    await see(details, 'Others forge mail in its name, about 3,508 messages a day.')

    // A number such as 58.0 keeps its decimal.
    const { text } = await send('GET', '/dmarc')
    const written = /\{[^{]*"winter-sale\.example"[^}]*\}/.exec(text)?.[0] ?? 'no record'
    const lines = await details.innerText()
    expect(lines.replaceAll(/\n\s*/g, '').replaceAll('": ', '":')).toContain(written)

    await details.getByRole('link', { name: 'Campaigns' }).click()
    await page
      .getByRole('region', { name: 'Campaigns' })
      .getByRole('link', { name: 'winter-sale.example' })
      .first()
      .click()
    await details.waitFor()
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'detached' })
  })

  it('says what is known of a domain without reports, of one that inherits, and of what is planned', async () => {
    const fixture = {
      domains: [
        { name: 'quiet.example', profile: 'no-record', volume: 20 },
        { name: 'top.example', profile: 'enforced' },
        { name: 'mail.top.example', profile: 'no-record' },
        { name: 'soon.example', profile: 'rolling-out', since: 'P1D', volume: 9_000 },
        { name: 'vast.example', record: { count: 900_719_925_474, dmarc: 100 } },
        'xn--mnchen-3ya.example',
      ],
    }
    const { page } = await visit('domains', { fixture, ...WIDE })
    await rowOf(page, 'quiet.example').getByText('no reports', { exact: true }).waitFor()
    await see(rowOf(page, 'vast.example'), '900,719,925,474')
    // Nothing is known of its mail, so it comes last in either direction.
    for (const order of ['descending', 'ascending']) {
      await table(page).getByRole('link', { name: 'DMARC' }).click()
      await table(page).locator(`th[aria-sort=${order}]`).waitFor()
      await expect.poll(async () => (await namesOf(page)).at(-1)).toBe('quiet.example')
    }
    await page.getByRole('searchbox', { name: 'Search domains' }).fill('MÜNCHEN')
    await shows(page, ['xn--mnchen-3ya.example'])
    await page.getByRole('searchbox', { name: 'Search domains' }).fill('')
    const quiet = await openDomain(page, 'quiet.example')
    await see(quiet, 'No reports: no DMARC record applies to it')
    await see(quiet, 'Without a DMARC record, receivers report nothing of it.')
    const soon = await openDomain(page, 'soon.example')
    await soon.getByText('planned', { exact: true }).first().waitFor()
    await see(soon, /^The policy is quarantine in test mode/)
    const heir = await openDomain(page, 'mail.top.example')
    await see(heir, 'no DMARC record')
    await heir.getByRole('link', { name: 'top.example' }).click()
    await page
      .getByRole('region', { name: 'top.example', exact: true })
      .getByText(/v=DMARC1; p=/)
      .waitFor()
  })

  it('fixes what the user writes, and removes the fixed values', async () => {
    const fixture = { domains: [{ name: 'a.example', profile: 'enforced', record: { dkim: 90 } }] }
    const { page, ask } = await visit('domains', { fixture, ...WIDE })
    const domain = async () => (await ask('/domains')).domains[0]
    const details = await openDomain(page, 'a.example')
    await press(details, 'Change…')
    const field = (label: string | RegExp) => dialog(page).getByLabel(label)
    const count = field('Messages in 30 days')
    expect(await count.getAttribute('placeholder')).toMatch(/^\d+$/)
    await count.fill('many')
    await press(dialog(page), 'Save')
    await see(dialog(page), '“Messages in 30 days” must be')
    await count.fill('1200')
    await field(/^In use by/).fill('bimi, mta-sts')
    await press(dialog(page), 'Save')
    await expect.poll(domain).toMatchObject({ pinned: { count: 1200, dkim: 90 }, features: ['bimi', 'mta-sts'] })
    await see(details, /dkim 90.*count 1200, since 2026-01-15/)
    await see(rowOf(page, 'a.example'), '1,200')
    await press(details, 'Remove the fixed values')
    await expect.poll(async () => (await domain()).pinned).toEqual({})
  })

  it('adds and removes domains as the service would, and says of a refusal which name it is about', async () => {
    const { page, journal } = await visit('domains', WIDE)
    const form = await addNames(page, 'good.example\n\nbad_name.example\n1.2.3.4')
    await press(form, 'Add')
    const refusal = form.getByRole('alert').filter({ hasText: 'invalid_domain' })
    for (const name of ['bad_name.example', '1.2.3.4']) await see(refusal, `“${name}” must be a valid hostname`)
    expect(await form.getByRole('textbox').inputValue()).toContain('good.example')
    await form.getByRole('textbox').fill(' , ;')
    await press(form, 'Add')
    await see(form, 'Write at least one domain.')
    await form.getByRole('textbox').fill('A.Example., b.example\nc.example;d.example')
    await press(form, 'Add')
    await shows(page, ['a.example', 'b.example', 'c.example', 'd.example'])
    await see(page, '4 domains were added.')

    await page.getByRole('checkbox', { name: 'Select all that match' }).check()
    await page.getByRole('checkbox', { name: 'Select b.example' }).uncheck()
    await press(page, 'Remove…')
    expect(await dialog(page).getByRole('textbox').inputValue()).toBe('a.example\nc.example\nd.example')
    expect(await answer(page, 'Remove')).toMatch(/Remove 3 domains\?[\s\S]*They are removed from their groups, too\./)
    await shows(page, ['b.example'])
    expect(await journal()).toEqual([])
  })

  it('says why nothing changed, and offers another way', async () => {
    const fixture = { domains: [{ name: 'used.example', features: ['bimi'] }, 'free.example'] }
    const { page } = await visit('domains', { fixture, ...WIDE })
    await shows(page, ['used.example', 'free.example'])
    await page.getByRole('checkbox', { name: 'Select all that match' }).check()
    await press(page, 'Remove…')
    await see(dialog(page), 'A monitoring feature uses some of them')
    await press(dialog(page), 'Remove')
    await see(dialog(page), /domain_delete_failed.*“used\.example”/)
    await dialog(page).getByRole('textbox').fill('free.example')
    await press(dialog(page), 'Remove')
    await shows(page, ['used.example'])
  })
})

describe('ten thousand domains', () => {
  it('are shown in parts, found by search, and there for what another client changes', async () => {
    const domains = Array.from({ length: 10_000 }, (_, index) => `d${index}.example`)
    const { page, change } = await visit('domains', { fixture: { domains } })
    await says(page, '10,000 domains')
    const rows = () => table(page).locator('tbody tr').count()
    expect(await rows()).toBe(500)
    await press(page, 'Show 500 more of 9,500')
    await expect.poll(rows).toBe(1_000)
    await page.getByRole('searchbox', { name: 'Search domains' }).fill('d4242.')
    await shows(page, ['d4242.example'])
    await change('PUT', '/domains/d4242.example/dmarc', { count: 424_242 })
    await lookAgain(page)
    await see(rowOf(page, 'd4242.example'), '424,242')
  })
})
