import { describe, expect, it, vi } from 'vitest'
import { type Contract, loadContract } from '../../../src/contract/contract.ts'
import { readOverlays } from '../../../src/contract/overlay.ts'
import { RunBudget } from '../../../src/trials/explore/budget.ts'
import { writeOverlay } from '../../support/overlay-file.ts'
import { replaceTime } from '../../support/replaced-time.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const never = new AbortController().signal

/** The contract with quota windows of at most two seconds, and an overlay that changes one of them. */
async function shortened(update: object): Promise<Contract> {
  const overlay = writeOverlay(temporaryFolder(), [{ target: "$.paths['/dmarc']['x-quota']", update }])
  return loadContract({ overlays: await readOverlays([overlay]), longestWindow: 2 })
}

describe('Shortened windows', () => {
  it('keep the limits of the contract', async () => {
    const [usual, short] = [await loadContract(), await loadContract({ longestWindow: 2 })]
    const quotas = short.operations.map(({ quota }) => quota)
    expect(quotas).toEqual(usual.operations.map(({ quota }) => quota && { ...quota, window: 2 }))
  })

  it('are refused where an overlay gives no number', async () => {
    await expect(shortened({ window: 'long' })).rejects.toThrow(/~1dmarc\/x-quota\/window/)
  })

  it('are those of the contract where all are short enough', async () => {
    expect(await loadContract({ longestWindow: Number.POSITIVE_INFINITY })).toBe(await loadContract())
  })
})

describe('A budget', () => {
  it('has so many runs', () => {
    const budget = new RunBudget({ runs: 2 }, never)
    expect([budget.take(), budget.take(), budget.take(), budget.taken]).toEqual([true, true, false, 2])
  })

  it('ends with its time, and ends what goes on', () => {
    replaceTime()
    const budget = new RunBudget({ milliseconds: 1000 }, never)
    vi.advanceTimersByTime(999)
    expect([budget.take(), budget.signal.aborted]).toEqual([true, false])
    vi.advanceTimersByTime(1)
    expect([budget.take(), budget.signal.aborted, budget.taken]).toEqual([false, true, 1])
  })

  it('ends when somebody asks for the end', () => {
    const stop = new AbortController()
    const budget = new RunBudget({}, stop.signal)
    expect(budget.take()).toBe(true)
    stop.abort()
    expect([budget.take(), budget.signal.aborted]).toEqual([false, true])
  })
})
