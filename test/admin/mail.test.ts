import { describe, expect, it } from 'vitest'
import type { PolicyChangeReport, SendersReport } from '../../src/admin/reports.ts'
import { SENDER_WORDS } from '../../src/figures/mail-words.ts'
import { SENDERS } from '../../src/figures/senders.ts'
import { valueAt } from '../../src/ground/json.ts'
import { askControl, controlApi } from '../support/control-plane.ts'
import { startService } from '../support/service.ts'

const NOW = '2026-01-15T09:00:00Z'
const AT = '/accounts/default/domains'

async function startDemo() {
  const service = await startService({ now: NOW, fixture: 'demo', enforceQuotas: false })
  const ask = async (path: string) => (await askControl(service, 'GET', `${AT}/${path}`)).data
  return {
    service,
    sendersOf: (domain: string): Promise<SendersReport> => ask(`${domain}/senders`),
    changeOf: (domain: string, query: string): Promise<PolicyChangeReport> => ask(`${domain}/policy-change?${query}`),
  }
}

describe('the senders of a domain', () => {
  it('add up to GET /dmarc for every domain of the story, and those of the worst ones are named', async () => {
    const { service, sendersOf } = await startDemo()
    const records = JSON.parse((await service.get('/dmarc')).text).data
    for (const { domain, count } of records) {
      const { messages, passing, senders, reports, note } = await sendersOf(domain)
      if (reports === 'none') {
        expect([messages, passing, senders, note]).toEqual([null, null, null, expect.stringContaining('no reports')])
        continue
      }
      expect([domain, messages]).toEqual([domain, count])
      expect(senders?.reduce((sum, each) => sum + each.messages, 0)).toBe(count)
      expect(senders?.reduce((sum, each) => sum + each.passing, 0)).toBe(passing)
    }
    const { senders } = await sendersOf('news.fjordlight.example')
    expect(senders?.find(({ sender }) => sender === 'new-provider')).toMatchObject({
      kind: 'own',
      name: 'New provider',
    })
    const forged = (await sendersOf('winter-sale.example')).senders
    expect(forged?.[0]).toMatchObject({ sender: 'forgers', kind: 'forged', passing: 0, spf_aligned: 0 })
  })

  it('are not known while figures have fixed values, and are known again after that', async () => {
    const { service, sendersOf } = await startDemo()
    const path = `${AT}/fjordlight.example/dmarc`
    const before = await sendersOf('fjordlight.example')
    await askControl(service, 'PUT', path, { count: 1000, dmarc: 10 })
    const fixed = { reports: 'fixed', messages: 1000, passing: null, share: 10, senders: null }
    const note = 'Its figures have fixed values, so no sender explains them.'
    expect(await sendersOf('fjordlight.example')).toMatchObject({ ...fixed, note })
    await askControl(service, 'PUT', path, { p: 'none' })
    expect(await sendersOf('fjordlight.example')).toEqual(before)
  })

  it('have the names that the document lists, and each has words', () => {
    const place = '/components/schemas/Senders/properties/senders/items/properties/sender'
    expect(valueAt(controlApi.document.resolved, place)).toMatchObject({ enum: [...SENDERS] })
    expect(Object.keys(SENDER_WORDS).toSorted()).toEqual([...SENDERS].toSorted())
  })
})

describe('a change of policy', () => {
  it('says what receivers would do to the mail of a forged domain, and changes nothing', async () => {
    const { service, changeOf, sendersOf } = await startDemo()
    const before = await service.get('/dmarc')
    const { now, changed, mail, message } = await changeOf('winter-sale.example', 'p=reject')
    const { messages, senders } = await sendersOf('winter-sale.example')
    const forged = senders?.find(({ kind }) => kind === 'forged')?.messages
    expect([now?.p, changed.p, mail?.messages]).toEqual(['none', 'reject', messages])
    expect(mail?.now.delivered.messages).toBe(messages)
    expect(mail?.changed.rejected.forged).toBe(forged)
    expect(message).toContain('If the policy were reject, then of its ')
    expect((await service.get('/dmarc')).text).toBe(before.text)
  })

  it('is unknown for a domain without reports, and counts the domains below', async () => {
    const { changeOf } = await startDemo()
    expect(await changeOf('fjordlight-old.test', 'p=reject')).toMatchObject({ now: null, mail: null, reports: 'none' })
    const { below, changed } = await changeOf('fjordlight.example', 'p=reject&sp=none&pct=10&testing=y')
    expect(changed).toEqual({ p: 'reject', sp: 'none', pct: 10, testing: 'y' })
    expect(below.domains).toBeGreaterThan(0)
    expect(below.changed.delivered.messages).toBe(below.messages)
  })

  it.each([
    ['', 'missing_field'],
    ['?p=strict', 'invalid_value'],
    ['?p=reject&pct=101', 'invalid_value'],
    ['?p=reject&pct=1.5', 'invalid_value'],
    ['?p=reject&policy=none', 'unknown_field'],
  ])('asked for with "%s" is refused', async (query, code) => {
    const { service } = await startDemo()
    const { error } = await askControl(service, 'GET', `${AT}/fjordlight.example/policy-change${query}`)
    expect(error.problems.map((each: { code: string }) => each.code)).toContain(code)
  })

  it.each(['senders', 'policy-change?p=none'])(
    'and %s of a domain that is not monitored are not found',
    async (path) => {
      const { service } = await startDemo()
      const { error } = await askControl(service, 'GET', `${AT}/nothing.example/${path}`)
      expect(error).toMatchObject({ code: 'not_found' })
    },
  )
})
