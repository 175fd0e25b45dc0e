import type { Readable, Writable } from 'node:stream'
import type { Log } from '../ground/log.ts'
import { writeShellLine } from '../ground/show.ts'
import { clearInterval, setInterval } from '../ground/timers.ts'
import { hideSecrets, type Redact } from '../journal/redaction/redaction.ts'
import { HIDDEN, Secrets, SHORT } from '../journal/redaction/secrets.ts'
import { PREFIX } from '../server/option.ts'
import { type LogFormat, type LogLevel, openLog } from './log.ts'

export interface Screen {
  /** The columns of a terminal; `undefined` for a file or a pipe. */
  readonly columns: number | undefined
  readonly colours: boolean
}

/** The signals that tell a program to stop. */
export type StopSignal = (typeof STOP_SIGNALS)[number]

/**
 * The parts of the process that a command uses. A test replaces them. A command gets them as a `DiscreetTerminal`, which
 * hides secrets.
 */
export interface Terminal {
  readonly environment: NodeJS.ProcessEnv
  /** Writes a text to standard output without changes. */
  write(text: string): void
  /** Writes a text to standard error without changes. */
  writeError(text: string): void
  /** Standard input and output of a command that talks with a program. Only reading `input` keeps the process alive. */
  readonly streams: { readonly input: Readable; readonly output: Writable }
  /** The current screen of standard error. The user may change the size of the window. */
  readonly screen: Screen
  /**
   * Opens a log on standard error. `redact` hides secrets in its lines. `close` resolves when it is written, or after a
   * timeout without a reader.
   */
  openLog(level: LogLevel, format?: LogFormat, redact?: Redact): { log: Log; close(): Promise<void> }
  untilStopped(): Promise<void>
  /** Passes each signal to stop to the listener and suppresses its default effect. The returned function ends that. */
  onSignal(listener: (signal: StopSignal) => void): () => void
  /** Resolves when the process with this id has ended; nothing, if there is no id. */
  untilEnded(pid: number | undefined): Promise<void>[]
}

export function openProcessTerminal(): Terminal {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader may close the pipe early: `dmarc-understudy assumptions | head`.
    if (error.code === 'EPIPE') return
    console.error(`dmarc-understudy: standard output cannot be written (${error.code}); send it somewhere else`)
    process.exit(3)
  })
  // The program goes on if standard error cannot be written, because the terminal was closed or the disk is full.
  process.stderr.on('error', () => {})
  return {
    environment: process.env,
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    streams: {
      // Node opens standard input when it is first asked for.
      get input() {
        return process.stdin
      },
      output: process.stdout,
    },
    get screen() {
      return openScreen(process.stderr)
    },
    openLog,
    untilStopped,
    onSignal: (listener) => listenToSignals(listener),
    untilEnded: (pid) => (pid === undefined ? [] : [untilEnded(pid)]),
  }
}

export function openScreen(stream: NodeJS.WriteStream): Screen {
  if (!stream.isTTY) return { columns: undefined, colours: false }
  // `hasColors` respects NO_COLOR, FORCE_COLOR and terminals without colours.
  // Some terminals report the size 0.
  return { columns: stream.columns || 80, colours: stream.hasColors() }
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
const OF_SERVICES = ['SIGINT', 'SIGTERM'] as const

/** Suppresses the default effect of the signals until the returned function is called. */
function listenToSignals(
  listener: (signal: StopSignal) => void,
  signals: readonly StopSignal[] = STOP_SIGNALS,
): () => void {
  const listen = (signal: NodeJS.Signals) => listener(signal as StopSignal)
  for (const signal of signals) process.on(signal, listen)
  return () => {
    for (const signal of signals) process.off(signal, listen)
  }
}

/** Resolves with the first signal. A second one ends the process at once, as the system does by default. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const end = listenToSignals(() => {
      end()
      resolve()
    }, OF_SERVICES)
  })
}

/** How often is looked whether a process has ended, in milliseconds. */
const INTERVAL = 200

function untilEnded(pid: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (isAlive(pid)) return
      clearInterval(timer)
      resolve()
    }, INTERVAL)
    // The timer must not keep the program running.
    timer.unref()
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * The only way out for what a command prints and reports. It hides each secret that the process knows, in any spelling,
 * and everything that looks like a key.
 */
export interface DiscreetTerminal extends Terminal {
  /** Hides the secrets in a text that leaves the program in another way, such as in a report. */
  readonly redact: Redact
  /** Hides these secrets from now on, such as the keys in a recording. */
  learn(secrets: Iterable<string>): void
  /** The line of a POSIX shell that starts this program with these words, without its secrets. */
  writeCommandLine(words: readonly string[]): string
  /** Writes a line to standard output. */
  print(line: string): void
  /** Writes a line to standard error. */
  printError(line: string): void
  /** Prints a line with the key that the user needs to begin. */
  printWithKey(line: string): void
}

/** The most letters, or digits, of an ordinary word. As a secret it is hidden only where a secret is expected. */
const ORDINARY = new RegExp(`^(?:[a-z]{3,${SHORT}}|\\d{3,${SHORT}})$`, 'i')

/** A user must find the file that a message is about, although its name has the key of a sandbox. */
const SANDBOX_FILE = /(account-sandbox_[a-z0-9_-]+\.json)/

/** How a user starts this program, which is a dependency of a project or is nowhere installed. */
const START = ['npx', 'dmarc-understudy'] as const

