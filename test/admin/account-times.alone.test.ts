import { expect, it } from 'vitest'
import { startControlPlane } from '../support/control-plane.ts'
import { processorTime } from '../support/processor-time.ts'

/** The median of what a deed costs, in milliseconds. */
async function median(times: number, deed: (index: number) => Promise<unknown>): Promise<number> {
  const measured: number[] = []
  for (let index = 0; index < times; index++) {
    const started = processorTime()
    await deed(index)
    measured.push(processorTime() - started)
  }
  return measured.toSorted((one, other) => one - other)[times >> 1] ?? Number.POSITIVE_INFINITY
}

it('a new account that is empty takes less than 20 ms', async () => {
  const { post } = await startControlPlane()
  await post('/accounts')
  const taken = await median(50, () => post('/accounts', { fixture: 'empty' }))
  console.info(`POST /accounts with an empty account: ${taken.toFixed(2)} ms`)
  expect(taken).toBeLessThan(20)
})

it('an account of 10,000 domains is reset and restored in less than 50 ms', async () => {
  const { post, create } = await startControlPlane()
  const domains = Array.from({ length: 10_000 }, (_, index) => `d${index}.example`)
  const { id } = await create({ fixture: { domains } })
  await post(`/accounts/${id}/reset`)
  await post(`/accounts/${id}/snapshots`, { name: 's' })
  const reset = await median(9, () => post(`/accounts/${id}/reset`))
  const restored = await median(9, () => post(`/accounts/${id}/snapshots/s/restore`))
  console.info(`Of an account of 10,000 domains: reset ${reset.toFixed(1)} ms, restore ${restored.toFixed(1)} ms`)
  expect(Math.max(reset, restored)).toBeLessThan(50)
})
