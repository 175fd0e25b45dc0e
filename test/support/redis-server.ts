import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { onTestFinished } from 'vitest'

/** The server of the tests; `TEST_REDIS_SERVER=valkey-server` names another one. */
const PROGRAM = process.env['TEST_REDIS_SERVER'] ?? 'redis-server'

/** Whether it is there. Tests that need one are skipped without it; CI installs it and skips none. */
export const HAS_REDIS = spawnSync(PROGRAM, ['--version']).status === 0

/** Directives of redis.conf. */
export type RedisOptions = Readonly<Record<string, string>>

/** A reply of Redis; an error is a value here, because tests ask for errors too. */
type Reply = string | number | null | Error | Reply[]

/** Sends a command; an error of Redis is a value. */
type Command = (...words: readonly (string | number)[]) => Promise<Reply>

export interface RedisServer {
  /** `redis://127.0.0.1:PORT`. */
  readonly url: string
  readonly port: number
  /** The path of its Unix socket. */
  readonly socket: string
  /** On a connection of the test's own. */
  readonly command: Command
  /** On a connection of its own, because the other one may be blocked. */
  readonly commandAside: Command
  /** The numbers and texts of `INFO SECTION`. */
  info(section: string): Promise<Record<string, string>>
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** SIGSTOP: connections stay open, and nothing answers. */
  pause(): void
  /** SIGCONT. */
  resume(): void
  /** Starts it again on the same port and folder; it is killed if it runs. */
  restart(): Promise<void>
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
  const [socket, log, configuration] = ['redis.sock', 'redis.log', 'redis.conf'].map((name) => join(folder, name))
  const port = await freePort()
  const directives = Object.entries({ ...DEFAULTS, port, unixsocket: socket, dir: folder, ...options })
  writeFileSync(`${configuration}`, directives.map(([name, text]) => `${name} ${text === '' ? '""' : text}\n`).join(''))
  const guard = openGuard(folder)
  let child: ChildProcess | undefined
  let connection: Promise<Command> | undefined

  /** Opens another connection; `close` is called when it ends. */
  async function connect(closed: () => void): Promise<Command & { destroy(): void }> {
    const password = options['requirepass'] === undefined ? {} : { password: options['requirepass'] }
    const client = createClient({
      RESP: 2,
      socket: { path: `${socket}`, tls: false, reconnectStrategy: false },
      ...password,
    })
    client.on('error', closed)
    await client.connect()
    client.unref()
    const send: Command = async (...words) => {
      client.ref()
      const reply = client.sendCommand(words.map(String)) as Promise<Reply>
      return reply.catch((error: Error) => error).finally(() => client.unref())
    }
    return Object.assign(send, { destroy: () => client.destroy() })
  }

  async function start(): Promise<void> {
    const output = openSync(`${log}`, 'w')
    const started = spawn(PROGRAM, [`${configuration}`], { stdio: ['ignore', output, output] })
    started.unref()
    child = started
    guard.watch(started.pid)
    for (let waited = 0; ; waited += 5) {
      if (started.exitCode !== null || started.signalCode !== null || waited > 15_000) {
        throw new Error(`${PROGRAM} does not start: ${readFileSync(`${log}`, 'utf8')}`)
      }
      const reply = await server.command('PING').catch(() => undefined)
      // A server that loads its data answers nobody.
      if (reply !== undefined && !`${reply}`.includes('LOADING')) return
      await pause(5)
    }
  }

  async function kill(): Promise<void> {
    const killed = child
    child = connection = undefined
    if (killed !== undefined && killed.exitCode === null && killed.signalCode === null) {
      killed.kill('SIGKILL')
      await once(killed, 'exit')
    }
    guard.watch(undefined)
  }

  const server: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    port,
    socket: `${socket}`,
    async command(...words) {
      connection ??= connect(() => (connection = undefined))
      connection.catch(() => (connection = undefined))
      return (await connection)(...words)
    },
    async commandAside(...words) {
      const aside = await connect(() => {})
      return aside(...words).finally(() => aside.destroy())
    },
    async info(section) {
      const lines = `${await server.command('INFO', section)}`.split('\r\n').filter((line) => line.includes(':'))
      return Object.fromEntries(lines.map((line) => line.split(/:(.*)/)))
    },
    kill,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async restart() {
      await kill()
      await start()
    },
    async end() {
      await kill()
      await guard.end()
    },
  }
  await start()
  return server
}

/**
 * A shell that kills the server and removes its folder as soon as this process has closed the shell's input, so also when
 * this process is killed.
 */
function openGuard(folder: string) {
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
    /** Which process is to be killed with this one. */
    watch: (pid: number | undefined) => void input.write(`${pid ?? ''}\n`),
    async end(): Promise<void> {
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
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
