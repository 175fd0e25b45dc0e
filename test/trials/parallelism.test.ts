import { expect, it } from 'vitest'
import type { Effects } from '../../src/trials/explore/effects.ts'
import { describeDeviation, findParallelism, wordParallelism } from '../../src/trials/parallelism.ts'
import type { CommandEnd } from '../../src/trials/running-command.ts'

function runThat(end: Partial<CommandEnd> = {}, changes: readonly string[] = []) {
  const passed = { exitCode: 0, signal: undefined, timedOut: false, interruptedBy: undefined, leftBehind: [] }
  const effects: Effects = { accounts: [], changes }
  return { end: { ...passed, seconds: 1, output: '', ...end }, effects }
}

const PASSES = runThat()

it.each<[words: string, processors: number, beside: readonly (typeof PASSES | undefined)[]]>([
  ['4 at a time, because 4 runs at the same time do the same as one alone', 4, [PASSES, PASSES, PASSES, PASSES]],
  ['one after the other, because this machine has one processor', 1, []],
  [
    'one after the other, because of 2 runs at the same time, one failed with exit code 2',
    2,
    [PASSES, runThat({ exitCode: 2 })],
  ],
  [
    'one after the other, because of 2 runs at the same time, one took too long',
    2,
    [runThat({ timedOut: true }), PASSES],
  ],
  [
    'one after the other, because of 3 runs at the same time, one had other effects: done too often: added the domain a.example',
    3,
    [PASSES, PASSES, runThat({}, ['added the domain a.example'])],
  ],
  ['one after the other, because of 2 runs at the same time, one was not run to its end', 2, [PASSES, undefined]],
])('trials run %s', async (words, processors, beside) => {
  const runs = [...beside]
  let running = 0
  const found = await findParallelism(async () => {
    running++
    const run = runs.shift()
    await Promise.resolve()
    expect(running, 'all have begun').toBe(processors)
    return describeDeviation(PASSES, run)
  }, processors)
  expect([wordParallelism(found), runs]).toEqual([words, []])
})
