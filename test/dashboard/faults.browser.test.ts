import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { loadControlApi } from '../../src/admin/document.ts'
import { describeFaults } from '../../src/admin/fault-facts.ts'
import type { FaultReport } from '../../src/admin/reports.ts'
import { addFault } from '../support/control-plane.ts'
import { API_KEY, type TestService } from '../support/service.ts'
import { ask, change, start } from './dashboard-page.ts'

const FACTS = describeFaults(await loadControlApi())
const HASH = 'default/faults'
const FAMILIES = {
  respond: 'Another response',
  connection: 'The connection fails',
  corrupt: 'A wrong response',
  event: 'Something happens to the account',
  delay_ms: 'A delay',
}

/** What is chosen, whether further conditions are opened, the field with its text, and the refusal. */
const REFUSALS: [choice: string, opens: boolean, label: string, text: string, refusal: string][] = [
  ['Another response', false, 'Status', '700', '“Status” must be at most 599, not 700.'],
  ['Another response', false, 'Status', '', '“Status” must be of type integer, not null.'],
  ['Another response', false, 'Retry-After', 'é', '“Retry-After” must be a header value'],
  ['A delay', false, 'Delay (ms)', '', '“Delay (ms)” must be of type integer'],
  ['A delay', false, 'Delay (ms)', '-1', '“Delay (ms)” must be at least 0'],
  ['A delay', false, 'Jitter (ms)', '9999999', '“Jitter (ms)” must be at most 600000'],
  ['n times', false, 'Times', '0', '“Times” must be at least 1, not 0.'],
  ['n times', false, 'Times', 'few', '“Times” must be of type integer'],
  ['once', true, 'Requests before it acts', '-1', '“Requests before it acts” must be at least 0'],
  ['once', true, 'Probability (0–1)', '7', '“Probability (0–1)” must be at most 1, not 7.'],
  ['once', true, 'Ends after (such as PT1H)', '1h', '“Ends after (such as PT1H)” must be an ISO 8601 duration'],
  ['once', true, 'Description', 'x'.repeat(501), '“Description” must'],
]

async function rulesOf(service: TestService): Promise<FaultReport[]> {
  return (await ask<{ faults: FaultReport[] }>(service, '/accounts/default/faults')).faults
}

function field(page: Page, label: string) {
  return page.getByLabel(label, { exact: true })
}

/** A list of choices; the text of its label would contain the choices. */
function list(page: Page, name: string) {
  return form(page).locator(`select[name="${name}"]`)
}

function form(page: Page) {
  return page.locator('#fault-form')
}

async function addRule(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add the rule' }).click()
}

/** The card of the nth rule; what says that there are none is no card. */
function card(page: Page, index = 0) {
  return page.locator('#faults > li[data-fault]').nth(index)
}

