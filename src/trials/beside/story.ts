import { operationOf } from '../../contract/api.ts'
import type { Contract } from '../../contract/contract.ts'
import { type Entry, PAST } from '../../journal/entry.ts'
import { aboutOf } from '../explore/points.ts'
import type { PairRun } from './pair-run.ts'
import { type CommandSide, SIDES } from './schedule.ts'
import type { PairNames } from './verdict.ts'

/** A request of one of two commands, for a report. */
export interface PairStoryLine {
  command: 1 | 2
  /** Only if the command has several requests under way. */
  thread?: number
  method: string
  path: string
  /** The names in the request. */
  about?: string
  /** The status of the answer; null if there was none. */
  status: number | null
  code?: string
  /** How often it came in a row, if more than once. */
  times?: number
}

/** The most requests of a story: those before and after are left out. */
const LONGEST_STORY = 60

/**
 * The requests of both commands, one after the other. Equal ones in a row are told once, and so are those of commands
 * that wait for ever.
 */
export function tellPair({ end: { steps, halt }, contract }: PairRun): PairStoryLine[] {
  const lastChange = steps.findLastIndex(({ entry }) => entry[PAST]?.after !== undefined)
  const threaded = SIDES.filter((side) => steps.some(({ strand }) => strand.side === side && strand.thread > 1))
  const lines: PairStoryLine[] = []
  for (const [index, { strand, entry }] of steps.entries()) {
    const line = tell(strand.side, threaded.includes(strand.side) ? strand.thread : undefined, entry, contract)
    const isHopeless = halt !== undefined && index > lastChange
    const place = lines.findLastIndex((known, at) => (isHopeless || at === lines.length - 1) && areEqual(known, line))
    const known = lines[place]
    if (known === undefined) lines.push(line)
    else lines[place] = { ...line, times: (known.times ?? 1) + 1 }
  }
  return lines
}

function areEqual({ times: _, ...one }: PairStoryLine, other: PairStoryLine): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function tell(side: CommandSide, thread: number | undefined, entry: Entry, contract: Contract): PairStoryLine {
  const { method, operation, status, code } = entry
  const about = aboutOf(entry)
  return {
    command: side === 0 ? 1 : 2,
    ...(thread !== undefined && { thread }),
    method,
    // A path that is unknown to the service may contain anything, even a key.
    path: operationOf(contract, operation)?.path ?? '(no path of the service)',
    ...(about !== '' && { about }),
    status: status ?? null,
    ...(code !== undefined && { code }),
  }
}

/** A story in two columns. The titles are the commands. */
export interface PairColumns {
  columns: PairNames
  rows: readonly (readonly [string, string])[]
}

/** The story of a run in two columns, with the ends of both commands. */
export function pairColumns(run: PairRun, names: PairNames): PairColumns {
  const lines = tellPair(run)
  const kept = lines.slice(0, LONGEST_STORY)
  const rows = kept.map((line): [string, string] => (line.command === 1 ? [wordLine(line), ''] : ['', wordLine(line)]))
  const rest = lines.length - kept.length
  if (rest > 0) rows.push([`… ${rest} more`, ''])
  rows.push([wordLast(run, 0), wordLast(run, 1)])
  return { columns: names, rows }
}

function wordLine({ thread, method, path, about, status, code, times }: PairStoryLine): string {
  const who = thread === undefined ? '' : `thread ${thread}: `
  const answer = `${status ?? 'no answer'}${code === undefined ? '' : ` ${code}`}`
  const often = times === undefined ? '' : ` (${times} times)`
  return `${who}${method} ${path}${about === undefined ? '' : ` (${about})`} → ${answer}${often}`
}

function wordLast({ end: { ends, halt } }: PairRun, side: CommandSide): string {
  const { exitCode, signal, timedOut } = ends[side]
  // A command that waits is ended together with the other one.
  if (timedOut || (halt !== undefined && exitCode === undefined)) return 'did not end'
  return exitCode === undefined ? `was ended by ${signal}` : `ended with ${exitCode}`
}
