import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Descendants, PROC, type ProcessFacts, type ProcessList, PS } from '../../src/trials/processes.ts'

/** A list of processes as a test says, in the place of the machine's; `marked` have the mark. */
function listOf(processes: ProcessFacts[], marked: readonly number[] = []): ProcessList {
  return {
    interval: 1,
    find: (pid) => processes.find((each) => each.pid === pid),
    ids: () => processes.map(({ pid }) => pid),
    read: (isKnown) => processes.filter(({ pid }) => !isKnown(pid)),
    carrying: (_, isKnown) => processes.filter(({ pid }) => marked.includes(pid) && !isKnown(pid)),
    latest: () => undefined,
    isAsleep: () => true,
  }
}

const facts = (pid: number, parent: number, start = '1'): ProcessFacts => ({ pid, parent, start, name: `p${pid}` })
const pids = (processes: readonly ProcessFacts[]) => processes.map(({ pid }) => pid)

describe('the descendants of a process', () => {
  it('are its children and theirs, in whatever order they are listed, and nobody else', () => {
    const list = listOf([facts(7, 12), facts(12, 10), facts(10, 1), facts(11, 1), facts(13, 11)])
    expect(pids(new Descendants(10, 'mark', [], list).findAlive())).toEqual([7, 12, 10])
  })

  it('are still known when their parent has ended and another one has adopted them', () => {
    const processes = [facts(10, 1), facts(12, 10), facts(13, 12)]
    const descendants = new Descendants(10, 'mark', [], listOf(processes))
    descendants.look()
    processes.splice(0, 3, facts(13, 1))
    expect(pids(descendants.findAlive())).toEqual([13])
  })

  it('are found by their mark when nobody saw them with their parent', () => {
    const processes = [facts(10, 1)]
    const descendants = new Descendants(10, 'mark', [], listOf(processes, [13]))
    processes.splice(0, 1, facts(13, 1), facts(14, 13), facts(15, 1))
    expect(pids(descendants.findAlive())).toEqual([13, 14])
  })

  it('are found although their parent has ended, and they have begun, while all were looked at', () => {
    const before = [facts(10, 1), facts(11, 1)]
    const after = [facts(11, 1), facts(12, 1)]
    let looks = 0
    const descendants = new Descendants(10, 'mark', [], {
      ...listOf(before),
      latest: () => `${looks === 0 ? 11 : 12}`,
      // The first time, the daemon is not yet there when the processes are listed, and its parent has ended when it is
      // looked at.
      read: () => (++looks === 1 ? [facts(11, 1)] : after),
      carrying: () => (looks === 1 ? [] : [facts(12, 1)]),
    })
    expect(pids(descendants.findAlive())).toEqual([12])
  })

  it('are not looked for among those that were there before, unless one of these has ended', () => {
    const processes = [facts(9, 1), facts(10, 1)]
    const descendants = new Descendants(10, 'mark', [9], listOf(processes, [9]))
    expect(pids(descendants.findAlive())).toEqual([10])
    processes.splice(0, 1)
    descendants.look()
    processes.push(facts(9, 1, '2'))
    expect(pids(descendants.findAlive())).toEqual([10, 9])
  })

  it('are not the process that has got the number of one that ended, nor its children', () => {
    const processes = [facts(10, 1), facts(12, 10)]
    const descendants = new Descendants(10, 'mark', [], listOf(processes))
    descendants.look()
    processes.splice(1, 1, facts(12, 1, '2'), facts(13, 12))
    expect(pids(descendants.findAlive())).toEqual([10])
    descendants.look()
    expect(pids(descendants.findAlive())).toEqual([10])
  })

  it('get no signal when their number has become that of another process', async () => {
    const child = spawn('sleep', ['100'])
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child, 'spawn')
    const pid = child.pid ?? 0
    const descendants = new Descendants(10, 'mark', [], listOf([facts(10, 1), facts(pid, 1, '2')]))
    descendants.signal('SIGKILL', [facts(pid, 10, '1')])
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([null, 'SIGTERM'])
  })
})

describe.each([
  ['/proc', PROC],
  ['ps', PS],
])('the processes of this machine by %s', (_, list) => {
  it('include this one and its children, with what is in their environment', async () => {
    const mark = `mark-${process.pid}-${Math.random()}`
    const child = spawn('sleep', ['100'], { env: { ...process.env, MARK: mark } })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child, 'spawn')
    const pid = child.pid ?? 0
    const own = list.find(pid)
    expect(own).toMatchObject({ pid, parent: process.pid, name: 'sleep' })
    expect(list.read(() => false)).toContainEqual(own)
    expect(pids(list.carrying(mark, () => false))).toEqual([pid])
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(list.find(pid)).toBeUndefined()
  })
})
