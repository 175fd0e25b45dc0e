import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

/** The bytes at which Node.js ends because its heap is full. */
export function readHeapLimit(): number {
  return getHeapStatistics().heap_size_limit
}

/** The bytes of memory that the machine has, or its container, which may have less. */
export function readMachineMemory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
