import type { Observation } from './observation.ts'
import { aboutOf } from './points.ts'

/** A request of a run, as a person needs it to understand what the client did; or how many requests are left out. */
export type StoryLine = StoryRequest | { omitted: number }

interface StoryRequest {
  method: string
  path: string
  /** What it is about, by name; left out where the request names nothing, and where a fault kept its body from being read. */
  about?: string
  /** What was answered; null where nothing was. */
  status: number | null
  code?: string
  /** Whether the service made a change, where the client was not told so. */
  changed?: true
  /** How often it came in a row, if more than once. */
  times?: number
  /** What the fault did, in a sentence. */
  fault?: string
}

/** How many requests are told before the first fault, and after the last. */
export const BEFORE = 4
export const AFTER = 12
/** How many are told between two faults, at each end. */
const BETWEEN = 6

/** The requests of a run around its faults. Equal ones that follow each other are told once. */
export function tellStory({ requests }: Pick<Observation, 'requests'>): StoryLine[] {
  const told = requests.reduce<StoryRequest[]>((lines, { entry }) => addRequest(lines, tell(entry)), [])
  const faults = told.flatMap(({ fault }, index) => (fault === undefined ? [] : [index]))
  const first = faults[0] ?? 0
  const last = faults.at(-1) ?? 0
  const isNear = (index: number) =>
    (index < first && index >= first - BEFORE) ||
    (index > last && index <= last + AFTER) ||
    (index >= first && index <= last && faults.some((fault) => Math.abs(fault - index) <= BETWEEN))
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

function tell(entry: Observation['requests'][number]['entry']): StoryRequest {
  const { method, operation, status, code, injection, injected, after } = entry
  const about = aboutOf(entry)
  return {
    method,
    // A path that the service does not have may hold anything, also a key.
    path: operation?.path ?? '(no path of the service)',
    ...(about !== '' && { about }),
    status: status ?? null,
    ...(code !== undefined && { code }),
    ...(after !== undefined && injected && { changed: true as const }),
    ...(injection !== undefined && { fault: injection.effect ?? 'A fault rule matched, and changed nothing.' }),
  }
}

/** A line of a story as a person reads it. */
export function wordStory(line: StoryLine): string {
  if ('omitted' in line) return `… ${line.omitted} more request${line.omitted === 1 ? '' : 's'}`
  const { method, path, about, status, code, changed, times, fault } = line
  const request = `${method} ${path}${about === undefined ? '' : ` (${about})`}`
  const answer = `${status ?? 'no answer'}${code === undefined ? '' : ` ${code}`}`
  return `${request} → ${answer}${changed ? ', and the change was made' : ''}${times === undefined ? '' : ` (${times} times)`}${fault === undefined ? '' : `   ← ${fault}`}`
}
