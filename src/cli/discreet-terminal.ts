import { writeShellLine } from '../ground/shell-word.ts'
import { HIDDEN } from '../journal/redaction/key-shapes.ts'
import { hideSecrets, type Redact } from '../journal/redaction/redaction.ts'
import { Secrets, SHORT } from '../journal/redaction/secrets.ts'
import { PREFIX } from '../server/option.ts'
import type { LogFormat, LogLevel } from './log.ts'
import type { Terminal } from './terminal.ts'

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
