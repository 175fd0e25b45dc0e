import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeProject } from '../support/client-project.ts'
import { eventually } from '../support/processes.ts'
import { PROGRAM } from '../support/program-process.ts'
import { environmentWith } from '../support/running-program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

interface Parent {
  child: ChildProcess
  /** The processes that serve. */
  pids: readonly number[]
}

/** Starts a program that starts servers with ready files, and waits until these are written. */
async function startParent(
  folder: string,
  [command = '', ...args]: readonly string[],
  ready = ['ready.json'],
): Promise<Parent> {
  const child = spawn(command, args, { cwd: folder, env: environmentWith(), stdio: 'ignore' })
  const pids: number[] = []
  for (const name of ready) {
    await eventually(`${name} is there`, () => {
      try {
        return pids.push(JSON.parse(readFileSync(join(folder, name), 'utf8')).pid) > 0
      } catch {
        return false
      }
    })
  }
  onTestFinished(() => {
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  return { child, pids }
}

const SERVE = 'serve --port 0 --log-level silent --ready-file'

describe('with --exit-with-parent, the server ends', () => {
  it('with a script that is killed, and without it the server goes on', async () => {
    const serve = `${process.execPath} ${PROGRAM} ${SERVE}`
    // A shell waits in the foreground for something else.
    const line = `${serve} bound.json --exit-with-parent & ${serve} free.json & sleep 60; true`
    const { child, pids } = await startParent(temporaryFolder(), ['bash', '-c', line], ['bound.json', 'free.json'])
    child.kill('SIGKILL')
    await eventually('the server has ended', () => !isAlive(pids[0] ?? 0))
    expect(isAlive(pids[1] ?? 0)).toBe(true)
  })

  it.each([
    ['npx that gets a', 'SIGTERM', []],
    ['the script in bash that called npx and gets a', 'SIGKILL', ['bash', '-c']],
  ] as const)('with %s %s', async (_, signal, caller) => {
    const folder = temporaryFolder()
    makeProject(folder)
    const npx = `npx dmarc-understudy ${SERVE} ready.json --exit-with-parent`
    const command = caller.length === 0 ? npx.split(' ') : [...caller, `${npx} & sleep 60; true`]
    const { child, pids } = await startParent(folder, command)
    child.kill(signal)
    await eventually('the server has ended', () => !isAlive(pids[0] ?? 0))
  })
})
