import type { Registry } from 'prom-client'
import { reportCoverage } from '../coverage/report.ts'
import type { ControlDeps } from './handler.ts'

let ofProcess: Registry | undefined

/**
 * The metrics of the server in the text format of Prometheus. They count since the start: they do not decrease when an
 * account is reset or deleted.
 */
export async function writeMetrics({ worlds, store }: ControlDeps): Promise<{ type: string; text: string }> {
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client')
  if (ofProcess === undefined) {
    // Once for the process, at the first request for metrics: each call would start another observer.
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  const registry = new Registry()
  const count = (name: string, help: string, value: number) => {
    new Counter({ name: `dmarc_understudy_${name}`, help, registers: [registry] }).inc(value)
  }
  const requests = new Counter({
    name: 'dmarc_understudy_requests_total',
    help: 'Responses of the service. Those of faults and simulations are injected.',
    labelNames: ['operation', 'status', 'code', 'injected'] as const,
    registers: [registry],
  })
  const { operations, outside } = reportCoverage(worlds.totals())
  const answered = [
    ...operations.flatMap(({ operation, responses }) => responses.map((response) => ({ operation, ...response }))),
    ...outside.map((response) => ({ operation: '', ...response })),
  ]
  for (const { operation, status, code = '', genuine, injected } of answered) {
    const labels = { operation, status: String(status), code }
    if (genuine > 0) requests.inc({ ...labels, injected: 'false' }, genuine)
    if (injected > 0) requests.inc({ ...labels, injected: 'true' }, injected)
  }
  count('exchanges_total', 'Requests to the service, including those without a response.', worlds.journal.recorded)
  count('request_seconds_total', 'Time from the arrival of requests to their responses.', worlds.journal.seconds)
  count('fault_hits_total', 'Requests on which fault rules acted.', worlds.faultHits)
  new Gauge({
    name: 'dmarc_understudy_accounts',
    help: 'Accounts, including sandboxes.',
    registers: [registry],
  }).set((await store.list()).length)
  return { type: registry.contentType, text: `${await ofProcess.metrics()}\n${await registry.metrics()}` }
}
