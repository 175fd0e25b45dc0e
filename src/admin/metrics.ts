import { reportCoverage } from '../journal/coverage/report.ts'
import type { ControlDeps } from './verb.ts'

/** The metrics of the server in the text format of Prometheus. They are counted elsewhere and only written here. */
export async function writeMetrics({ worlds, store }: ControlDeps): Promise<{ type: string; text: string }> {
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'dmarc_understudy_requests_total',
    help: 'Requests to the service since the start, without those of accounts that are gone or were reset.',
    labelNames: ['operation', 'status', 'code', 'injected'] as const,
    registers: [registry],
  })
  const { operations, outside } = reportCoverage(worlds.coverage())
  const answered = [
    ...operations.flatMap(({ operation, responses }) => responses.map((response) => ({ operation, ...response }))),
    ...outside.map((response) => ({ operation: '', ...response })),
  ]
  for (const { operation, status, code = '', genuine, injected } of answered) {
    const labels = { operation, status: String(status), code }
    if (genuine > 0) requests.inc({ ...labels, injected: 'false' }, genuine)
    if (injected > 0) requests.inc({ ...labels, injected: 'true' }, injected)
  }
  const gauge = (name: string, help: string, value: number) => {
    new Gauge({ name: `dmarc_understudy_${name}`, help, registers: [registry] }).set(value)
  }
  gauge('accounts', 'Accounts, sandboxes included.', worlds.count)
  gauge('journal_requests', 'Requests that the journal ever took in.', worlds.journal.recorded)
  const duration = new Counter({
    name: 'dmarc_understudy_request_seconds_total',
    help: 'Time that requests took, from their arrival to their answer.',
    registers: [registry],
  })
  duration.inc(worlds.journal.seconds)
  const hits = new Counter({
    name: 'dmarc_understudy_fault_hits_total',
    help: 'Requests that fault rules struck.',
    registers: [registry],
  })
  for (const id of await store.list()) {
    const { tallies } = await store.counters(id)
    for (const { hits: struck } of tallies.values()) hits.inc(struck)
  }
  return { type: registry.contentType, text: await registry.metrics() }
}
