import { describe, expect, it } from 'vitest'
import { withKey } from '../support/account.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { API_KEY } from '../support/service.ts'

interface Metrics {
  types: Map<string, string>
  samples: { name: string; labels: Record<string, string>; value: number }[]
}

/** Reads the text format of Prometheus and holds it to its grammar. */
function parseMetrics(text: string): Metrics {
  const types = new Map<string, string>()
  const helps = new Set<string>()
  const samples: Metrics['samples'] = []
  expect(text.endsWith('\n')).toBe(true)
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, keyword, subject = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? []
    if (keyword === 'HELP') {
      expect(helps.has(subject), line).toBe(false)
      helps.add(subject)
    } else if (keyword === 'TYPE') {
      expect(types.has(subject), line).toBe(false)
      expect(rest).toMatch(/^(counter|gauge|histogram|summary|untyped)$/)
      types.set(subject, rest)
    } else {
      const label = '[a-zA-Z_]\\w*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"'
      const [, name, labels = '', value] =
        new RegExp(`^([a-zA-Z_:][\\w:]*)(?:\\{((?:${label},?)*)\\})? (\\S+)$`).exec(line) ?? []
      if (name === undefined) throw new Error(`This is no sample: ${line}`)
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text])
      expect(types.has(name.replace(/_(bucket|sum|count)$/, '')) || types.has(name), line).toBe(true)
      samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) })
      expect(value, line).toMatch(/^(-?\d+(\.\d+)?(e[+-]?\d+)?|[+-]?Inf|nan)$/i)
    }
  }
  return { types, samples }
}

async function read(service: ObservedService): Promise<Metrics & { text: string }> {
  const { status, headers, text } = await service.ask('GET', '/metrics')
  expect(status).toBe(200)
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
  return { ...parseMetrics(text), text }
}

function total({ samples }: Metrics, name: string): number {
  return samples.filter((each) => each.name === `dmarc_understudy_${name}`).reduce((sum, { value }) => sum + value, 0)
}

describe('the metrics', () => {
  it('count answers by operation, status, code and whether they were injected', async () => {
    const service = await startObserved()
    await service.get('/domains')
    await service.get('/domaingroups?id=0')
    await service.send('GET', '/domains', undefined, { prefer: 'code=rate_limited' })
    const { samples, types } = await read(service)
    const requests = samples.filter(({ name }) => name === 'dmarc_understudy_requests_total')
    expect(types.get('dmarc_understudy_requests_total')).toBe('counter')
    expect(requests.map(({ labels, value }) => ({ ...labels, value }))).toEqual([
      { operation: 'listDomains', status: '200', code: '', injected: 'false', value: 1 },
      { operation: 'listDomains', status: '429', code: 'rate_limited', injected: 'true', value: 1 },
      { operation: 'listDomainGroups', status: '404', code: 'not_found', injected: 'false', value: 1 },
    ])
  })

  it('never decrease, whatever becomes of accounts and of the journal', async () => {
    const service = await startObserved()
    await service.ask('POST', '/accounts/default/faults', { respond: { status: 503 }, times: 1 })
    await service.get('/domains').catch(() => {})
    await service.get('/domains')
    await service.send('GET', '/domains', undefined, withKey('sandbox_short'))
    const names = ['requests', 'exchanges', 'fault_hits', 'journal_forgotten', 'request_seconds']
    const totals = async () => {
      const metrics = await read(service)
      return names.map((name) => total(metrics, `${name}_total`))
    }
    const before = await totals()
    expect(before.slice(0, 3)).toEqual([3, 3, 1])
    for (const path of ['/default/requests', '/default/faults', '/sandbox_short']) {
      await service.ask('DELETE', `/accounts${path}`)
      expect(await totals(), path).toEqual(before)
    }
    await service.ask('POST', '/accounts/default/reset')
    expect(await totals()).toEqual(before)
    await service.get('/domains')
    expect(total(await read(service), 'requests_total')).toBe(4)
  })

  it('show the memory that accounts and the journal take, and may take', async () => {
    const service = await startObserved({ maxMemory: 64 * 2 ** 20, store: undefined })
    const before = await read(service)
    expect(total(before, 'memory_limit_bytes')).toBe(64 * 2 ** 20)
    await service.send('POST', '/domains', { domains: ['one.example', 'two.example'] })
    const added = total(await read(service), 'memory_bytes') - total(before, 'memory_bytes')
    expect(added).toBeGreaterThan(2_000)
    expect(added).toBeLessThan(6_000)
  })

  it('name no account and no secret', async () => {
    const service = await startObserved()
    await service.send('GET', '/domains', undefined, withKey('sandbox_checkout'))
    await service.get(`/${API_KEY}`)
    const { text, samples } = await read(service)
    expect(text).not.toMatch(/sandbox_checkout|key_TestKey1|default"/)
    expect(samples.find(({ name }) => name === 'dmarc_understudy_accounts')?.value).toBe(2)
  })

  it('are the same, however often they are read, but for those of the process', async () => {
    const service = await startObserved()
    const own = async () => (await read(service)).samples.filter(({ name }) => name.startsWith('dmarc_'))
    expect(await own()).toEqual(await own())
  })
})
