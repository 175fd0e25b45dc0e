/** The upper ends of the classes in which latencies are counted, in milliseconds. */
export const LATENCY_CLASSES = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000]

/** Statistics of the connections to the store since the start. */
export class StoreFigures {
  /** Replies, errors included. */
  roundTrips = 0
  /** Commands that were sent again because the connection was lost before their reply. */
  retries = 0
  /** Changes that were decided again because another replica was faster. */
  conflicts = 0
  /** Commands that were sent, but whose outcome is unknown. */
  unknowns = 0
  /** Commands that were not done because the store could not be reached. */
  unavailable = 0
  /** Connections that replaced a lost one. */
  reconnects = 0
  /** The sum of all latencies, in milliseconds. */
  latencySum = 0
  /** The number of latencies in each class; the last number is for latencies above all classes. */
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

/** Figures of a store in another process. */
export interface StoreTraffic {
  readonly figures: StoreFigures
  /** Whether there is a connection. */
  readonly isConnected: boolean
  /** How many servers use the store, as far as is known. */
  readonly servers: number
  /** How many exchanges wait to be sent to the other servers. */
  readonly queued: number
  /** How many answers were given before all other servers had sent what they had. */
  readonly incomplete: number
}
