import { createHash } from 'node:crypto'
import { requestIn } from './baselines.ts'
import type { Reach } from './counterfactual.ts'
import type { Recording } from './recording.ts'

/**
 * Names which requests of a run an alternative reaches and what it changes of them. As long as both stay the same, so does
 * what the command is answered.
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
