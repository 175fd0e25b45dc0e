import { mayHaveChanged } from '../request-lines.ts'
import type { JournalEntry, Snapshot } from '../responses.ts'

/** Something on the timeline of an account. */
export type Moment =
  | { kind: 'snapshot'; snapshot: Snapshot }
  /** A request that changed the account, or may have. */
  | { kind: 'change'; request: JournalEntry }
  /** Requests one after the other that changed nothing, the newest first. */
  | { kind: 'rest'; requests: readonly JournalEntry[] }
  /** The clock went back after the next older request, from what it showed then. */
  | { kind: 'setback'; from: string; to: string }

/**
 * Snapshots and requests on one line, the newest first. `requests` are in the order in which they came. Of a snapshot,
 * only the time on the account's clock is known, so it stands where the clock showed that.
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

/** Instants have different numbers of digits, so their texts cannot be compared. */
function compareInstants(one: string, other: string): number {
  return Date.parse(one) - Date.parse(other)
}