describe('the faults of the dashboard', () => {
  it('are made by mouse, show live what they do, and lead to the requests that they did it to', async () => {
    const { service, page } = await start({}, HASH)
    await page.getByText('No rules: every response is genuine.').waitFor()
    await field(page, 'An error of the service').check()
    await list(page, 'match.operation').selectOption('listDomains')
    await list(page, 'respond.error').selectOption('internal_error')
    await field(page, '3 times').check()
    await addRule(page)
    await card(page).getByText('The next 3 GET /domains: error internal_error, before anything changes').waitFor()
    await card(page).getByText('applied 0 times').waitFor()
    expect((await service.get('/domains')).status).toBe(500)
    await card(page).getByText('applied once').waitFor()
    await card(page).getByText('matched 1').waitFor()
    await card(page).getByText('500 internal_error').waitFor()
    await service.get('/domains')
    await service.get('/domains')
    await card(page).getByText('spent').waitFor()
    await expect.poll(() => card(page).locator('[data-request]').count()).toBe(3)
    expect((await service.get('/domains')).status).toBe(200)
    await card(page).getByRole('link', { name: 'GET /api/v1/domains' }).first().click()
    const detail = page.locator('#detail', { hasText: 'internal_error' })
    await detail.getByText('The response does not show how the service behaves.').waitFor()
    expect(await detail.locator('h3', { hasText: 'The fault' }).count()).toBe(1)
  })

  it('can be of each kind, and each has one sentence of the document of the control plane', async () => {
    const { service, page } = await start({}, HASH)
    for (const { name, field: asked, says } of FACTS.kinds.filter((kind) => kind.field !== 'respond')) {
      expect(says, name).toMatch(/^[A-Z].*\.$/)
      await field(page, FAMILIES[asked]).check()
      if (asked === 'delay_ms') await field(page, 'Delay (ms)').fill('1')
      else await form(page).locator(`input[value="${name}"]`).check()
      await form(page).getByText(says).waitFor()
      await addRule(page)
      const rule = { times: 1, [asked]: asked === 'delay_ms' ? 1 : name }
      await expect.poll(async () => (await rulesOf(service)).at(-1)?.rule).toMatchObject(rule)
    }
    await expect.poll(() => page.locator('#faults > li').count()).toBe(FACTS.kinds.length - 2)
  })

  it('offer only what can be combined: errors that an operation has, and a phase where there are two', async () => {
    const { page } = await start({}, HASH)
    const codes = () => form(page).locator('[name="respond.error"] option').allTextContents()
    await list(page, 'match.operation').selectOption('listDomains')
    await expect.poll(codes).not.toContain('duplicate_name')
    await list(page, 'match.operation').selectOption('createDomainGroup')
    await expect.poll(codes).toContain('duplicate_name')
    await list(page, 'respond.error').selectOption('duplicate_name')
    await list(page, 'match.operation').selectOption('listDomains')
    expect(await codes()).toContain(await form(page).locator('[name="respond.error"]').inputValue())
    const phases = form(page).locator('[name=phase]')
    expect(await phases.count()).toBe(2)
    await field(page, 'The connection fails').check()
    await form(page).locator('[value=truncate]').check()
    await expect.poll(() => phases.count()).toBe(0)
    await field(page, 'Something happens to the account').check()
    await expect.poll(() => phases.count()).toBe(0)
  })

  it('have presets that fill in the form, such as a change whose response is lost', async () => {
    const { service, page } = await start({}, HASH)
    await page.getByRole('button', { name: 'The next POST /domains is lost after the change was made' }).click()
    await form(page).getByText('The next POST /domains: connection reset, after the change was made').waitFor()
    await addRule(page)
    await card(page).waitFor()
    await expect(service.send('POST', '/domains', { domains: ['made.example'] })).rejects.toThrow()
    await card(page).getByText('no response').waitFor()
    expect((await service.get('/domains')).text).toContain('made.example')
    const titles = await page.locator('.fault-presets button').allTextContents()
    for (const [index, title] of titles.entries()) {
      await page.getByRole('button', { name: title }).click()
      await addRule(page)
      await expect.poll(async () => [title, (await rulesOf(service)).length]).toEqual([title, index + 2])
    }
  })

  it('send a response of any other server, with its headers', async () => {
    const { service, page } = await start({}, HASH)
    await field(page, 'Another response').check()
    await field(page, 'Status').fill('502')
    await list(page, 'respond.headers.content-type').selectOption('text/html')
    await field(page, 'Retry-After').fill('7')
    await field(page, 'Body').fill('<h1>Bad gateway</h1>')
    await field(page, 'always').check()
    await addRule(page)
    await card(page).waitFor()
    // The contract documents no such response, to which every request of the support is held.
    const answer = await fetch(`${service.baseUrl}/domains`, { headers: { authorization: `Bearer ${API_KEY}` } })
    expect([answer.status, await answer.text()]).toEqual([502, '<h1>Bad gateway</h1>'])
    expect(Object.fromEntries(answer.headers)).toMatchObject({ 'retry-after': '7', 'content-type': 'text/html' })
  })

  it('take all conditions of a rule', async () => {
    const { service, page } = await start({}, HASH)
    await field(page, 'A delay').check()
    await field(page, 'n times').check()
    await form(page).getByText('More conditions').click()
    for (const [label, text] of Object.entries({
      ...{ 'Delay (ms)': '10', 'Jitter (ms)': '5', Times: '4', 'Requests before it acts': '2' },
      ...{ 'Probability (0–1)': '0.5', 'Ends after (such as PT1H)': 'PT1H', Description: 'A slow line' },
    }))
      await field(page, label).fill(text)
    await list(page, 'match.key').selectOption('key_TestKey1')
    await form(page).locator('[name=phase][value=after]').check()
    await addRule(page)
    const rule = {
      ...{ description: 'A slow line', match: { key: 'key_TestKey1' }, skip: 2, times: 4, probability: 0.5 },
      ...{ phase: 'after', delay_ms: 10, jitter_ms: 5, expires_after: 'PT1H' },
    }
    await expect.poll(async () => (await rulesOf(service))[0]?.rule).toEqual(rule)
  })

  it('show each refusal in the words of the form', async () => {
    const { service, page } = await start({}, HASH)
    for (const [choice, opens, label, text, refusal] of REFUSALS) {
      await field(page, choice).check()
      if (choice === 'A delay') await field(page, 'Delay (ms)').fill('1')
      if (opens && !(await field(page, label).isVisible())) await form(page).getByText('More conditions').click()
      const before = await field(page, label).inputValue()
      await field(page, label).fill(text)
      await addRule(page)
      await form(page).locator('.refusal', { hasText: refusal }).waitFor()
      await field(page, label).fill(before)
    }
    expect(await rulesOf(service)).toEqual([])
  })

  it('are removed one by one, and all of them only after a question', async () => {
    const { service, page } = await start({}, HASH)
    await page.getByRole('button', { name: 'Add the set flaky' }).click()
    await expect.poll(() => page.locator('#faults > li').count()).toBe(3)
    await page.getByRole('button', { name: 'Remove fault_2' }).click()
    await expect.poll(async () => (await rulesOf(service)).map(({ id }) => id)).toEqual(['fault_1', 'fault_3'])
    await page.getByRole('button', { name: 'Remove all' }).click()
    await page.getByRole('dialog').getByText('The 2 rules of this account').waitFor()
    await page.keyboard.press('Escape')
    expect(await rulesOf(service)).toHaveLength(2)
    await page.getByRole('button', { name: 'Remove all' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove all' }).click()
    await page.getByText('No rules: every response is genuine.').waitFor()
    await page.getByRole('button', { name: 'Add the rule' }).click()
    await page.getByRole('button', { name: 'Remove all' }).click()
    await page.getByText('No rules: every response is genuine.').waitFor()
    expect(await rulesOf(service)).toEqual([])
  })

  it('are copied as a command and as code, which add the same rule', async () => {
    const { service, page } = await start({}, HASH)
    const rule = { description: `It's "odd"`, match: { operation: 'addDomains' }, times: 2, connection: 'empty' }
    await addFault(service, rule)
    await card(page).getByText('fault_1, as code').click()
    const [curl = '', code = ''] = await card(page).locator('pre').allTextContents()
    const words = /^curl -sS --json '(.*)' '(.*)'$/s.exec(curl)
    expect(JSON.parse(words?.[1]?.replaceAll(`'\\''`, `'`) ?? '')).toEqual(rule)
    expect(words?.[2]).toMatch(/\/__admin\/accounts\/default\/faults$/)
    const added: unknown[] = []
    const faults = { add: async (given: unknown) => added.push(given) }
    const run = (source: string) => new Function('account', `return (async () => { ${source} })()`)({ faults })
    await run(code)
    expect(added).toEqual([rule])
    // JavaScript has no such names without quotes, or takes one for the prototype.
    const body = JSON.parse('{"1st":{"__proto__":{"a-b":1}}}')
    await addFault(service, { match: { operation: 'addDomains' }, respond: { status: 503, body } })
    await service.get('/dmarc')
    await page.getByText('fault_2, as code').click()
    const [, , , oddCode = ''] = await page.locator('#faults pre').allTextContents()
    await run(oddCode)
    expect(JSON.stringify(added[1])).toContain(JSON.stringify(body))
    await page.getByRole('button', { name: 'Copy fault_1 as curl' }).click()
    await page.getByText(/Copied|The text is selected/).waitFor()
  })

  it('are shown when another client adds and removes them, with any text in them', async () => {
    const { service, page } = await start({}, HASH)
    const description = '<img src=x onerror=alert(1)> \u202eright to left'
    await addFault(service, { description, match: { path: '/domains', method: 'GET' }, delay_ms: 1, jitter_ms: 2 })
    // What other clients change is loaded every few seconds, and after each request.
    await service.get('/dmarc')
    await card(page).getByText('Each GET /domains: delay of 1–3 ms, before anything changes').waitFor()
    expect(await card(page).textContent()).toContain(description)
    expect(await card(page).locator('img').count()).toBe(0)
    await change(service, 'DELETE', '/accounts/default/faults')
    await service.get('/dmarc')
    await page.getByText('No rules: every response is genuine.').waitFor()
  })
})
