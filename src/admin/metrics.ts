import type { Gauge as PrometheusGauge, Registry } from 'prom-client'
import { reportCoverage } from '../coverage/report.ts'
import { hasPassed, type VerdictCounts } from '../journal/verdict.ts'
import { isAway } from '../store/store-error.ts'
import type { ControlDeps } from './handler.ts'
import { writeStoreMetrics } from './store-metrics.ts'

/** The labels of a response. */
const ANSWER = ['operation', 'status', 'code', 'injected']

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
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `dmarc_understudy_${name}`, help, labelNames, registers })
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `dmarc_understudy_${name}_total`, help, labelNames, registers })
  const taken = gauge('memory_bytes', 'Approximate memory that is taken.', ['part'])
  const limits = gauge('memory_limit_bytes', 'Memory that may be taken, see --max-memory.', ['part'])
  for (const [part, use] of Object.entries(worlds.memory)) {
    if (use === undefined) continue
    taken.set({ part }, use.used)
    limits.set({ part }, use.limit)
  }
  const write = async () => ({
    type: registry.contentType,
    text: `${await ofProcess?.metrics()}\n${await registry.metrics()}${ofStore}`,
  })
  const shared = await readShared(deps)
  if (shared === undefined) return write()
  const requests = counter(
    'requests',
    'Responses of the service. Those of faults and simulations are injected.',
    ANSWER,
  )
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
  counter('exchanges', 'Requests to the service, including those without a response.').inc(recorded)
  counter('journal_forgotten', 'Requests that the journal has forgotten because it is full.').inc(forgotten)
  counter('request_seconds', 'Time from the arrival of requests to their responses.').inc(seconds)
  counter('fault_hits', 'Requests on which fault rules acted.').inc(faultHits)
  if (lost !== undefined) {
    const help = 'Requests to this server that the others do not know, because the store was away.'
    counter('exchanges_lost', help).inc(lost)
  }
  writeVerdict(shared.verdict.counts, gauge)
  gauge('accounts', 'Accounts, including sandboxes.').set(shared.accounts)
  return write()
}

function writeVerdict(
  counts: VerdictCounts,
  gauge: (name: string, help: string, labels?: string[]) => PrometheusGauge,
): void {
  const since = 'since the start or since the verdict was cleared.'
  const violations = gauge('verdict_violations', `Requests that violate the contract, by code, ${since}`, ['code'])
  for (const [code, count] of Object.entries(counts.byCode)) violations.set({ code }, count)
  gauge('verdict_requests', `Requests, ${since}`).set(counts.requests)
  gauge('verdict_judged', `Requests that were checked against the whole contract, ${since}`).set(counts.judged)
  const injected = `Requests that were answered by a fault or a simulation, ${since}`
  gauge('verdict_injected', injected).set(counts.injected)
  const unkind = 'Requests that use the service as its text asks clients not to, by kind, since the same moment.'
  const impolite = gauge('verdict_impolite', unkind, ['kind'])
  for (const [kind, count] of Object.entries(counts.impolite)) impolite.set({ kind }, count)
  const kept = 'Whether the clients have kept the contract: 1, or 0 when a request violated it or none was checked.'
  gauge('verdict_passed', kept).set(hasPassed(counts) ? 1 : 0)
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
