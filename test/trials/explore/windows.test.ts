import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import { valueAt } from '../../../src/ground/json.ts'
import { RunBudget } from '../../../src/trials/explore/budget.ts'
import { longestWindow, shortenWindows } from '../../../src/trials/explore/windows.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const never = new AbortController().signal

describe('Shortened windows', () => {
  it('keep the limits of the contract', async () => {
    const [usual, short] = [await loadContract(), await shortenWindows([], 2)]
    const quotas = short.operations.map(({ quota }) => quota)
    expect(quotas).toEqual(usual.operations.map(({ quota }) => quota && { ...quota, window: 2 }))
    expect([longestWindow(usual), longestWindow(short)]).toEqual([3600, 2])
  })

  it('are in the document that is served, and in no other', async () => {
    const [usual, short] = [await loadContract(), await shortenWindows([], 2)]
    const windows = [usual, short].map(({ document }) => valueAt(document.source, '/paths/~1domains/x-quota/window'))
    expect(windows).toEqual([3600, 2])
  })

  it('are refused where an overlay gives no number', async () => {
    const path = join(temporaryFolder(), 'overlay.yaml')
    const actions = "[{target: \"$.paths['/dmarc']['x-quota']\", update: {window: long}}]"
    writeFileSync(path, `overlay: 1.0.0\ninfo: {title: x, version: 1.0.0}\nactions: ${actions}\n`)
    await expect(shortenWindows([path], 2)).rejects.toThrow(/~1dmarc\/x-quota\/window/)
  })

  it('leave alone what is as short, and apply the overlays before', async () => {
    const path = join(temporaryFolder(), 'overlay.yaml')
    const actions = "[{target: \"$.paths['/dmarc']['x-quota']\", update: {window: 1, limit: 3}}]"
    writeFileSync(path, `overlay: 1.0.0\ninfo: {title: x, version: 1.0.0}\nactions: ${actions}\n`)
    const { operations } = await shortenWindows([path], 2)
    const windows = Object.fromEntries(operations.map((operation) => [operation.path, operation.quota?.window]))
    expect(windows).toEqual({ '/dmarc': 1, '/domains': 2, '/domaingroups': 2 })
  })

  it('are those of the contract where all are short enough', async () => {
    expect(await shortenWindows([], Number.POSITIVE_INFINITY)).toBe(await loadContract())
  })
})

describe('A budget', () => {
  it('has so many runs', () => {
    const budget = new RunBudget({ runs: 2 }, never)
    expect([budget.take(), budget.take(), budget.take(), budget.taken]).toEqual([true, true, false, 2])
  })

  it('ends with its time, and ends what goes on', async () => {
    const budget = new RunBudget({ milliseconds: 1 }, never)
    await new Promise((resolve) => budget.signal.addEventListener('abort', resolve))
    expect(budget.take()).toBe(false)
  })

  it('ends when somebody asks for the end', () => {
    const stop = new AbortController()
    const budget = new RunBudget({}, stop.signal)
    expect(budget.take()).toBe(true)
    stop.abort()
    expect([budget.take(), budget.signal.aborted]).toEqual([false, true])
  })
})
