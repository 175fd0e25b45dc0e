/** The upper ends of the classes in which latencies are counted, in milliseconds. */
export const LATENCY_CLASSES = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000]

/** What the connections to the store have done since the start. */
export class StoreFigures {
  /** Replies, also those that are errors. */
  roundTrips = 0
  /** Commands that were sent again because the connection was lost before their reply. */
  retries = 0
  /** Changes that were decided again because another replica was faster. */
  conflicts = 0
  /** Commands that were sent, and of which nobody knows whether they were done. */
  unknowns = 0
  /** Commands that were not done because the store was away. */
  unavailable = 0
  /** Connections that took the place of a lost one. */
  reconnects = 0
  /** The sum of all latencies, in milliseconds. */
  latencySum = 0
  /** How many latencies are in each class, and at the end how many are in none. */
  readonly latencies: number[] = LATENCY_CLASSES.map(() => 0).concat(0)

  /** `latency` in milliseconds. */
  noteReply(latency: number): void {
    this.roundTrips++
    this.latencySum += latency
    let index = 0
    while (index < LATENCY_CLASSES.length && latency > (LATENCY_CLASSES[index] as number)) index++
    this.latencies[index] = (this.latencies[index] as number) + 1
  }
}

/** What is counted about a store that is another process. */
export interface StoreTraffic {
  readonly figures: StoreFigures
  /** Whether there is a connection. */
  readonly isConnected: boolean
  /** How many servers use the store, as far as is known. */
  readonly servers: number
  /** How many exchanges wait to be told to the other servers. */
  readonly queued: number
}
