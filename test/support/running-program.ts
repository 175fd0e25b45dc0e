import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

/** How the program ended; `code` is `null` when a signal killed it. */
export interface Result {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  environment?: Record<string, string>
  /** Where it runs; a folder of the test's own keeps what goes wrong out of the project. */
  folder?: string
  /** The lines on standard input of a program in this process. */
  input?: readonly string[]
}

/** The program while it runs, be it as a process or in this one. */
export interface RunningProgram {
  stdout(): string
  stderr(): string
  /** Resolves to the first match of `pattern` on standard output; rejects when the program ends without one. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  /** Tells it to stop. */
  stop(signal?: NodeJS.Signals): void
  /** Resolves when the program has ended and all of its output is read. */
  readonly ended: Promise<Result>
}

/** When npx runs the tests, it leaves these in the environment, and another npx would obey them. */
const OF_NPX = new Set(['npm_config_package', 'npm_config_call', 'npm_config_yes'])

/** The environment of the tests without what would configure the program. */
export function environmentWith(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('DMARC_UNDERSTUDY_') && !OF_NPX.has(name),
  )
  return { ...Object.fromEntries(inherited), ...more }
}

/** What a program has printed so far, and who waits for more of it. */
export class Output {
  stdout = ''
  stderr = ''
  #ended = false
  #waiting: (() => void)[] = []

  add(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text
    this.#wake()
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout)
      if (match !== null) return match
      if (this.#ended) throw new Error(`The program ended without printing ${pattern}: ${this.stdout}${this.stderr}`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

/** The program as a process whose output is read. */
export function follow(child: ChildProcessByStdio<Writable | null, Readable, Readable>): RunningProgram {
  const output = new Output()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8')
    child[name].on('data', (text: string) => output.add(name, text))
  }
  async function waitForEnd(): Promise<Result> {
    const [code] = await once(child, 'close')
    output.end()
    return { code, stdout: output.stdout, stderr: output.stderr }
  }
  return {
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    prints: (pattern) => output.prints(pattern),
    stop: (signal = 'SIGTERM') => void child.kill(signal),
    ended: waitForEnd(),
  }
}

/** The program when it says that it is ready. */
export interface Serving extends RunningProgram {
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
export async function ready(running: RunningProgram): Promise<Serving> {
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

/** Runs the program to its end, which is near: one that begins to serve, although it should not, is told to stop. */
export function endOf({ ended, prints, stop }: RunningProgram): Promise<Result> {
  prints(/is ready\.\n/).then(
    () => stop(),
    () => undefined,
  )
  return ended
}
