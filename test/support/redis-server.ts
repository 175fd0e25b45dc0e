import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { RedisConnection } from './redis-connection.ts'
import { RedisError, type Reply } from './resp.ts'

/** The server of the tests; `TEST_REDIS_SERVER=valkey-server` names another one. */
const PROGRAM = process.env['TEST_REDIS_SERVER'] ?? 'redis-server'

/** Whether it is there. Tests that need one are skipped without it; CI installs it and skips none. */
export const HAS_REDIS = spawnSync(PROGRAM, ['--version']).status === 0

/** Directives of redis.conf. A list is a directive that is there several times; `undefined` takes a default away. */
export type RedisOptions = Readonly<Record<string, string | readonly string[] | undefined>>

export interface RedisServer {
  /** `redis://127.0.0.1:PORT`. */
  readonly url: string
  readonly port: number
  /** The path of its Unix socket. */
  readonly socket: string
  /** Where it keeps its files. */
  readonly folder: string
  /** Sends a command on a connection of the test's own; an error of Redis is a value. */
  command(...words: readonly (string | number)[]): Promise<Reply>
  /** The numbers and texts of `INFO SECTION`. */
  info(section: string): Promise<Record<string, string>>
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** SIGSTOP: connections stay open, and nothing answers. */
  pause(): void
  /** SIGCONT. */
  resume(): void
  /** Starts it again on the same port and folder, with other options where some are given; it is killed if it runs. */
  restart(options?: RedisOptions): Promise<void>
  /** Ends it and removes its folder. */
  end(): Promise<void>
}

/** Nothing is kept on disk unless a test asks for it. */
const DEFAULTS: RedisOptions = {
  bind: '127.0.0.1',
  save: '',
  appendonly: 'no',
  // Without it, a replica waits five seconds for its data, so that others may ask for the same.
  'repl-diskless-sync-delay': '0',
}

/** Starts a Redis on a free port that ends with the test. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const server = await openRedis(options)
  onTestFinished(server.end)
  return server
}

let shared: Promise<RedisServer> | undefined

/**
 * A Redis that keeps nothing on disk and that all tests of this worker have in common. A test has its own prefix on it,
 * and neither stops nor configures it.
 */
export function sharedRedis(): Promise<RedisServer> {
  shared ??= openRedis()
  return shared
}

let prefixes = 0

/** A prefix of keys that no other test has. */
export function freshPrefix(): string {
  return `test-${process.pid}-${++prefixes}`
}

/** Starts a Redis on a free port that the caller ends; it ends at the latest with this process. */
export async function openRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'understudy-redis-'))
  const guard = openGuard(folder)
  for (let attempt = 1; ; attempt++) {
    const server = new Server(folder, await freePort(), options, guard)
    try {
      await server.start()
      return server
    } catch (error) {
      // Between its choice and its use, somebody else may have taken the port.
      if (attempt === 5 || !/Address already in use/.test(`${error}`)) {
        await server.end()
        throw error
      }
    }
  }
}

class Server implements RedisServer {
  readonly url: string
  readonly port: number
  readonly socket: string
  readonly folder: string
  #options: RedisOptions
  readonly #guard: Guard
  #process: ChildProcess | undefined
  #connection: RedisConnection | undefined

  constructor(folder: string, port: number, options: RedisOptions, guard: Guard) {
    this.folder = folder
    this.port = port
    this.url = `redis://127.0.0.1:${port}`
    this.socket = join(folder, 'redis.sock')
    this.#options = options
    this.#guard = guard
  }

  async start(): Promise<void> {
    const configuration = join(this.folder, 'redis.conf')
    const log = join(this.folder, 'redis.log')
    const port = this.#options['tls-port'] === undefined ? this.port : 0
    writeFileSync(
      configuration,
      writeOptions({ ...DEFAULTS, port: `${port}`, unixsocket: this.socket, dir: this.folder, ...this.#options }),
    )
    const output = openSync(log, 'w')
    const child = spawn(PROGRAM, [configuration], { stdio: ['ignore', output, output] })
    child.unref()
    this.#process = child
    this.#guard.watch(child.pid)
    for (let waited = 0; ; waited += 5) {
      if (child.exitCode !== null || child.signalCode !== null || waited > 15_000) {
        throw new Error(`${PROGRAM} does not start: ${readFileSync(log, 'utf8')}`)
      }
      const reply = await this.command('PING').catch(() => undefined)
      // The connection that the test itself has may lack rights, but a server that loads its data answers nobody.
      if (reply !== undefined && !(reply instanceof RedisError && /^LOADING/.test(reply.message))) return
      await pause(5)
    }
  }

  command = async (...words: readonly (string | number)[]): Promise<Reply> => {
    if (this.#connection === undefined || this.#connection.isOver) {
      this.#connection = new RedisConnection({ path: this.socket })
      const password = this.#options['requirepass']
      if (typeof password === 'string') await this.#connection.command('AUTH', password)
    }
    return this.#connection.command(...words)
  }

  info = async (section: string): Promise<Record<string, string>> => {
    const text = `${await this.command('INFO', section)}`
    const lines = text.split('\r\n').filter((line) => line.includes(':'))
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
    )
  }

  kill = async (): Promise<void> => {
    const child = this.#process
    this.#process = undefined
    this.#connection?.close()
    this.#connection = undefined
    if (child === undefined) return
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    this.#guard.watch(undefined)
  }

  pause = (): void => {
    this.#process?.kill('SIGSTOP')
  }

  resume = (): void => {
    this.#process?.kill('SIGCONT')
  }

  restart = async (options: RedisOptions = this.#options): Promise<void> => {
    await this.kill()
    this.#options = options
    await this.start()
  }

  end = async (): Promise<void> => {
    await this.kill()
    await this.#guard.end()
  }
}

function writeOptions(options: RedisOptions): string {
  const lines = Object.entries(options).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).map((text) => `${name} ${text === '' ? '""' : text}\n`),
  )
  return lines.join('')
}

interface Guard {
  /** Which process is to be killed with this one. */
  watch(pid: number | undefined): void
  end(): Promise<void>
}

/**
 * A shell that kills the server and removes its folder as soon as this process has closed the shell's input, so also when
 * this process is killed.
 */
function openGuard(folder: string): Guard {
  const script = 'pid=; while read -r next; do pid=$next; done; [ -n "$pid" ] && kill -9 "$pid"; rm -rf "$1"'
  const shell = spawn('/bin/sh', ['-c', script, 'guard', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  shell.unref()
  const input = shell.stdin
  if ('unref' in input) (input as unknown as { unref(): void }).unref()
  input.on('error', () => {})
  return {
    watch: (pid) => void input.write(`${pid ?? ''}\n`),
    async end() {
      if (shell.exitCode !== null) return
      input.end()
      await once(shell, 'exit')
    },
  }
}

/** A port of the loopback address on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('A server on a port has an address.')
  return address.port
}
