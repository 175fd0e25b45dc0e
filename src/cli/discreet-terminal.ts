import { writeShellLine } from '../ground/shell-word.ts'
import { HIDDEN } from '../journal/redaction/key-shapes.ts'
import { hideSecrets, type Redact } from '../journal/redaction/redaction.ts'
import { Secrets, SHORT } from '../journal/redaction/secrets.ts'
import { variableFor } from '../server/option.ts'
import { findGiven, readSecretFlag } from './given-secrets.ts'
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
  /** A command line for a POSIX shell. Variables of the environment replace its secrets, so a user can still run it. */
  writeCommandLine(words: readonly string[]): string
  /** Prints a line with the key that the user needs to begin. */
  printWithKey(line: string): void
}

/** The most letters, or digits, of an ordinary word. As a secret it is hidden only where a secret is expected. */
const ORDINARY = new RegExp(`^(?:[a-z]{3,${SHORT}}|\\d{3,${SHORT}})$`, 'i')

/** A user must find the file that a message is about, although its name has the key of a sandbox. */
const SANDBOX_FILE = /(account-sandbox_[a-z0-9_-]+\.json)/

/** A terminal that knows the secrets in the arguments and in the environment of the program. */
export function makeDiscreet(terminal: Terminal, args: readonly string[]): DiscreetTerminal {
  const known = new Secrets()
  const variables = new Map<string, string>()

  function learn(secrets: Iterable<string>): void {
    for (const secret of secrets) known.add(ORDINARY.test(secret) ? `Bearer ${secret}` : secret)
  }
  for (const { value, variable } of findGiven(args, terminal.environment)) {
    learn([value])
    if (!variables.has(value)) variables.set(value, variable)
  }

  const hide: Redact = (text) => hideSecrets(text, [known], (found) => splitScheme(found).scheme + HIDDEN)
  const redact: Redact = (text) =>
    text
      .split(SANDBOX_FILE)
      .map((part, place) => (place % 2 === 0 ? hide(part) : part))
      .join('')

  /** A word with variables in place of its secrets. No argument of a program can hold the character NUL. */
  function quote(word: string): string {
    const found: string[] = []
    const hidden = hideSecrets(word, [known], (each) => {
      const { scheme, secret } = splitScheme(each)
      found.push(secret)
      return `${scheme}\0`
    })
    if (found.length === 0) return writeShellLine([word])
    return hidden
      .split('\0')
      .map((part, place) => (place === 0 ? '' : expand(variables.get(found[place - 1] ?? ''))) + quotePart(part))
      .join('')
  }

  function writeCommandLine(words: readonly string[]): string {
    const end = words.indexOf('--')
    const written = words.map((word, place) => {
      if (end >= 0 && place > end) return quote(word)
      const given = readSecretFlag(word)
      if (given?.value !== undefined) return `--${given.flag}=${expand(variableFor(given.flag))}`
      const before = readSecretFlag(words[place - 1] ?? '')
      const isValue = before !== undefined && before.value === undefined && !word.startsWith('--')
      return isValue ? expand(variableFor(before.flag)) : quote(word)
    })
    return written.join(' ')
  }

  // The service hides its own secrets in its log, and a line for each request must be cheap. It does not know those of a
  // command of the user.
  const redactLog = args.includes('--') ? redact : undefined

  return Object.create(terminal, {
    redact: { value: redact },
    learn: { value: learn },
    writeCommandLine: { value: writeCommandLine },
    printWithKey: { value: (line: string) => terminal.print(line) },
    write: { value: (text: string) => terminal.write(redact(text)) },
    print: { value: (line: string) => terminal.print(redact(line)) },
    printError: { value: (line: string) => terminal.printError(redact(line)) },
    writeError: { value: (text: string) => terminal.writeError(redact(text)) },
    openLog: { value: (level: LogLevel, format?: LogFormat) => terminal.openLog(level, format, redactLog) },
  } satisfies Partial<Record<keyof DiscreetTerminal, PropertyDescriptor>>)
}

/** `Bearer ` is known together with a secret that is an ordinary word. */
function splitScheme(found: string): { scheme: string; secret: string } {
  const [scheme = ''] = /^bearer /i.exec(found) ?? []
  return { scheme, secret: found.slice(scheme.length) }
}

function expand(variable = 'API_KEY'): string {
  return `"$${variable}"`
}

function quotePart(part: string): string {
  return part === '' ? '' : writeShellLine([part])
}
