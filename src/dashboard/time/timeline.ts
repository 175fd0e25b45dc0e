import { mayHaveChanged } from '../requests/listed-request.ts'
import type { JournalEntry, Snapshot } from '../responses.ts'

export type Moment =
  | { kind: 'snapshot'; snapshot: Snapshot }
  /** A request that changed the account, or may have changed it. */
  | { kind: 'change'; request: JournalEntry }
  /** Consecutive requests that changed nothing, with the newest first. */
  | { kind: 'rest'; requests: readonly JournalEntry[] }
  /** The clock was set back after the next older request, `from` its time then. */
  | { kind: 'setback'; from: string; to: string }

/**
 * The snapshots and requests in one list with the newest first. `requests` are in the order of their arrival. A
 * snapshot has only a time on the clock of the account, so that time determines its place.
 */
export function layTimeline(requests: readonly JournalEntry[], snapshots: readonly Snapshot[]): Moment[] {
  const waiting = snapshots.toSorted((one, other) => compareInstants(other.taken_at, one.taken_at))
  const moments: Moment[] = []
  let rest: JournalEntry[] = []
  const endRest = () => {
    if (rest.length > 0) moments.push({ kind: 'rest', requests: rest })
    rest = []
  }
  let newer: JournalEntry | undefined
  for (const request of requests.toReversed()) {
    if (newer !== undefined && compareInstants(request.at, newer.at) > 0) {
      endRest()
      moments.push({ kind: 'setback', from: request.at, to: newer.at })
    }
    for (let [snapshot] = waiting; snapshot !== undefined; [snapshot] = waiting) {
      if (compareInstants(snapshot.taken_at, request.at) < 0) break
      endRest()
      moments.push({ kind: 'snapshot', snapshot })
      waiting.shift()
    }
    if (mayHaveChanged(request)) {
      endRest()
      moments.push({ kind: 'change', request })
    } else rest.push(request)
    newer = request
  }
  endRest()
  return [...moments, ...waiting.map((snapshot) => ({ kind: 'snapshot', snapshot }) as const)]
}

/** Instants have different numbers of digits, so a comparison of their texts would be wrong. */
function compareInstants(one: string, other: string): number {
  return Date.parse(one) - Date.parse(other)
}
