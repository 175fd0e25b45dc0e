import { findDuplicateField, isObject, parseJson } from '../ground/json.ts'
import { shorten } from '../ground/show.ts'
import { RealDate } from '../ground/timers.ts'
import type { AnswerCounts } from '../judge/answer-counts.ts'
import type { JudgedDifference } from '../judge/finding.ts'
import { writeTarget } from '../reports/targets.ts'
import { checkContent, EvidenceError, readText } from './evidence-input.ts'

/** A known finding that does not fail a run. */
export interface BaselineEntry {
  /** The id of the finding. */
  id: string
  /** Why it is accepted. */
  reason: string
  /** The last day on which it holds, in UTC: `2026-12-31`. */
  expires?: string
}

export interface Baseline {
  findings: readonly BaselineEntry[]
}

/** What a run says about an entry. */
type EntryState =
  /** A finding has this id, and does not count. */
  | 'accepted'
  /** A finding has this id and counts, because the last day of the entry is over. */
  | 'expired'
  /** No finding has this id, although the run looked at its subject. */
  | 'fixed'
  /** No finding has this id, and the run did not look at its subject, so its state is unknown. */
  | 'not looked at'

export interface AppliedBaseline {
  /** The entries by whose ids findings do not count, by id. */
  accepted: ReadonlyMap<string, BaselineEntry>
  /** Every entry, in the order of the file. */
  entries: readonly { entry: BaselineEntry; state: EntryState }[]
}

/** Whether a run looked at the subject of a finding with this id. `lookedAt` makes one from the answers of a run. */
export type Looked = (id: string) => boolean

/** In bytes. */
const LARGEST_BASELINE = 8 << 20
/** The reason of an entry that the user has not edited yet. */
const UNDECIDED_REASON = 'to be decided'

/** Reads a file that a user may have written. @throws EvidenceError */
export async function readBaseline(file: string): Promise<Baseline> {
  const text = await readText(file, LARGEST_BASELINE, 'baseline')
  const fail = (pointer: string, reason: string) => new EvidenceError(file, pointer, reason)
  const found = parseJson(text, (reason) => fail('', reason))
  if (!isObject(found)) throw fail('', 'A baseline is an object: {"findings": [{"id", "reason"}]}.')
  const duplicate = findDuplicateField(text)
  if (duplicate !== undefined) throw fail('', `An object has the field ${shorten(duplicate)} more than once.`)
  await checkContent(file, 'baseline', found)
  const { findings } = found as unknown as Baseline
  const ids = findings.map(({ id }) => id)
  for (const [index, { id, expires }] of findings.entries()) {
    const at = `/findings/${index}`
    const other = ids.indexOf(id)
    if (other < index) throw fail(`${at}/id`, `The finding ${shorten(id)} is there twice, also at ${other}.`)
    if (expires !== undefined && !isDay(expires)) throw fail(`${at}/expires`, `There is no day ${expires}.`)
  }
  return { findings }
}

/** Compares the findings of a run with a baseline. `today` is a day in UTC, as `dayOf` names it. */
export function applyBaseline(
  findings: readonly Pick<JudgedDifference, 'id'>[],
  looked: Looked,
  baseline: Baseline,
  today: string,
): AppliedBaseline {
  const seen = new Set(findings.map(({ id }) => id))
  const entries = baseline.findings.map((entry) => {
    const { id, expires = today } = entry
    const present: EntryState = expires < today ? 'expired' : 'accepted'
    const absent: EntryState = looked(id) ? 'fixed' : 'not looked at'
    return { entry, state: seen.has(id) ? present : absent }
  })
  const accepted = entries.filter(({ state }) => state === 'accepted').map(({ entry }) => entry)
  return { accepted: new Map(accepted.map((entry) => [entry.id, entry])), entries }
}

/**
 * The baseline under which an equal run passes, apart from expired entries. Reasons and days are kept. An entry is
 * removed only if the run looked at its subject and did not find it.
 */
export function updateBaseline(
  findings: readonly Pick<JudgedDifference, 'id'>[],
  looked: Looked,
  baseline: Baseline = { findings: [] },
): Baseline {
  const seen = new Set(findings.map(({ id }) => id))
  const kept = baseline.findings.filter(({ id }) => seen.has(id) || !looked(id))
  const known = new Set(baseline.findings.map(({ id }) => id))
  const added = [...seen].filter((id) => !known.has(id)).map((id) => ({ id, reason: UNDECIDED_REASON }))
  return { findings: [...kept, ...added] }
}

/** Replaces the file atomically, so that no reader sees half of it. @throws EvidenceError */
export async function writeBaseline(file: string, baseline: Baseline): Promise<void> {
  const reason = await writeTarget(file, `${JSON.stringify(baseline, undefined, 2)}\n`)
  if (reason !== undefined) throw new EvidenceError(file, '', `The baseline ${reason}.`)
}

/**
 * What a run looked at that judged exchanges with these answers. It looked at a finding if the
 * operation answered with the status of the finding. Another answer does not show that this answer is right now.
 */
export function lookedAt({ counts }: Pick<AnswerCounts, 'counts'>): Looked {
  return (id) => {
    const [, operation = '', status = ''] = id.split('/')
    return counts.has(`${operation}/${status}`)
  }
}

/** The UTC day of a time in milliseconds since the Unix epoch. */
export function dayOf(now: number): string {
  return new RealDate(now).toISOString().slice(0, 10)
}

function isDay(text: string): boolean {
  const date = new RealDate(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && dayOf(date.getTime()) === text
}
