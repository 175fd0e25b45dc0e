import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { isObject } from '../ground/json.ts'

/** Shares of the largest possible heap: above the first, memory is released; above the second, nothing may grow. */
const HIGH = 0.7
const FULL = 0.85

/**
 * Calls the listener with the used and the largest possible size of the heap, in bytes, after each major garbage
 * collection: only then is the used size that of the data. Returns the function that ends this.
 */
export type HeapProbe = (listener: (used: number, limit: number) => void) => () => void

export const probeHeap: HeapProbe = (listener) => {
  const observer = new PerformanceObserver((list) => {
    if (!list.getEntries().some(isMajor)) return
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    listener(used, limit)
  })
  observer.observe({ entryTypes: ['gc'] })
  return () => observer.disconnect()
}

function isMajor(collection: object): boolean {
  const detail = 'detail' in collection ? collection.detail : undefined
  return isObject(detail) && detail['kind'] === constants.NODE_PERFORMANCE_GC_MAJOR
}

export interface HeapGuardOptions {
  /** Called when the heap is almost full: it releases what can be released. */
  relieve?: (() => void) | undefined
  /** Called with a sentence when accounts may no longer grow, once until they may again. */
  warn?: ((message: string) => void) | undefined
  probe?: HeapProbe | undefined
}

/** Keeps the accounts from filling the heap, which would end the process. */
export class HeapGuard {
  /** A sentence about why no account may grow; absent if they may. */
  refusal: string | undefined
  /** Ends the watch over the heap. */
  readonly close: () => void

  constructor({ relieve, warn, probe = probeHeap }: HeapGuardOptions) {
    this.close = probe((used, limit) => {
      if (used > HIGH * limit) relieve?.()
      const wasFull = this.refusal !== undefined
      this.refusal = used > FULL * limit ? describeFull(used, limit) : undefined
      if (this.refusal !== undefined && !wasFull) warn?.(this.refusal)
    })
  }
}

function describeFull(used: number, limit: number): string {
  const [present, most] = [used, limit].map((bytes) => Math.round(bytes / 2 ** 20))
  return `The memory is almost full (${present} of ${most} MiB), so no account may grow: delete accounts, snapshots or domains, or give Node.js more with --max-old-space-size`
}
