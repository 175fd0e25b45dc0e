import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const PROGRAM = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

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

/** Starts the program, which does not outlive the test. */
export function start(args: readonly string[], options: RunOptions = {}): Running {
  const running = watch([process.execPath, PROGRAM, ...args], options)
  onTestFinished(async () => {
    running.signal('SIGKILL')
    await running.ended
  })
  return running
}

/** Runs the program to its end, which is near: one that begins to serve, although it should not, is told to stop. */
export function run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const { ended, prints, signal } = watch([process.execPath, PROGRAM, ...args], options)
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

/** Starts `serve` on a free port, and resolves when it says that it is ready. */
export async function serve(args: readonly string[] = [], options: RunOptions = {}): Promise<Serving> {
  const running = start(['serve', '--port', '0', ...args], options)
  return ready(running)
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
