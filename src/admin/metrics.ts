import type { Registry } from 'prom-client'
import { reportCoverage } from '../coverage/report.ts'
import { hasPassed } from '../journal/verdict.ts'
import type { BudgetUse } from '../store/memory-budget.ts'
import { isAway } from '../store/store-error.ts'
import type { ControlDeps } from './handler.ts'
import { writeStoreMetrics } from './store-metrics.ts'

let ofProcess: Registry | undefined

/**
 * The metrics of the server in the text format of Prometheus. They count since the start and do not decrease when an
 * account is reset or deleted. While a shared store is unavailable, the metrics that servers share are left out.
 */
export async function writeMetrics(deps: ControlDeps): Promise<{ type: string; text: string }> {
  const { worlds, readiness, traffic } = deps
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client')
  if (ofProcess === undefined) {
    // This runs once for the process, at the first request for metrics: each call would start another observer.
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  const registry = new Registry()
  const ofStore = writeStoreMetrics(readiness, traffic)
  const memory = (name: string, help: string, pick: (use: BudgetUse) => number) => {
    const gauge = new Gauge({ name, help, labelNames: ['part'] as const, registers: [registry] })
    for (const [part, use] of Object.entries(worlds.memory)) if (use !== undefined) gauge.set({ part }, pick(use))
  }
  memory('dmarc_understudy_memory_bytes', 'Approximate memory that is taken.', ({ used }) => used)
  memory('dmarc_understudy_memory_limit_bytes', 'Memory that may be taken, see --max-memory.', ({ limit }) => limit)
  const write = async () => ({
    type: registry.contentType,
    text: `${await ofProcess?.metrics()}\n${await registry.metrics()}${ofStore}`,
  })
  const shared = await readShared(deps)
  if (shared === undefined) return write()
  const count = (name: string, help: string, value: number) => {
    new Counter({ name: `dmarc_understudy_${name}`, help, registers: [registry] }).inc(value)
  }
  const requests = new Counter({
    name: 'dmarc_understudy_requests_total',
    help: 'Responses of the service. Those of faults and simulations are injected.',
    labelNames: ['operation', 'status', 'code', 'injected'] as const,
    registers: [registry],
  })
  const { operations, outside } = reportCoverage(shared.totals)
  const answered = [
    ...operations.flatMap(({ operation, responses }) => responses.map((response) => ({ operation, ...response }))),
    ...outside.map((response) => ({ operation: '', ...response })),
  ]
  for (const { operation, status, code = '', genuine, injected } of answered) {
    const labels = { operation, status: String(status), code }
    if (genuine > 0) requests.inc({ ...labels, injected: 'false' }, genuine)
    if (injected > 0) requests.inc({ ...labels, injected: 'true' }, injected)
  }
  const { recorded, forgotten, seconds, faultHits, lost } = shared.figures
  count('exchanges_total', 'Requests to the service, including those without a response.', recorded)
  count('journal_forgotten_total', 'Requests that the journal has forgotten because it is full.', forgotten)
  count('request_seconds_total', 'Time from the arrival of requests to their responses.', seconds)
  count('fault_hits_total', 'Requests on which fault rules acted.', faultHits)
  if (lost !== undefined) {
    count(
      'exchanges_lost_total',
      'Requests to this server that the others do not know, because the store was away.',
      lost,
    )
  }
  const { counts } = shared.verdict
  const violations = new Gauge({
    name: 'dmarc_understudy_verdict_violations',
    help: 'Requests that violate the contract, by code, since the start or since the verdict was cleared.',
    labelNames: ['code'] as const,
    registers: [registry],
  })
  for (const [code, count] of Object.entries(counts.byCode)) violations.set({ code }, count)
  for (const [name, of, value] of [
    ['requests', 'Requests', counts.requests],
    ['judged', 'Requests that were checked against the whole contract', counts.judged],
    ['injected', 'Requests that were answered by a fault or a simulation', counts.injected],
  ] as const) {
    const help = `${of}, since the start or since the verdict was cleared.`
    new Gauge({ name: `dmarc_understudy_verdict_${name}`, help, registers: [registry] }).set(value)
  }
  const impolite = new Gauge({
    name: 'dmarc_understudy_verdict_impolite',
    help: 'Requests that use the service as its text asks clients not to, by kind, since the same moment.',
    labelNames: ['kind'] as const,
    registers: [registry],
  })
  for (const [kind, count] of Object.entries(counts.impolite)) impolite.set({ kind }, count)
  new Gauge({
    name: 'dmarc_understudy_verdict_passed',
    help: 'Whether the clients have kept the contract: 1, or 0 when a request violated it or none was checked.',
    registers: [registry],
  }).set(hasPassed(counts) ? 1 : 0)
  new Gauge({
    name: 'dmarc_understudy_accounts',
    help: 'Accounts, including sandboxes.',
    registers: [registry],
  }).set(shared.accounts)
  return write()
}

/** The metrics that servers with the same store share; `undefined` while the store cannot be read. */
async function readShared({ exchanges, store }: ControlDeps) {
  try {
    const [totals, figures, verdict, accounts] = await Promise.all([
      exchanges.totals(),
      exchanges.figures(),
      exchanges.verdict(),
      store.list(),
    ])
    return { totals, figures, verdict, accounts: accounts.length }
  } catch (error) {
    if (isAway(error)) return undefined
    throw error
  }
}
