import { onTestFinished } from 'vitest'
import { Relay, type RelayOptions } from '../../src/proxy/relay.ts'
import { targetAt } from '../../src/proxy/target.ts'
import { type PassedExchange, ProxyTraffic } from '../../src/proxy/traffic.ts'

export type TestRelay = Awaited<ReturnType<typeof startRelay>>

/** Starts a relay to a service on a free port, without anything that looks at the traffic; it ends with the test. */
export async function startRelay(url: string, options: Partial<RelayOptions> = {}) {
  const target = targetAt(url, '/api/v1', { insecure: true })
  /** What was told of the traffic, in its order; a text for what is not understood. */
  const told: (PassedExchange | string)[] = []
  const failures: string[] = []
  const malformed: string[] = []
  const foreignHosts: string[] = []
  const traffic = new ProxyTraffic(
    { exchange: (exchange) => void told.push(exchange), unknown: () => void told.push('unknown') },
    () => 0,
  )
  const relay = new Relay({
    target,
    host: '127.0.0.1',
    port: 0,
    maxConnections: 1_000,
    traffic,
    keptPath: '/__admin',
    answer: (_, response) => response.end('kept'),
    malformed: (reason) => malformed.push(reason),
    failed: (error, hasConnected) => failures.push(`${error.code} ${hasConnected}`),
    foreignHost: (host) => foreignHosts.push(host),
    ...options,
  })
  const origin = await relay.listen()
  onTestFinished(() => relay.stop())
  return {
    origin,
    relay,
    target,
    traffic,
    told,
    exchanges: () => told.filter((each) => typeof each !== 'string'),
    failures,
    malformed,
    foreignHosts,
  }
}