/** A terminal that knows the secrets in the arguments and in the environment of the program. */
export function makeDiscreet(terminal: Terminal, args: readonly string[]): DiscreetTerminal {
  const known = new Secrets()
  function learn(secrets: Iterable<string>): void {
    for (const secret of secrets) known.add(ORDINARY.test(secret) ? `Bearer ${secret}` : secret)
  }
  learn(findGiven(args, terminal.environment))

  // `Bearer ` is known together with a secret that is an ordinary word.
  const labelOf = (found: string) => (/^bearer /i.exec(found)?.[0] ?? '') + HIDDEN
  const redact: Redact = (text) =>
    text
      .split(SANDBOX_FILE)
      .map((part, place) => (place % 2 === 0 ? hideSecrets(part, [known], labelOf) : part))
      .join('')

  function writeCommandLine(words: readonly string[]): string {
    const shown = words.map((word, place) => {
      const [before, own] = [readSecretFlag(words[place - 1] ?? ''), readSecretFlag(word)]
      if (own?.value !== undefined) return `${own.flag}=${HIDDEN}`
      return before !== undefined && before.value === undefined && !word.startsWith('--') ? HIDDEN : redact(word)
    })
    return writeShellLine([...START, ...shown])
  }

  // The service hides its own secrets in its log, and a line for each request must be cheap. It does not know those of a
  // command of the user.
  const redactLog = args.includes('--') ? redact : undefined

  return Object.create(terminal, {
    redact: { value: redact },
    learn: { value: learn },
    writeCommandLine: { value: writeCommandLine },
    printWithKey: { value: (line: string) => terminal.write(`${line}\n`) },
    write: { value: (text: string) => terminal.write(redact(text)) },
    print: { value: (line: string) => terminal.write(`${redact(line)}\n`) },
    printError: { value: (line: string) => terminal.writeError(`${redact(line)}\n`) },
    writeError: { value: (text: string) => terminal.writeError(redact(text)) },
    openLog: { value: (level: LogLevel, format?: LogFormat) => terminal.openLog(level, format, redactLog) },
  } satisfies Partial<Record<keyof DiscreetTerminal, PropertyDescriptor>>)
}

/** The names of options, variables and header fields that hold a secret. */
const NAME = /(?:(?:api|access|secret|private|auth)[-_]?key|token|secret|password|passwd|pwd)$|(?:^|_)key$/i
const FLAG = /^(--?[A-Za-z][\w-]*)(?:=(.+))?$/s
/** `NAME=VALUE` and `Name: VALUE` as a whole word. */
const PAIR = /^([A-Za-z_][\w-]*)(?:=|:\s*)(?:(?:bearer|basic)\s+)?(\S+)$/i
/** The same in the text of a shell, where only variables of the environment are certain to be no code. */
const ASSIGNED = /(?<![\w-])([A-Z][A-Z0-9_]*)=(?:"([^"$`]+)"|'([^']+)'|([^\s"'`$&;|()]+))/g
const WITH_SCHEME = /\b(?:bearer|basic)\s+([\w.~+/=-]+)/gi
/** User and password of a URL. The last `@` before the path ends them. */
const USER = /[a-z][a-z0-9+.-]{0,30}:\/\/([^\s/?#'"]+)@/gi
/** A value with a placeholder, such as `{apiKey}`, holds a secret only if the rest is longer than an ordinary word. */
const PLACEHOLDER = /\{\w+\}/

/** The secrets in the arguments of the program, those for a command of the user included, and in its own variables. */
export function findGiven(args: readonly string[], environment: NodeJS.ProcessEnv): string[] {
  const variables = Object.entries(environment).flatMap(([name, value = '']) => {
    if (!name.startsWith(PREFIX)) return []
    return NAME.test(name) ? [value] : [value, ...value.split(',')].flatMap(findInText)
  })
  const words = args.flatMap((word, index) => {
    const given = readSecretFlag(word)
    if (given === undefined) return findInText(word)
    const next = args[index + 1] ?? ''
    return [given.value ?? (next.startsWith('--') ? '' : next)]
  })
  return [...words, ...variables].flatMap(withoutPlaceholders)
}

/** A variable of the shell only names a secret. */
function withoutPlaceholders(value: string): string[] {
  if (value.startsWith('$')) return []
  const parts = value.split(PLACEHOLDER)
  const shortest = parts.length > 1 ? SHORT : 0
  return parts.filter(({ length }) => length > shortest)
}

/** A flag that gives a secret; `value` is `undefined` if the next word has it. */
function readSecretFlag(word: string): { flag: string; value: string | undefined } | undefined {
  const [, flag = '', value] = FLAG.exec(word) ?? []
  return NAME.test(flag) ? { flag, value } : undefined
}

function findInText(text: string): string[] {
  const [, name = '', value = ''] = PAIR.exec(text) ?? []
  if (NAME.test(name)) return [value]
  return [
    ...[...text.matchAll(ASSIGNED)].flatMap(([, variable = '', ...values]) =>
      NAME.test(variable) ? [values.find((each) => each !== undefined) ?? ''] : [],
    ),
    ...[...text.matchAll(WITH_SCHEME)].map(([, secret = '']) => secret),
    ...[...text.matchAll(USER)].flatMap(([, user = '']) => passwordsIn(user)),
  ]
}

/** The password as it is written, and as it is meant. A user without a password may be a token. */
function passwordsIn(user: string): string[] {
  const written = user.slice(user.indexOf(':') + 1)
  try {
    return [written, decodeURIComponent(written)]
  } catch {
    return [written]
  }
}
