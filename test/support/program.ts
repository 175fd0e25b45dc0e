import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, inject, test } from 'vitest'

// What was built before is another program than the one of these sources.
if (inject('buildFailure') !== undefined) throw new Error(inject('buildFailure'))

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const PROGRAM = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

/** Where the program runs when it should end at once, so that what goes wrong leaves nothing in the project. */
export const scratch = mkdtempSync(join(tmpdir(), 'understudy-cli-'))
afterAll(() => rmSync(scratch, { recursive: true }))

/** A program that lives for a moment pays for optimized code and does not live to profit from it. */
const NODE = [process.execPath, '--no-opt']

export interface Result {
  code: number | null
  stdout: string
  stderr: string
}

/** The program while it runs. */
export interface Running {
  stdout(): string
  stderr(): string
  /** Resolves to the first match of `pattern` on standard output; rejects when the program ends without one. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  signal(name: NodeJS.Signals): void
  /** Resolves when the program has ended and all of its output is read. */
  readonly ended: Promise<Result>
}

export interface RunOptions {
  environment?: Record<string, string>
  /** Where it runs; a folder of the test's own keeps what goes wrong out of the project. */
  folder?: string
}

/** The environment of the tests without what would configure the program. */
function environmentWith(more: Record<string, string>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('DMARC_UNDERSTUDY_'))
  return { ...Object.fromEntries(inherited), ...more }
}

/** Runs the program to its end, which is near: one that begins to serve, although it should not, is told to stop. */
export function run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const { ended, prints, signal } = watch([...NODE, PROGRAM, ...args], options)
  prints(/is ready\.\n/).then(
    () => signal('SIGTERM'),
    () => undefined,
  )
  return ended
}

/** Runs a line as a person would type it. */
export function runShell(line: string, options: RunOptions = {}): Promise<Result> {
  return watch(['sh', '-c', line], options).ended
}

function watch([command = '', ...args]: string[], { environment = {}, folder = ROOT }: RunOptions): Running {
  const child = spawn(command, args, {
    cwd: folder,
    env: environmentWith(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8')
    child[name].on('data', (text: string) => {
      output[name] += text
    })
  }
  const ended = endOf(child, output)
  return {
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    signal: (name) => child.kill(name),
    ended,
    async prints(pattern) {
      let done = false
      const end = ended.then(() => {
        done = true
      })
      for (;;) {
        const match = pattern.exec(output.stdout)
        if (match !== null) return match
        if (done) throw new Error(`The program ended without printing ${pattern}: ${output.stdout}${output.stderr}`)
        await Promise.race([once(child.stdout, 'data'), end])
      }
    },
  }
}

async function endOf(child: ChildProcess, output: { stdout: string; stderr: string }): Promise<Result> {
  const [code] = await once(child, 'close')
  return { code, ...output }
}

export interface Serving extends Running {
  baseUrl: string
  apiKey: string
  /** The line that the program offers to try. */
  curl: string
  /** The origin of `baseUrl`. */
  origin: string
  /** Requests with the key of the account; status and body. */
  request(path: string, init?: RequestInit): Promise<{ status: number; body: unknown; headers: Headers }>
}

/** Reads from its greeting where the program listens. */
export async function ready(running: Running): Promise<Serving> {
  const [, baseUrl = '', apiKey = '', curl = ''] = await running.prints(
    /Base URL {3}(\S+)\n {2}API key {4}(.+)\n[\s\S]*Try it:\n {2}(curl .+)\n/,
  )
  return {
    ...running,
    baseUrl,
    apiKey,
    curl,
    origin: new URL(baseUrl).origin,
    async request(path, init = {}) {
      const response = await fetch(baseUrl + path, {
        ...init,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...init.headers },
      })
      return { status: response.status, body: await response.json(), headers: response.headers }
    },
  }
}

export interface Tools {
  /** An empty folder that is gone after the test. */
  folder: string
  /** Starts the program, which does not outlive the test. */
  start(args: readonly string[], options?: RunOptions): Running
  /** Starts `serve` on a free port, and resolves when it says that it is ready. */
  serve(args?: readonly string[], options?: RunOptions): Promise<Serving>
}

/** A test of the program. Many run at a time, so what a test starts and leaves behind is its own. */
export const it = test.extend<Tools>({
  async folder({ onTestFinished }, use) {
    const folder = mkdtempSync(join(tmpdir(), 'understudy-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    await use(folder)
  },
  async start({ onTestFinished }, use) {
    await use((args, options = {}) => {
      const running = watch([...NODE, PROGRAM, ...args], options)
      onTestFinished(async () => {
        running.signal('SIGKILL')
        await running.ended
      })
      return running
    })
  },
  async serve({ start }, use) {
    await use((args = [], options = {}) => ready(start(['serve', '--port', '0', ...args], options)))
  },
})

/** Expects one line on standard error, nothing on standard output, and the exit code. */
export async function expectRefusal(
  args: readonly string[],
  code: number,
  message: string | RegExp,
  options: RunOptions = {},
): Promise<void> {
  const result = await run(args, { folder: scratch, ...options })
  expect(result.stderr).toMatch(/^dmarc-understudy: [^\n]+\n$/)
  const said = result.stderr.slice('dmarc-understudy: '.length, -1)
  if (typeof message === 'string') expect(said).toBe(message)
  else expect(said).toMatch(message)
  expect(result).toMatchObject({ code, stdout: '' })
}
