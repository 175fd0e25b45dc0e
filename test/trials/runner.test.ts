import { describe, expect, it } from 'vitest'
import type { CommandEnd } from '../../src/trials/command.ts'
import { type RunnerOptions, settle, TrialRunner } from '../../src/trials/runner.ts'

const never = new AbortController().signal
const END: CommandEnd = {
  ...{ exitCode: 0, signal: undefined, timedOut: false, interruptedBy: undefined },
  ...{ seconds: 0, output: '', hasLeftBehind: false },
}

/** Runs this in place of a command. */
function runnerOf(carryOut: RunnerOptions['carryOut'], options: Partial<RunnerOptions> = {}): TrialRunner {
  const server = { options: { fixture: 'empty' }, environment: {}, variables: [], command: ['client'] }
  return new TrialRunner({ ...server, onSignal: undefined, jobs: 2, stop: never, carryOut, ...options })
}
const trial = async () => ({ name: 'trial', timeout: undefined })

describe('The trials of a command', () => {
  it('are so many at most', async () => {
    const runner = runnerOf(async () => END, { runs: 2 })
    const results = await settle([runner.run(trial), runner.run(trial), runner.run(trial)])
    expect(results.map((result) => result?.end.exitCode)).toEqual([0, 0, undefined])
    expect(runner.runs).toBe(2)
  })

  it('end with their time, which ends what runs', async () => {
    const runner = runnerOf(
      ({ signal }) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => resolve(END))
        }),
      { milliseconds: 300 },
    )
    expect(await settle([runner.run(trial), runner.run(trial), runner.run(trial)])).toEqual(
      [1, 2, 3].map(() => undefined),
    )
    expect(runner.signal.aborted).toBe(true)
  })

  it('begin only if they are needed when the time for the others is over', async () => {
    const runner = runnerOf(async () => END, { optional: 0 })
    expect(await runner.run(trial, { isNeeded: false })).toBeUndefined()
    expect(await runner.run(trial)).toBeDefined()
  })

  it('end, and all others with them, if one cannot start', async () => {
    let started = 0
    const runner = runnerOf(async () => {
      started++
      throw new Error('There is no such command.')
    })
    const running = [1, 2, 3, 4].map(() => runner.run(trial))
    await expect(settle(running)).rejects.toThrow('There is no such command.')
    expect(started).toBeLessThanOrEqual(2)
  })
})
