import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { PROGRAM } from '../support/program-process.ts'

/** How often something is measured at most: what else the machine does makes some times longer. */
const TRIES = 7

/** In milliseconds: how long a command takes. */
function measure(...command: string[]): number {
  const [program = '', ...args] = command
  const start = performance.now()
  expect(spawnSync(program, args).status).toBe(0)
  return performance.now() - start
}

it('run adds less than 0.3 s to a command', () => {
  const [bare, within, node]: [number[], number[], number[]] = [[], [], []]
  const command = ['sh', '-c', 'sleep 0.1']
  function added(): number {
    return Math.min(...within) - Math.min(...bare)
  }
  // On a machine that is busy or slow, everything takes longer, and so does the start of Node.js, usually 40 ms.
  function limit(): number {
    return Math.max(300, 7 * Math.min(...node))
  }
  do {
    bare.push(measure(...command))
    node.push(measure(process.execPath, '--eval', '0'))
    within.push(measure(process.execPath, PROGRAM, 'run', '--fail-on', 'violation', '--', ...command))
  } while (added() >= limit() && within.length < TRIES)
  expect(added()).toBeLessThan(limit())
})
