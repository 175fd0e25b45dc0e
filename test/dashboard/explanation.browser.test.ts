import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { ACCOUNT } from '../support/account.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY, startService, type TestService } from '../support/service.ts'
import { ask, openDashboard } from './dashboard-page.ts'

const HEADERS = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }

/** Sends a request, and opens its address on the page. */
async function explain(service: TestService, method: string, path: string, body?: string) {
  await sendRequest(method, service.baseUrl + path, body, HEADERS)
  const { requests } = await ask<{ requests: { request_id: string }[] }>(service, '/requests?limit=1')
  const { page: address } = await ask<{ page: string }>(service, `/explain/${requests[0]?.request_id}`)
  const page = await openDashboard(service, address.replace(/^.*\/accounts\//, ''))
  await page.getByRole('heading', { name: 'Circumstances' }).waitFor()
  return { page, address }
}

const headings = (page: Page) => page.getByRole('heading', { level: 3 }).allTextContents()
const textsOf = async (list: Locator) => (await list.getByRole('listitem').allTextContents()).map((text) => text.trim())

describe('the explanation of a request', () => {
  it('shows the bodies, then the fix as a difference, then the rule, and says what is assumed', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const { page } = await explain(service, 'POST', '/domains', '{"domains":["no host","one.example","new.example"]}')
    await page.getByText('Refused with invalid_domain: domains[0] must be a valid hostname').waitFor()
    expect(await headings(page)).toEqual([
      'The request',
      'The response',
      'A request that the service accepts now',
      'Problems; the response reports the first one',
      'Rules of the specification',
      'Send it again',
      'Circumstances',
      'Assumed, because the specification does not say it',
    ])
    expect(await textsOf(page.getByRole('list', { name: 'What was sent, and what is accepted' }))).toEqual([
      'POST /api/v1/domains',
      '{',
      '"domains": [',
      '− Sent:     "no host",',
      '− Sent:     "one.example",',
      '"new.example"',
      ']',
      '}',
    ])
    await page.getByText('This request changed nothing in the account.').waitFor()
    expect(await page.getByText('`').and(page.locator(':not(pre)')).count()).toBe(0)
    expect(await page.getByText('Basis').count()).toBe(0)
  })

  it('marks where the JSON breaks, and copies the address', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const { page, address } = await explain(service, 'POST', '/domaingroups', '{"name": "x",}')
    expect(await page.locator('mark').textContent()).toBe(' The JSON breaks here: ,')
    expect(await page.getByText('at line 1, column 13: a comma stands before the closing }').count()).toBe(1)
    await page.getByRole('button', { name: 'Copy the address' }).click()
    await page.getByText('Copied.').or(page.getByText('The text is selected')).waitFor()
    await page.getByText(address, { exact: true }).waitFor()
  })

  it.each([
    ['a wrong path', 'GET', '/Domains', 404],
    ['a wrong method', 'PUT', '/domains', 405],
  ])('has code that sends it again for %s', async (_, method, path, status) => {
    const service = await startService()
    const { page } = await explain(service, method, path)
    await page.getByRole('button', { name: 'vitest', exact: true }).click()
    await page.getByText(`toBe(${status})`).waitFor()
  })
})
