import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeFaults } from '../../src/admin/about.ts'
import { loadControlApi } from '../../src/contract/control-api.ts'
import { shareService } from './dashboard-page.ts'
import { answer, lookAgain, press, see, viewOf, warns } from './user.ts'

const { visit, service } = shareService()
/** The label of the field with the number of requests. */
const TIMES = 'How many times (empty: always)'
const form = (page: Page) => viewOf(page).getByRole('region', { name: 'Add a rule' })
const field = (page: Page, label: string) => form(page).getByLabel(label, { exact: true })
const list = (page: Page, label: string) => form(page).getByRole('combobox', { name: label, exact: true })
const rules = (page: Page) => viewOf(page).getByRole('region', { name: 'Fault rules' })
const none = (page: Page) => page.getByText('No rules: every response is genuine.').waitFor()

it('makes the service fail, shows live what a rule does, and leads to the requests that it met', async () => {
  const { page, send } = await visit('faults')
  await none(page)
  await list(page, 'What goes wrong').selectOption('error')
  await list(page, 'Operation').selectOption('listDomains')
  // Only the errors that the operation has can be chosen.
  const codes = await list(page, 'Error').getByRole('option').allTextContents()
  expect([codes.includes('rate_limited'), codes.includes('duplicate_name')]).toEqual([true, false])
  await list(page, 'Error').selectOption('internal_error')
  await field(page, TIMES).fill('3')
  // A double click is one.
  await form(page).getByRole('button', { name: 'Add the rule' }).dblclick()
  const rule = rules(page).getByRole('listitem').first()
  await rule.getByRole('heading', { name: 'The next 3 GET /domains: error internal_error, before anything' }).waitFor()
  await see(rule, 'applied 0 times')
  expect(await rules(page).getByRole('heading', { level: 3 }).count()).toBe(1)
  for (const status of [500, 500, 500, 200]) expect((await send('GET', '/domains')).status).toBe(status)
  await see(rule, 'spent')
  await rule.getByRole('link', { name: 'applied 3 times' }).click()
  await see(page, 'Only the requests on which the rule fault_1 acted.')
  const requests = viewOf(page).getByRole('row').getByRole('link')
  await expect.poll(() => requests.count()).toBe(3)
  await requests.first().click()
  const details = page.getByRole('region', { name: 'GET /api/v1/domains' })
  await see(details, 'The response does not show how the service behaves.')
  await details.getByRole('heading', { name: 'The fault' }).waitFor()
})

it('offers every kind of fault with a sentence', async () => {
  const { page, ask } = await visit('faults')
  const newest = async () => (await ask('/faults')).faults.at(-1)?.rule
  const { kinds } = describeFaults(await loadControlApi())
  for (const { name, field: asked, says } of kinds.filter((kind) => kind.field !== 'respond')) {
    await list(page, 'What goes wrong').selectOption(name)
    if (asked === 'delay_ms') await field(page, 'Delay (ms)').fill('1')
    await see(form(page), says)
    await press(form(page), 'Add the rule')
    await expect.poll(newest).toMatchObject({ times: 1, [asked]: asked === 'delay_ms' ? 1 : name })
    if (asked === 'delay_ms') await field(page, 'Delay (ms)').fill('')
  }
})

it('takes all conditions of a rule, the response of any other server, and says of each mistake where it is', async () => {
  const { page, ask, account } = await visit('faults')
  const added = async () => (await ask('/faults')).faults.map(({ rule }: { rule: object }) => rule)
  await list(page, 'What goes wrong').selectOption('status')
  await field(page, 'Status').fill('502')
  await field(page, 'Body').fill('<h1>Bad gateway</h1>')
  await field(page, TIMES).fill('')
  await field(page, 'The rest of the rule').fill('{"respond": {"headers": {"retry-after": "7"}}}')
  await press(form(page), 'Add the rule')
  await expect.poll(async () => (await added()).length).toBe(1)
  // The contract has no such response, so the answer is not held to it.
  const headers = { authorization: `Bearer ${account}` }
  const response = await fetch(`${service().baseUrl}/domains`, { headers })
  expect([response.status, response.headers.get('retry-after')]).toEqual([502, '7'])
  expect(await response.text()).toBe('<h1>Bad gateway</h1>')
  await press(rules(page), 'Remove fault_1')

  await list(page, 'What goes wrong').selectOption('delay')
  const rest = '{"description": "A slow line", "skip": 2, "probability": 0.5, "expires_after": "PT1H", "jitter_ms": 5}'
  const texts = { 'Delay (ms)': '10', [TIMES]: '4', 'The rest of the rule': rest }
  for (const [label, text] of Object.entries(texts)) await field(page, label).fill(text)
  for (const [label, text, refusal] of [
    ['Delay (ms)', '', '“Delay (ms)” must be of type integer'],
    [TIMES, 'few', `“${TIMES}” must be of type integer`],
    ['The rest of the rule', '{"probability": 7}', 'probability must be at most 1, not 7.'],
    ['The rest of the rule', '[1]', '“The rest of the rule” must be a JSON object'],
  ] as const) {
    await field(page, label).fill(text)
    await press(form(page), 'Add the rule')
    await warns(form(page), refusal)
    await field(page, label).fill(texts[label] ?? '')
  }
  await list(page, 'When').selectOption('after')
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
