import { describe, expect, it } from 'vitest'
import { type Contract, loadContract } from '../../../src/contract/contract.ts'
import { readOverlays } from '../../../src/contract/overlay.ts'
import { writeOverlay } from '../../support/overlay-file.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

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
