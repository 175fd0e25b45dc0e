import { onTestFinished } from 'vitest'
import { Relay, type RelayOptions } from '../../src/proxy/relay.ts'
import { targetAt } from '../../src/proxy/target.ts'
import { type PassedExchange, ProxyTraffic } from '../../src/proxy/traffic.ts'

export type TestRelay = Awaited<ReturnType<typeof startRelay>>

/** Starts a relay to a service on a free port, without anything that looks at the traffic; it ends with the test. */
export async function startRelay(url: string, options: Partial<RelayOptions> = {}) {
  const target = targetAt(url, '/api/v1', { insecure: true })
  const exchanges: PassedExchange[] = []
  const failures: string[] = []
  const unpassed: string[] = []
  const traffic = new ProxyTraffic(
    (exchange) => exchanges.push(exchange),
    () => 0,
  )
  const relay = new Relay({
    target,
    host: '127.0.0.1',
    port: 0,
    traffic,
    keptPath: '/__admin',
    answer: (_, response) => response.end('kept'),
    unpassed: (reason) => unpassed.push(reason),
    failed: (reason) => failures.push(reason),
    ...options,
  })
  const origin = await relay.listen()
  onTestFinished(() => relay.stop())
  return { origin, relay, target, traffic, exchanges, failures, unpassed }
}
