import { readHeapLimit, readMachineMemory } from '../ground/machine.ts'
import { JOURNAL_LIMITS } from '../journal/journal.ts'
import { writeBytes } from './option.ts'
import { OptionError } from './option-error.ts'

/** The part of the heap that may be kept. The rest is for requests under way, for caches, and for the collector. */
export const OF_HEAP = 0.6
/** The part of the memory of the machine, or of the container, that is taken without being asked for. */
export const OF_MACHINE = 0.5
/** The part that the journal may have. */
export const OF_JOURNAL = 0.25

/** How much memory, in bytes, is for what. */
interface Division {
  /** States of accounts and their snapshots. */
  accounts: number
  journal: number
}

/** Divides the memory that was given, or that the machine has. @throws OptionError for more than Node.js would take. */
export function divideMemory(given: number | undefined): Division {
  const heap = readHeapLimit()
  const most = Math.floor(heap * OF_HEAP)
  if (given !== undefined && given > most) {
    const enough = Math.ceil(given / OF_HEAP / 2 ** 20)
    const remedy = `must be at most ${writeBytes(most)}, because the heap of Node.js ends at ${writeBytes(heap)}; NODE_OPTIONS=--max-old-space-size=${enough} gives it more`
    throw new OptionError('maxMemory', given, remedy)
  }
  const total = given ?? Math.min(most, Math.floor(readMachineMemory() * OF_MACHINE))
  const journal = Math.min(JOURNAL_LIMITS.total, Math.floor(total * OF_JOURNAL))
  return { accounts: total - journal, journal }
}
