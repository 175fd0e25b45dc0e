import { stripVTControlCharacters } from 'node:util'
import type { Redact } from '../journal/redaction/redaction.ts'

/** The most lines and characters at the end of an output that are reported. */
const LINES = 20
const CHARACTERS = 2_000

/** The end of an output for a report, without colours and secrets. No secret is cut before it is hidden. */
export function lastLines(output: string, redact: Redact): string {
  const text = stripVTControlCharacters(output).trimEnd()
  const redacted = redact(text.slice(-2 * CHARACTERS))
  return redacted.split('\n').slice(-LINES).join('\n').slice(-CHARACTERS)
}

/** The end of the output of a command, in a buffer of constant size. */
export class OutputTail {
  readonly #bytes: Buffer
  #written = 0

  /** `size` is in bytes. */
  constructor(size: number) {
    this.#bytes = Buffer.alloc(size)
  }

  add(all: Buffer): void {
    const size = this.#bytes.length
    const kept = all.subarray(Math.max(0, all.length - size))
    const place = (this.#written + all.length - kept.length) % size
    const copied = kept.copy(this.#bytes, place)
    kept.copy(this.#bytes, 0, copied)
    this.#written += all.length
  }

  toString(): string {
    const size = this.#bytes.length
    if (this.#written <= size) return this.#bytes.toString('utf8', 0, this.#written)
    const place = this.#written % size
    const all = Buffer.concat([this.#bytes.subarray(place), this.#bytes.subarray(0, place)])
    // The buffer may begin in the middle of a UTF-8 character. That part is dropped.
    const first = all.findIndex((byte) => (byte & 0xc0) !== 0x80)
    return all.toString('utf8', Math.max(0, first))
  }
}
