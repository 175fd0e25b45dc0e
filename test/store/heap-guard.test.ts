import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { probeHeap } from '../../src/store/heap-guard.ts'

it('The heap is measured after a major garbage collection', async () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  let stop = () => {}
  const measured = new Promise<[used: number, limit: number]>((resolve) => {
    stop = probeHeap((used, limit) => resolve([used, limit]))
  })
  collect()
  const [used, limit] = await measured
  stop()
  expect(limit).toBe(getHeapStatistics().heap_size_limit)
  expect(used).toBeGreaterThan(0)
  expect(used).toBeLessThan(limit)
})
