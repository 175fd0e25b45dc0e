import { findDuplicateField } from '../ground/duplicate-fields.ts'
import { isObject, type Json, parseJson } from '../ground/json.ts'
import { findViolation } from '../ground/schema.ts'
import { shorten } from '../ground/show.ts'
import { writeTarget } from '../reports/targets.ts'
import { EvidenceError } from './evidence-error.ts'
import { readText } from './evidence-text.ts'
import type { Finding } from './finding.ts'

/** A known finding that does not count. */
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

/** What became of an entry in a run. */
type EntryState =
  /** A finding has its id, and does not count. */
  | 'accepted'
  /** A finding has its id and counts, because the last day of the entry is over. */
  | 'expired'
  /** No finding has its id, although what it is about was looked at. */
  | 'fixed'
  /** No finding has its id, and what it is about was not looked at, so nothing is known. */
  | 'not looked at'

export interface AppliedBaseline<Found> {
  /** Those that count. */
  open: readonly Found[]
  accepted: readonly { finding: Found; entry: BaselineEntry }[]
  /** Every entry, in the order of the file. */
  entries: readonly { entry: BaselineEntry; state: EntryState }[]
}

/** Whether a run looked at what a finding of this id would be about. `lookedAt` makes one from the answers of a run. */
export type Looked = (id: string) => boolean

/** How many findings a baseline has at most, and how many bytes its file. */
export const LARGEST_BASELINE = { findings: 10_000, bytes: 8 << 20 }
const LONGEST = 2000
/** The reason of an entry that nobody has thought about. */
const UNDECIDED_REASON = 'to be decided'

/** The schema of the file. */
export const BASELINE_SCHEMA: Json = {
  type: 'object',
  additionalProperties: false,
  required: ['findings'],
  properties: {
    findings: {
      type: 'array',
      maxItems: LARGEST_BASELINE.findings,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['id', 'reason'],
        properties: {
          id: { type: 'string', minLength: 1, maxLength: LONGEST },
          reason: { type: 'string', pattern: String.raw`\S`, maxLength: LONGEST, title: 'a sentence' },
          expires: { type: 'string', pattern: String.raw`^\d{4}-\d\d-\d\d$`, title: 'a day such as 2026-12-31' },
        },
      },
    },
  },
}

/** Reads a file that a person may have written. @throws EvidenceError */
export async function readBaseline(file: string): Promise<Baseline> {
  const text = await readText(file, LARGEST_BASELINE.bytes, 'baseline')
  const found = parseJson(text, (reason) => new EvidenceError(file, '', reason))
  if (!isObject(found)) throw new EvidenceError(file, '', 'A baseline is an object: {"findings": [{"id", "reason"}]}.')
  const duplicate = findDuplicateField(text)
  if (duplicate !== undefined)
    throw new EvidenceError(file, '', `An object has the field ${shorten(duplicate)} more than once.`)
  const violation = await findViolation(BASELINE_SCHEMA, found)
  if (violation !== undefined) throw new EvidenceError(file, violation.pointer, `The value ${violation.reason}.`)
  const { findings } = found as unknown as Baseline
  const places = new Map<string, number>()
  for (const [index, { id, expires }] of findings.entries()) {
    const other = places.get(id)
    if (other !== undefined) {
      throw new EvidenceError(
        file,
        `/findings/${index}/id`,
        `The finding ${shorten(id)} is there twice, also at ${other}.`,
      )
    }
    places.set(id, index)
    if (expires !== undefined && !isDay(expires)) {
      throw new EvidenceError(file, `/findings/${index}/expires`, `There is no day ${expires}.`)
    }
  }
  return { findings }
}

/** Divides the findings of a run by a baseline. `today` is a day in UTC, as `dayOf` names it. */
export function applyBaseline<Found extends Pick<Finding, 'id'>>(
  findings: readonly Found[],
  looked: Looked,
  baseline: Baseline,
  today: string,
): AppliedBaseline<Found> {
  const entries = new Map(baseline.findings.map((entry) => [entry.id, entry]))
  const isOver = ({ expires }: BaselineEntry) => expires !== undefined && expires < today
  const seen = new Set(findings.map(({ id }) => id))
  const open: Found[] = []
  const accepted: { finding: Found; entry: BaselineEntry }[] = []
  for (const finding of findings) {
    const entry = entries.get(finding.id)
    if (entry === undefined || isOver(entry)) open.push(finding)
    else accepted.push({ finding, entry })
  }
  return {
    open,
    accepted,
    entries: baseline.findings.map((entry) => {
      const state = seen.has(entry.id)
        ? isOver(entry)
          ? 'expired'
          : 'accepted'
        : looked(entry.id)
          ? 'fixed'
          : 'not looked at'
      return { entry, state }
    }),
  }
}

/**
 * The baseline under which a run like this one passes, apart from entries that are over. Reasons and days stay as they
 * are. An entry goes only if what it is about was looked at and is gone.
 */
export function updateBaseline(
  findings: readonly Pick<Finding, 'id'>[],
  looked: Looked,
  baseline: Baseline = { findings: [] },
): Baseline {
  const seen = new Set(findings.map(({ id }) => id))
  const kept = baseline.findings.filter(({ id }) => seen.has(id) || !looked(id))
  const known = new Set(baseline.findings.map(({ id }) => id))
  const added = [...seen].filter((id) => !known.has(id)).map((id) => ({ id, reason: UNDECIDED_REASON }))
  return { findings: [...kept, ...added] }
}

/** Replaces the file at once, so that nobody reads half of it. @throws EvidenceError */
export async function writeBaseline(file: string, baseline: Baseline): Promise<void> {
  if (baseline.findings.length > LARGEST_BASELINE.findings) {
    const { findings } = baseline
    throw new EvidenceError(
      file,
      '',
      `There are ${findings.length} findings; a baseline has at most ${LARGEST_BASELINE.findings}.`,
    )
  }
  const reason = await writeTarget(file, `${JSON.stringify(baseline, undefined, 2)}\n`)
  if (reason !== undefined) throw new EvidenceError(file, '', `The baseline ${reason}.`)
}

/**
 * What a run has looked at that judged exchanges with these answers, each `OPERATION/STATUS`. A finding is looked at if its
 * operation answered with its status: that the operation answered otherwise does not say that this answer is right now.
 */
export function lookedAt(answers: ReadonlySet<string>): Looked {
  return (id) => {
    const [, operation = '', status = ''] = id.split('/')
    return answers.has(`${operation}/${status}`)
  }
}

/** The day of an instant in milliseconds since the Unix epoch, in UTC. */
export function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10)
}

function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && dayOf(date.getTime()) === text
}
