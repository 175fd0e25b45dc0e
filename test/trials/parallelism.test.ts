import { describe, expect, it } from 'vitest'
import type { Effects } from '../../src/trials/explore/effects.ts'
import { findParallelism, type ParallelismTerms, type UnchangedRun } from '../../src/trials/parallelism.ts'
import type { CommandEnd } from '../../src/trials/running-command.ts'

function runThat(end: Partial<CommandEnd> = {}, changes: readonly string[] = []): UnchangedRun {
  const passed = { exitCode: 0, signal: undefined, timedOut: false, interruptedBy: undefined, leftBehind: [] }
  const effects: Effects = { accounts: [], changes }
  return { end: { ...passed, seconds: 1, output: '', ...end }, effects }
}

const PASSES = runThat()
const ADDS = runThat({}, ['added the domain a.example'])

/** What is found of a command on a machine with four cores, and how many runs at the same time that took. */
async function find(terms: Partial<ParallelismTerms> & { together?: readonly (UnchangedRun | undefined)[] }) {
  let repeated = 0
  const { together = [], ...rest } = terms
  const found = await findParallelism({
    ...{ chosen: undefined, isPortFixed: false, trials: 9, baselines: [PASSES, PASSES], cores: 4 },
    async repeat(count) {
      repeated = count
      return Array.from({ length: count }, (_, index) => (index in together ? together[index] : PASSES))
    },
    ...rest,
  })
  return [found.jobs, found.words, repeated]
}

describe('trials run', () => {
  it.each<[words: string, terms: Parameters<typeof find>[0], jobs: number, repeated: number]>([
    ['4 at a time, because 4 runs at the same time pass with the effects of one alone', {}, 4, 4],
    ['3 at a time, because 3 runs at the same time pass with the effects of one alone', { trials: 3 }, 3, 3],
    ['7 at a time, as --jobs says', { chosen: 7 }, 7, 0],
    ['one after the other, as --jobs says', { chosen: 1 }, 1, 0],
    ['one after the other, because all have the port of --port', { isPortFixed: true }, 1, 0],
    ['one after the other, because this machine has one core', { cores: 1 }, 1, 0],
    ['one', { trials: 1 }, 1, 0],
    ['none', { trials: 0 }, 1, 0],
    [
      'one after the other, because the command does not always pass',
      { baselines: [PASSES, runThat({ exitCode: 1 })] },
      1,
      0,
    ],
    [
      'one after the other, because its effects differ from run to run, so those of runs at the same time cannot be compared',
      { baselines: [PASSES, ADDS] },
      1,
      0,
    ],
    [
      'one after the other, because one of 4 runs at the same time failed with exit code 2',
      { together: [PASSES, PASSES, runThat({ exitCode: 2 })] },
      1,
      4,
    ],
    [
      'one after the other, because one of 4 runs at the same time took too long',
      { together: [runThat({ timedOut: true })] },
      1,
      4,
    ],
    [
      'one after the other, because 4 runs at the same time have other effects: done too often: added the domain a.example',
      { together: [PASSES, PASSES, PASSES, ADDS] },
      1,
      4,
    ],
    ['one after the other, because there was no time for 4 runs at the same time', { together: [undefined] }, 1, 4],
  ])('%s', async (words, terms, jobs, repeated) => {
    expect(await find(terms)).toEqual([jobs, words, repeated])
  })
})
