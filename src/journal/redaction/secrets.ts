import { isShaped } from './key-shapes.ts'

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
