import { readHeapLimit, readMachineMemory } from '../ground/machine.ts'
import { JOURNAL_LIMITS } from '../journal/journal.ts'
import { writeBytes } from './option.ts'
import { OptionError } from './option-error.ts'

/** The share of the heap for kept data. The rest is for current requests, for caches, and for the garbage collector. */
const OF_HEAP = 0.6
/** The share of the machine's or container's memory that is used by default. */
const OF_MACHINE = 0.5
/** The share for the journal. */
const OF_JOURNAL = 0.25

/** The division of the memory, in bytes. */
interface Division {
  /** States of accounts and their snapshots. */
  accounts: number
  journal: number
}

/** Divides the given memory, or that of the machine. @throws OptionError for more than Node.js could use */
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
