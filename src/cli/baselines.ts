import { existsSync } from 'node:fs'
import type { JudgedDifference } from '../conformance/finding.ts'
import {
  type AppliedBaseline,
  applyBaseline,
  type Baseline,
  dayOf,
  type Looked,
  readBaseline,
  updateBaseline,
  writeBaseline,
} from '../evidence/baseline.ts'
import { systemClock } from '../ground/clock.ts'
import { checkTarget } from '../reports/targets.ts'
import { type Options, text, toggle, type Values } from '../start/option.ts'
import { UsageError } from './errors.ts'

/** The options of a command that can read a baseline of known findings. */
export const BASELINE_OPTIONS = {
  baseline: {
    kind: text,
    help: 'A JSON file of findings that are known and do not count, each with a reason, and perhaps with the last day on which that holds.',
    placeholder: 'FILE',
  },
  updateBaseline: {
    kind: toggle,
    help: 'Write the findings of this run to the file of --baseline. A finding that is gone is removed from the file only if this run looked for it.',
    default: false,
  },
} as const satisfies Options

/** A baseline as the command line gave it. */
export interface GivenBaseline {
  /** Separates the accepted findings of a run from the others. Accepted findings do not count. */
  apply<Found extends Pick<JudgedDifference, 'id'>>(findings: readonly Found[], looked: Looked): AppliedBaseline<Found>
  /** Rewrites the file for --update-baseline. `findings` are all findings that would count without the baseline. */
  finish(findings: readonly Pick<JudgedDifference, 'id'>[], looked: Looked): Promise<void>
}

/** Reads the file before the work. It may be missing with --update-baseline. @throws UsageError, EvidenceError */
export async function openBaseline({
  baseline: file,
  updateBaseline: isUpdated,
}: Values<typeof BASELINE_OPTIONS>): Promise<GivenBaseline | undefined> {
  if (file === undefined) {
    if (isUpdated) throw new UsageError('--update-baseline: needs --baseline FILE, which it writes')
    return undefined
  }
  const isThere = existsSync(file)
  if (isUpdated) {
    const reason = await checkTarget(file)
    if (reason !== undefined) throw new UsageError(`--baseline ${file}: ${reason}`)
  }
  const baseline: Baseline = isUpdated && !isThere ? { findings: [] } : await readBaseline(file)
  return {
    apply: (findings, looked) => applyBaseline(findings, looked, baseline, dayOf(systemClock())),
    async finish(findings, looked) {
      if (isUpdated) await writeBaseline(file, updateBaseline(findings, looked, baseline))
    },
  }
}
