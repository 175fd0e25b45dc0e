import { describe, expect, it } from 'vitest'
import { sendRequest } from '../support/request.ts'
import { API_KEY, startService } from '../support/service.ts'
import { shareBrowser } from '../support/shared-browser.ts'
import { contains, openDashboard, shownPaths, start, textOf } from './browser-page.ts'

describe('the requests on the dashboard', () => {
  shareBrowser()

  it('shows requests as they happen, the newest first, and the earlier ones', async () => {
    const service = await startService()
    await service.get('/dmarc')
    const page = await openDashboard(service)
    await page.until(contains('#request-rows', '/api/v1/dmarc'))
    await service.get('/domains')
    await service.send('POST', '/domaingroups', { name: '' })
    await page.until(contains('#request-rows', '/api/v1/domaingroups'))
    expect(await shownPaths(page)).toEqual(['/api/v1/domaingroups', '/api/v1/domains', '/api/v1/dmarc'])
    expect(await textOf(page, '#request-rows tr')).toMatch(/^09:30:00POST\/api\/v1\/domaingroups400invalid_name/)
  })

  it('shows the newest three hundred, also when these are too long for one page', async () => {
    const service = await startService({ enforceQuotas: false })
    const body = '\u0001'.repeat(10_240)
    for (let number = 1; number <= 320; number++) {
      await sendRequest('POST', `${service.baseUrl}/domains?n=${number}`, body, { authorization: `Bearer ${API_KEY}` })
    }
    const page = await openDashboard(service)
    await page.until(`document.querySelectorAll('#request-rows tr').length === 300`)
    const paths = await shownPaths(page)
    expect([paths[0], paths[299]]).toEqual(['/api/v1/domains?n=320', '/api/v1/domains?n=21'])
  })

  it('filters them by words', async () => {
    const { service, page } = await start()
    await service.get('/dmarc')
    await service.get('/domaingroups?id=nobody')
    await page.until(contains('#request-rows', 'nobody'))
    await page.click('#request-filter')
    await page.type('get 4xx')
    expect(await shownPaths(page)).toEqual(['/api/v1/domaingroups?id=nobody'])
    await service.get('/domaingroups?id=neither')
    await page.until(contains('#request-rows', 'neither'))
    await service.get('/domains')
    await page.until(`document.querySelectorAll('#request-rows tr').length === 4`)
    expect(await shownPaths(page)).toEqual(['/api/v1/domaingroups?id=neither', '/api/v1/domaingroups?id=nobody'])
    await page.type(' nowhere')
    expect(await textOf(page, '#requests-empty')).toBe('None of 4 requests matches the filter.')
  })

  it('shows the text of a request as text, even if it is markup', async () => {
    const { service, page } = await start()
    const attack = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
    await service.send('POST', '/domaingroups', { name: 'x', [attack]: attack }, { 'x-attack': attack })
    await page.until(contains('#request-rows', 'unknown_field'))
    await page.click('#request-rows button')
    await page.until(contains('#detail', 'x-attack'))
    expect(await textOf(page, '#detail')).toContain(attack)
    expect(await page.evaluate(`document.querySelectorAll('img, #detail script').length`)).toBe(0)
    expect(await page.evaluate('document.title')).toBe('dmarc-understudy')
  })

  it('explains a refusal, offers a request that is accepted, and moves to the next request by keyboard', async () => {
    const { service, page } = await start()
    await service.get('/domains')
    await service.send('POST', '/domaingroups', { nam: 'Lamps' })
    await page.until(contains('#request-rows', 'domaingroups'))
    await page.evaluate(`document.querySelector('#request-rows button').focus()`)
    await page.press('Enter')
    await page.until(contains('#detail', 'A request that the service accepts now'))
    const refusal = await textOf(page, '#detail')
    expect(refusal).toContain('Refused with unknown_field')
    expect(refusal).toContain(`--data-raw '{"name":"Lamps"}'`)
    expect(refusal).toContain('Bearer key_TestKey1.[redacted]')
    await page.press('ArrowDown')
    await page.until(contains('#detail', 'listDomains succeeded.'))
    await page.press('Escape')
    expect(await page.evaluate(`document.getElementById('drawer').open`)).toBe(false)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('/api/v1/domaingroups')
  })

  it('also shows, on demand, the requests that belong to no account', async () => {
    const { service, page } = await start()
    await page.click('#everyone')
    await page.until(contains('#connection', 'Live'))
    await service.send('GET', '/domains', undefined, { authorization: null })
    await page.until(contains('#request-rows', 'no account'))
    expect(await textOf(page, '#request-rows')).toContain('401')
  })
})
