import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

/** The heap size in bytes at which Node.js ends. */
export function readHeapLimit(): number {
  return getHeapStatistics().heap_size_limit
}

/** The memory of the machine in bytes, or that of its container, which may be smaller. */
export function readMachineMemory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
