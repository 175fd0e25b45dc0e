import { getHeapStatistics } from 'node:v8'

/** The heap size in bytes at which Node.js ends. */
export function readHeapLimit(): number {
  return getHeapStatistics().heap_size_limit
}
