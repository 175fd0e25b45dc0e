import { plural } from '../../ground/show.ts'
import { PAST } from '../../journal/entry.ts'
import { aboutOf, type ObservedRequest, type RunObservation } from './points.ts'

/** A request of a run for a report, or the number of omitted requests. */
export type StoryLine = StoryRequest | { omitted: number }

interface StoryRequest {
  method: string
  path: string
  /** The names in the request. Absent if it has none, or if a fault kept its body from being read. */
  about?: string
  /** The status of the answer; null if there was none. */
  status: number | null
  code?: string
  /** Whether the service made a change but the client did not learn it. */
  changed?: true
  /** How often it occurred in a row, if more than once. */
  times?: number
  /** The effect of the fault, in a sentence. */
  fault?: string
}

export const NO_EFFECT = 'A fault rule matched, and changed nothing.'
/** How many requests are listed before the first fault, and after the last one. */
const BEFORE = 4
const AFTER = 12

/** The requests of a run near its faults. Equal consecutive requests are listed once. */
export function tellStory({ requests }: Pick<RunObservation, 'requests'>): StoryLine[] {
  const told = requests.reduce<StoryRequest[]>((lines, request) => addRequest(lines, tell(request)), [])
  const faults = told.flatMap(({ fault }, index) => (fault === undefined ? [] : [index]))
  const first = faults[0] ?? 0
  const last = faults.at(-1) ?? 0
  const isNear = (index: number) => index >= first - BEFORE && index <= last + AFTER
  const lines: StoryLine[] = []
  for (const [index, line] of told.entries()) {
    if (isNear(index) || faults.length === 0) lines.push(line)
    else omit(lines, line.times ?? 1)
  }
  return lines
}

function addRequest(lines: StoryRequest[], line: StoryRequest): StoryRequest[] {
  const last = lines.at(-1)
  const { times = 1, ...request } = last ?? line
  if (last !== undefined && JSON.stringify(request) === JSON.stringify(line)) last.times = times + 1
  else lines.push(line)
  return lines
}

function omit(lines: StoryLine[], count: number): void {
  const last = lines.at(-1)
  if (last !== undefined && 'omitted' in last) last.omitted += count
  else lines.push({ omitted: count })
}

function tell({ entry, operation }: ObservedRequest): StoryRequest {
  const { method, status, code, injection, injected } = entry
  const about = aboutOf(entry)
  return {
    method,
    // A path that is unknown to the service may contain anything, even a key.
    path: operation?.path ?? '(no path of the service)',
    ...(about !== '' && { about }),
    status: status ?? null,
    ...(code !== undefined && { code }),
    ...(entry[PAST]?.after !== undefined && injected && { changed: true as const }),
    ...(injection !== undefined && { fault: injection.effect ?? NO_EFFECT }),
  }
}

export function wordStory(line: StoryLine): string {
  if ('omitted' in line) return `… ${plural(line.omitted, 'more request')}`
  const { method, path, about, status, code, changed, times, fault } = line
  const request = `${method} ${path}${about === undefined ? '' : ` (${about})`}`
  const answer = `${status ?? 'no answer'}${code === undefined ? '' : ` ${code}`}`
  return `${request} → ${answer}${changed ? ', and the change was made' : ''}${times === undefined ? '' : ` (${times} times)`}${fault === undefined ? '' : `   ← ${fault}`}`
}
