import { hashKey } from '../../ground/secrets.ts'
import { decodePart } from '../../ground/target.ts'

/** The replacement for a secret. */
export const HIDDEN = '[redacted]'

const KEY = String.raw`key_[0-9A-Za-z]{8}\.[0-9A-Za-z]+`
/** The id of a sandbox is a key. */
const SANDBOX = 'sandbox_[!#$%()*+./0-9:=?@A-Z^_`a-z{|}~-]+'
/** Texts that look like a key, whole or cut off. */
export const SHAPES: RegExp = new RegExp(`${KEY}|${SANDBOX}`, 'g')
const WHOLE = new RegExp(`^(?:${KEY}|${SANDBOX})$`)
/** Messages about a sandbox name its file. */
const LOGGED = new RegExp(`(?<=account-)sandbox_[a-z0-9_-]+(?=\\.json)|${SHAPES.source}`, 'g')

/** Whether a text as a whole looks like a key. */
export function isShaped(text: string): boolean {
  return WHOLE.test(text)
}

/** Hides every text that looks like a key. */
export function redactKeys(text: string): string {
  return text.replaceAll(SHAPES, HIDDEN)
}

/** The name of an account in the log. The id of a sandbox is a key, so a part of its hash replaces it. */
export function nameInLog(accountId: string): string {
  return accountId.startsWith('sandbox_') ? `sandbox:${hashKey(accountId).slice(0, 8)}` : accountId
}

/** A path of the control plane in the log. Its accounts have the same names as in `nameInLog`. */
export function namePathInLog(path: string): string {
  return path.replaceAll(/(?<=\/)sandbox_[^/]*/g, (step) => nameInLog(decodePart(step) ?? step))
}

/** Like `redactKeys`, but sandboxes keep a name, so the log lines about a sandbox can be found. */
export function redactKeysInLog(text: string): string {
  return text.replaceAll(LOGGED, (key) => (key.startsWith('sandbox_') ? nameInLog(key) : HIDDEN))
}

/** A shorter secret is not searched for: every `x` would match in nearly every text. */
const SHORTEST = 3
/** A secret of at most this length is found only if it stands alone, because it may be part of an ordinary word. */
export const SHORT = 7

/**
 * The known secrets. Upper and lower case are equal, because a text may have been part of a hostname. Those that have the
 * shape of a key are known by that.
 */
export class Secrets {
  readonly #secrets = new Set<string>()
  #pattern: RegExp | undefined

  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.add(secret)
  }

  add(secret: string): void {
    if (secret.length < SHORTEST || isShaped(secret) || this.has(secret)) return
    this.#secrets.add(secret.toLowerCase())
    this.#pattern = undefined
  }

  delete(secret: string): void {
    if (this.#secrets.delete(secret.toLowerCase())) this.#pattern = undefined
  }

  has(secret: string): boolean {
    return this.#secrets.has(secret.toLowerCase())
  }

  /** Matches each of the secrets, in any spelling; `undefined` if there are none. */
  get pattern(): RegExp | undefined {
    if (this.#pattern === undefined && this.#secrets.size > 0) {
      // Of two that begin at the same place, the longer one is hidden.
      const spellings = [...this.#secrets].flatMap(spell).toSorted((one, other) => other.length - one.length)
      this.#pattern = new RegExp(spellings.map(patternOf).join('|'), 'gi')
    }
    return this.#pattern
  }
}

function patternOf(spelling: string): string {
  const literal = spelling.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return spelling.length > SHORT ? literal : String.raw`(?<![\w.-])${literal}(?![\w.-])`
}

/** The secret as it is, as the bytes of UTF-8, in a form, in JSON, and in a JSON pointer (RFC 6901). */
function spell(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1)
  const spellings = [
    ...[secret, Buffer.from(secret).toString('latin1'), secret.replaceAll(' ', '+')],
    ...[inJson, inJson.replaceAll('/', String.raw`\/`), secret.replaceAll('~', '~0').replaceAll('/', '~1')],
  ]
  return [...new Set(spellings)]
}
