import type { Counters } from '../../domain/counting.ts'
import type { FaultTally } from '../../domain/faults.ts'
import type { Hits } from '../../domain/quotas.ts'

export function readCounters(quotas: Iterable<[string, string]>, tallies: Iterable<[string, string]>): Counters {
  const windows = [...quotas].map(([bucket, text]) => [bucket, readHits(text)] as const)
  // Windows are sorted by their beginning.
  windows.sort(([, one], [, other]) => one.startedAt - other.startedAt)
  return {
    quotas: new Map(windows),
    tallies: new Map([...tallies].map(([rule, text]) => [rule, readTally(text)] as const)),
  }
}

export function readHits(text: string): Hits {
  const [startedAt, used] = readNumbers(text)
  return { startedAt, used }
}

export function readTally(text: string): FaultTally {
  const [matched, hits] = readNumbers(text)
  return { matched, hits }
}

export function writeHits({ startedAt, used }: Hits): string {
  return `${startedAt}:${used}`
}

export function writeTally({ matched, hits }: FaultTally): string {
  return `${matched}:${hits}`
}

function readNumbers(text: string): [number, number] {
  const colon = text.indexOf(':')
  return [Number(text.slice(0, colon)), Number(text.slice(colon + 1))]
}
