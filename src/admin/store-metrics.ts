import { LATENCY_CLASSES, type StoreTraffic } from '../redis/figures.ts'
import type { Readiness } from '../store/readiness.ts'

/** The readiness of the server and its traffic with a store in another process, for Prometheus. */
export function writeStoreMetrics({ state }: Readiness, traffic: StoreTraffic | undefined): string {
  const ready = write('ready', 'gauge', 'Whether the server can do its work: 1, or 0 while its store is away.', [
    ['', state.isReady ? 1 : 0],
  ])
  if (traffic === undefined) return ready
  const { figures, isConnected, servers, queued, incomplete } = traffic
  const counts: readonly [name: string, help: string, value: number][] = [
    ['round_trips', 'Replies of the store, also those that are errors.', figures.roundTrips],
    ['retries', 'Commands that were sent again because the connection was lost before their reply.', figures.retries],
    ['conflicts', 'Changes that were decided again because another server was faster.', figures.conflicts],
    ['unknowns', 'Commands without a reply, of which it is unknown whether they were done.', figures.unknowns],
    ['unavailable', 'Commands that were not done because the store was away.', figures.unavailable],
    [
      'incomplete_answers',
      'Answers of the control plane that may lack requests of other servers, which had not sent them in time.',
      incomplete,
    ],
    ['reconnects', 'Connections to the store that took the place of a lost one.', figures.reconnects],
  ]
  return [
    ready,
    write('store_connected', 'gauge', 'Whether there is a connection to the store: 1, or 0.', [
      ['', isConnected ? 1 : 0],
    ]),
    write('store_servers', 'gauge', 'Servers that share the store, this one included.', [['', servers]]),
    write('store_queued_exchanges', 'gauge', 'Exchanges that the other servers do not know of yet.', [['', queued]]),
    ...counts.map(([name, help, value]) => write(`store_${name}_total`, 'counter', help, [['', value]])),
    write('store_reply_seconds', 'histogram', 'Time from a command to the reply of the store.', latencies(traffic)),
  ].join('')
}

function latencies({ figures }: StoreTraffic): [suffix: string, value: number][] {
  let sum = 0
  const buckets = figures.latencies.map((count, index): [string, number] => {
    sum += count
    const upper = LATENCY_CLASSES[index]
    return [`_bucket{le="${upper === undefined ? '+Inf' : upper / 1_000}"}`, sum]
  })
  return [...buckets, ['_sum', figures.latencySum / 1_000], ['_count', sum]]
}

function write(
  name: string,
  type: 'gauge' | 'counter' | 'histogram',
  help: string,
  samples: readonly (readonly [suffix: string, value: number])[],
): string {
  const full = `dmarc_understudy_${name}`
  const lines = samples.map(([suffix, value]) => `${full}${suffix} ${value}`)
  return [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`, ...lines, ''].join('\n')
}
