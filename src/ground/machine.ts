import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** The heap size in bytes at which Node.js ends. */
export function readHeapLimit(): number {
  return getHeapStatistics().heap_size_limit
}

/**
 * Lets the engine of Node 20 optimise code later. It optimises so early that this takes a third of the time of a
 * program that ends after seconds. Later engines have no such option, because they try a cheaper compiler first.
 */
export function optimiseLater(): void {
  if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=600000')
}
