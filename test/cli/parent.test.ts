import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { makeProject } from '../support/client-project.ts'
import { eventually } from '../support/processes.ts'
import { it } from '../support/program.ts'
import { PROGRAM } from '../support/program-process.ts'
import { environmentWith } from '../support/running-program.ts'

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
  /** The process that serves. */
  pid: number
}

/** Starts a program that starts the server with a ready file, and waits until that is written. */
async function startParent(folder: string, command: string, args: readonly string[]): Promise<Parent> {
  const path = join(folder, 'ready.json')
  const child = spawn(command, args, { cwd: folder, env: environmentWith(), stdio: 'ignore' })
  await eventually('the ready file is there', () => {
    try {
      return JSON.parse(readFileSync(path, 'utf8')).pid > 0
    } catch {
      return false
    }
  })
  return { child, pid: JSON.parse(readFileSync(path, 'utf8')).pid }
}

const SERVE = 'serve --port 0 --log-level silent --ready-file ready.json'
const DIRECT = `${process.execPath} ${PROGRAM} ${SERVE}`

/** What ends npx, which takes a second to begin. */
const SIGNALS = ['SIGKILL', 'SIGTERM'] as const
/** What calls npx. */
const CALLERS = ['bash'].slice(0, budget({ quick: 0, full: 1 }))

describe.concurrent('with --exit-with-parent, the server ends', () => {
  it.for([
    ['a script that is killed', 'SIGKILL'],
    ['a script that is told to stop', 'SIGTERM'],
  ] as const)('with %s', async ([, signal], { folder, onTestFinished }) => {
    // A shell waits in the foreground for something else.
    const { child, pid } = await startParent(folder, 'bash', ['-c', `${DIRECT} --exit-with-parent & sleep 60; true`])
    onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')))
    child.kill(signal)
    await eventually('the server has ended', () => !isAlive(pid))
  })

  it.for(SIGNALS.slice(0, budget({ quick: 1, full: SIGNALS.length })))(
    'with npx that gets a %s',
    async (signal, { folder, onTestFinished }) => {
      makeProject(folder)
      const { child, pid } = await startParent(folder, 'npx', [
        'dmarc-understudy',
        ...SERVE.split(' '),
        '--exit-with-parent',
      ])
      onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')))
      child.kill(signal)
      await eventually('the server has ended', () => !isAlive(pid))
    },
  )

  it.for(CALLERS)('with the script in %s that called npx', async (shell, { folder, onTestFinished }) => {
    makeProject(folder)
    const line = `npx dmarc-understudy ${SERVE} --exit-with-parent & sleep 60; true`
    const { child, pid } = await startParent(folder, shell, ['-c', line])
    onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')))
    child.kill('SIGKILL')
    await eventually('the server has ended', () => !isAlive(pid))
  })
})

describe('without --exit-with-parent', () => {
  it('the server outlives its parent', async ({ folder, onTestFinished }) => {
    const { child, pid } = await startParent(folder, 'bash', ['-c', `${DIRECT} & sleep 60; true`])
    onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')))
    child.kill('SIGKILL')
    await eventually('the parent has ended', () => !isAlive(child.pid ?? 0))
    await pause(600)
    expect(isAlive(pid)).toBe(true)
  })
})
