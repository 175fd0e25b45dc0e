import { describe, expect, it } from 'vitest'
import { startService, type TestService } from '../support/service.ts'
import { change, isTooWide, openDashboard, placeOf, start } from './dashboard-page.ts'

const FIXTURE = {
  domains: ['a.example', 'b.example'],
  groups: [{ name: 'Shop', domains: ['a.example'] }],
}

/** A service with the accounts `before` and `after`, which hold the same. */
async function startTwins(): Promise<TestService> {
  const service = await startService({ fixture: 'empty' })
  for (const id of ['before', 'after']) {
    await change(service, 'POST', '/accounts', { id, fixture: FIXTURE, api_key: `key-of-${id}` })
  }
  return service
}

async function askAs(service: TestService, account: string, method: string, path: string, body?: unknown) {
  return service.send(method, path, body, { authorization: `Bearer key-of-${account}` })
}

describe('the view Compare', () => {
  it('is reached from the account, offers the other accounts, and says on what “no difference” rests', async () => {
    const service = await startTwins()
    const page = await openDashboard(service, 'before/account')
    await page.getByRole('link', { name: /^Compare with another account/ }).click()
    await page.getByRole('heading', { name: 'Compare before with another account' }).waitFor()
    expect(await page.getByRole('link', { name: 'Compare before with before' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Compare before with after' }).click()
    await page.getByRole('heading', { name: 'before compared with after' }).waitFor()
    expect(placeOf(page)).toBe('before/compare/after')
    const holds = page.getByRole('region', { name: 'What they hold' })
    await holds.getByText('No difference').waitFor()
    await holds.getByText(/Both hold the same: 2 domains, 1 group, 1 key and no fault rule/).waitFor()
    for (const name of ['What they asked', 'What they covered']) {
      await page.getByRole('region', { name }).getByText('Too little is known', { exact: true }).waitFor()
    }
    await page.goBack()
    await page.getByRole('heading', { name: 'Compare before with another account' }).waitFor()
  })

  it('shows where two clients part, with links to the requests, domains and groups of each', async () => {
    const service = await startTwins()
    for (const account of ['before', 'after']) await askAs(service, account, 'GET', '/domains')
    await askAs(service, 'before', 'POST', '/domains', { domains: ['new.example'] })
    await askAs(service, 'after', 'POST', '/domains', { domains: ['no host'] })
    await change(service, 'PUT', '/accounts/after/domains/a.example/dmarc', { p: 'reject' })
    const page = await openDashboard(service, 'before/compare/after')
    const holds = page.getByRole('region', { name: 'What they hold' })
    await holds.getByRole('heading', { name: 'Only in before: 1' }).waitFor()
    const asked = page.getByRole('region', { name: 'What they asked' })
    await asked.getByText('Up to request 1, both did the same and got the same answers.').waitFor()
    const table = holds.getByRole('table', { name: 'Domains that differ' })
    expect(await table.getByRole('row', { name: /a\.example.*fixed by hand/ }).innerText()).toMatch(
      /nothing[\s\S]*p=reject/,
    )
    const covered = page.getByRole('region', { name: 'What they covered' })
    await covered.getByText('addDomains → 400').waitFor()

    await page.reload()
    await asked.getByRole('link', { name: /^POST \/domains → 400/ }).click()
    await expect.poll(() => placeOf(page)).toMatch(/^after\/requests\/[\w-]+$/)
    await page
      .getByText(/no host/)
      .first()
      .waitFor()
    await page.goBack()
    await holds.getByRole('link', { name: 'new.example' }).click()
    await expect.poll(() => placeOf(page)).toBe('before/domains/new.example')
    await page.goBack()
    await page.getByRole('heading', { name: 'before compared with after' }).waitFor()
  })

  it('swaps the sides, and compares again what has changed', async () => {
    const service = await startTwins()
    const page = await openDashboard(service, 'before/compare/after')
    await page.getByRole('link', { name: 'Swap sides' }).click()
    await page.getByRole('heading', { name: 'after compared with before' }).waitFor()
    expect(placeOf(page)).toBe('after/compare/before')
    await page.getByText(/Both hold the same/).waitFor()
    await askAs(service, 'after', 'POST', '/domaingroups', { name: 'New', domains: [] })
    await page.getByRole('button', { name: 'Compare again' }).click()
    await page.getByRole('heading', { name: 'Only in after: 1' }).waitFor()
    await page.getByRole('link', { name: 'New', exact: true }).click()
    await expect.poll(() => placeOf(page)).toBe('after/groups/New')
  })

  it('compares an account with its snapshot, which has asked nothing', async () => {
    const service = await startTwins()
    await change(service, 'POST', '/accounts/before/snapshots', { name: 'clean' })
    await askAs(service, 'before', 'DELETE', '/domains', { domains: ['b.example'] })
    const page = await openDashboard(service, 'before/compare')
    await page.getByRole('link', { name: 'Compare before with its snapshot clean' }).click()
    await page.getByRole('heading', { name: 'before compared with its snapshot clean' }).waitFor()
    expect(placeOf(page)).toBe('before/compare?snapshot=clean')
    await page.getByRole('heading', { name: 'Only in the snapshot clean: 1' }).waitFor()
    expect(await page.getByRole('region', { name: 'What they asked' }).count()).toBe(0)
    await page.reload()
    await page.getByText('An earlier state has made no requests of its own').waitFor()
  })

  it('says that an account does not exist', async () => {
    const service = await startTwins()
    const page = await openDashboard(service, 'before/compare/nobody')
    await page.getByText(/There is no account .nobody./).waitFor()
  })

  it('fits a phone', async () => {
    const service = await startTwins()
    await askAs(service, 'before', 'GET', '/domains')
    await askAs(service, 'after', 'POST', '/domains', { domains: ['a-very-long-name-for-a-domain.of-a-brand.example'] })
    const page = await openDashboard(service, 'before/compare/after')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole('region', { name: 'What they covered' }).getByText('Only one of the two has shown').waitFor()
    expect(await isTooWide(page)).toBe(false)
  })

  it('says that there is nothing to compare with yet', async () => {
    const { page } = await start({}, 'default/compare')
    await page.getByText('There is no other account yet.').waitFor()
    await page.getByText('The account has no snapshot.').waitFor()
  })
})
