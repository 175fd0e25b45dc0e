import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeFaults } from '../../src/admin/dashboard.ts'
import { loadControlApi } from '../../src/admin/document.ts'
import { shareService } from './dashboard-page.ts'
import { answer, lookAgain, press, see, viewOf, warns } from './user.ts'

const { visit, service } = shareService()
/** The families of the form, by the field of a rule that each fills in. */
const FAMILIES = {
  respond: 'Another response',
  connection: 'The connection fails',
  corrupt: 'A wrong response',
  event: 'Something happens to the account',
  delay_ms: 'A delay',
}

const form = (page: Page) => viewOf(page).getByRole('region', { name: 'Add a rule' })
const field = (page: Page, label: string) => form(page).getByLabel(label, { exact: true })
const list = (page: Page, label: string) => form(page).getByRole('combobox', { name: label, exact: true })
const rules = (page: Page) => viewOf(page).getByRole('region', { name: 'Fault rules' })
const none = (page: Page) => page.getByText('No rules: every response is genuine.').waitFor()

it('makes the service fail by mouse, shows live what a rule does, and leads to the requests that it met', async () => {
  const { page, send } = await visit('faults')
  await none(page)
  await field(page, 'An error of the service').check()
  await list(page, 'Operation').selectOption('listDomains')
  // Only the errors that the operation has can be chosen.
  const codes = await list(page, 'Error').getByRole('option').allTextContents()
  expect([codes.includes('rate_limited'), codes.includes('duplicate_name')]).toEqual([true, false])
  await list(page, 'Error').selectOption('internal_error')
  await field(page, '3 times').check()
  await press(form(page), 'Add the rule')
  const rule = rules(page).getByRole('listitem').first()
  await rule.getByRole('heading', { name: 'The next 3 GET /domains: error internal_error, before anything' }).waitFor()
  await see(rule, 'applied 0 times')
  for (const status of [500, 500, 500, 200]) expect((await send('GET', '/domains')).status).toBe(status)
  await see(rule, 'spent')
  await rule.getByRole('link', { name: 'GET /api/v1/domains' }).first().click()
  const details = page.getByRole('region', { name: 'GET /api/v1/domains' })
  await see(details, 'The response does not show how the service behaves.')
  await details.getByRole('heading', { name: 'The fault' }).waitFor()
})

it('offers every kind of fault with a sentence, and usual rules that fill in the form', async () => {
  const { page, ask } = await visit('faults')
  const newest = async () => (await ask('/faults')).faults.at(-1)?.rule
  const { kinds } = describeFaults(await loadControlApi())
  for (const { name, field: asked, says } of kinds.filter((kind) => kind.field !== 'respond')) {
    await field(page, FAMILIES[asked]).check()
    if (asked === 'delay_ms') await field(page, 'Delay (ms)').fill('1')
    else
      await form(page)
        .getByRole('radio', { name: new RegExp(`^${name}\\b`) })
        .check()
    await see(form(page), says)
    await press(form(page), 'Add the rule')
    await expect.poll(newest).toMatchObject({ times: 1, [asked]: asked === 'delay_ms' ? 1 : name })
  }
  const [usual = ''] = await form(page)
    .getByRole('group', { name: 'Usual rules' })
    .getByRole('button')
    .allTextContents()
  await press(form(page), usual)
  await see(form(page), 'The next POST /domains: connection reset, after the change was made')
})

it('takes all conditions of a rule, the response of any other server, and says of each mistake where it is', async () => {
  const { page, ask, account } = await visit('faults')
  const added = async () => (await ask('/faults')).faults.map(({ rule }: { rule: object }) => rule)
  await field(page, 'Another response').check()
  await field(page, 'Status').fill('502')
  await field(page, 'Retry-After').fill('7')
  await field(page, 'Body').fill('<h1>Bad gateway</h1>')
  await field(page, 'always').check()
  await press(form(page), 'Add the rule')
  await expect.poll(async () => (await added()).length).toBe(1)
  // The contract has no such response, so the answer is not held to it.
  const headers = { authorization: `Bearer ${account}` }
  const response = await fetch(`${service().baseUrl}/domains`, { headers })
  expect([response.status, response.headers.get('retry-after')]).toEqual([502, '7'])
  expect(await response.text()).toBe('<h1>Bad gateway</h1>')
  await press(rules(page), 'Remove fault_1')

  await field(page, 'A delay').check()
  await field(page, 'n times').check()
  await form(page).getByText('More conditions').click()
  const texts = {
    ...{ 'Delay (ms)': '10', 'Jitter (ms)': '5', Times: '4', 'Requests before it acts': '2' },
    ...{ 'Probability (0–1)': '0.5', 'Ends after (such as PT1H)': 'PT1H', Description: 'A slow line' },
  }
  for (const [label, text] of Object.entries(texts)) await field(page, label).fill(text)
  for (const [label, text, refusal] of [
    ['Delay (ms)', '', '“Delay (ms)” must be of type integer'],
    ['Jitter (ms)', '9999999', '“Jitter (ms)” must be at most 600000'],
    ['Times', 'few', '“Times” must be of type integer'],
    ['Probability (0–1)', '7', '“Probability (0–1)” must be at most 1, not 7.'],
    ['Ends after (such as PT1H)', '1h', '“Ends after (such as PT1H)” must be an ISO 8601 duration'],
  ] as const) {
    await field(page, label).fill(text)
    await press(form(page), 'Add the rule')
    await warns(form(page), refusal)
    await field(page, label).fill(texts[label])
  }
  await form(page)
    .getByRole('radio', { name: /^after/ })
    .check()
  await press(form(page), 'Add the rule')
  const slow = { description: 'A slow line', skip: 2, times: 4, probability: 0.5, expires_after: 'PT1H' }
  await expect.poll(added).toEqual([{ ...slow, phase: 'after', delay_ms: 10, jitter_ms: 5 }])
})

it('shows what other clients add, copies a rule as a command, and removes one or, after a question, all', async () => {
  const { page, ask, change } = await visit('faults')
  await change('POST', '/faults', {
    description: `It's "odd"`,
    match: { operation: 'addDomains' },
    connection: 'empty',
  })
  await lookAgain(page)
  const rule = rules(page).getByRole('listitem').first()
  await rule.getByText('fault_1, as code').click()
  await see(rule, /^curl -sS --json '\{.*\}' 'http:\S+\/faults'$/)
  await press(rule, 'Copy fault_1 as curl')
  await see(page, /Copied|The text is selected/)
  await press(page, 'Add the set flaky')
  await expect.poll(async () => (await ask('/faults')).count).toBe(4)
  await press(rules(page), 'Remove fault_2')
  const ids = async () => (await ask('/faults')).faults.map(({ id }: { id: string }) => id)
  await expect.poll(ids).toEqual(['fault_1', 'fault_3', 'fault_4'])
  await press(rules(page), 'Remove all')
  expect(await answer(page, 'Cancel')).toContain('The 3 rules of this account')
  await press(rules(page), 'Remove all')
  await answer(page, 'Remove all')
  await none(page)
  expect(await ids()).toEqual([])
})
