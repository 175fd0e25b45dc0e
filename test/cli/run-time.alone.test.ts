import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { PROGRAM } from '../support/program-process.ts'

/** In milliseconds: how long a command takes, at the best of some times. */
function measure(...command: string[]): number {
  const [program = '', ...args] = command
  const times = Array.from({ length: 7 }, () => {
    const start = performance.now()
    expect(spawnSync(program, args).status).toBe(0)
    return performance.now() - start
  })
  return Math.min(...times)
}

it('run adds less than 0.3 s to a command', () => {
  const command = ['sh', '-c', 'sleep 0.2']
  const bare = measure(...command)
  const within = measure(process.execPath, PROGRAM, 'run', '--fail-on', 'violation', '--', ...command)
  // On a machine that is busy or slow, everything takes longer, and so does the start of Node.js, usually 40 ms.
  const node = measure(process.execPath, '--eval', '0')
  expect(within - bare).toBeLessThan(Math.max(300, 7 * node))
})
