import { createHash } from 'node:crypto'
import { requestIn } from './baselines.ts'
import type { Reach } from './counterfactual.ts'
import type { Recording } from './recording.ts'

/**
 * Identifies the requests that an alternative reaches, and its changes to them. If both stay the same, the command gets
 * the same answers.
 */
export function fingerprintOf(
  { alternative, changes, changesCreation }: Reach,
  recording: Recording | undefined,
): string {
  const hash = createHash('sha256').update(JSON.stringify([alternative.value, changesCreation]))
  for (const { index, parts } of changes) {
    const entry = recording?.requests[index]?.entry
    hash.update(JSON.stringify([entry === undefined ? index : requestIn(entry), parts]))
  }
  return hash.digest('hex').slice(0, 32)
}
