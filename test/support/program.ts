import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runInProcess, startInProcess } from './program-in-process.ts'
import { spawnProgram } from './program-process.ts'
import { type RunningProgram, type RunOptions, ready, type Serving } from './running-program.ts'

type Start = (args: readonly string[], options?: RunOptions) => RunningProgram
type Serve = (args?: readonly string[], options?: RunOptions) => Promise<Serving>

export interface Tools {
  /** An empty folder that is gone after the test. */
  folder: string
  /** Starts the program in this process; it does not outlive the test. */
  start: Start
  /** Starts `serve` on a free port in this process, and resolves when it says that it is ready. */
  serve: Serve
  /** Starts the built program as a process of its own, which does not outlive the test. */
  startProcess: Start
  /** Starts `serve` on a free port as a process, and resolves when it says that it is ready. */
  serveProcess: Serve
}

/** A test of the program. Many processes run at a time, so what a test starts and leaves behind is its own. */
export const it = test.extend<Tools>({
  async folder({ onTestFinished }, use) {
    const folder = mkdtempSync(join(tmpdir(), 'understudy-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    await use(folder)
  },
  async start({ onTestFinished }, use) {
    await use((args, options) => {
      const running = startInProcess(args, options)
      onTestFinished(async () => {
        running.stop()
        await running.ended
      })
      return running
    })
  },
  async serve({ start }, use) {
    await use((args = [], options) => ready(start(['serve', '--port', '0', ...args], options)))
  },
  async startProcess({ onTestFinished }, use) {
    await use((args, options) => {
      const running = spawnProgram(args, options)
      onTestFinished(async () => {
        running.stop('SIGKILL')
        await running.ended
      })
      return running
    })
  },
  async serveProcess({ startProcess }, use) {
    await use((args = [], options) => ready(startProcess(['serve', '--port', '0', ...args], options)))
  },
})

/**
 * Expects one line on standard error, nothing on standard output, and the exit code. A message that ends in `…` goes on. What
 * takes over a second may show its progress before.
 */
export async function expectRefusal(
  args: readonly string[],
  code: number,
  message: string | RegExp,
  options?: RunOptions,
): Promise<void> {
  const result = await runInProcess(args, options)
  const line = result.stderr.replaceAll(/^(explore|vary): .*\n/gm, '')
  expect(line).toMatch(/^dmarc-understudy: [^\n]+\n$/)
  const said = line.slice('dmarc-understudy: '.length, -1)
  if (typeof message !== 'string') expect(said).toMatch(message)
  else if (message.endsWith('…')) expect(said.slice(0, message.length - 1)).toBe(message.slice(0, -1))
  else expect(said).toBe(message)
  expect(result).toMatchObject({ code, stdout: '' })
}
