/**
 * A body, or the beginning of one. It is held as it came to be: what was written or parsed as a text is short-lived or
 * kept by the thousand, and bytes would need an object and a place of their own beside it.
 */
export interface Content {
  /** A text is always the whole body. */
  held: string | Buffer
  /** Bytes of the whole. */
  size: number
}

/** Bytes up to which a text is not worth the bytes that it is sent as. */
const SHORT = 4_096

export function contentOf(text: string): Content {
  const size = Buffer.byteLength(text)
  return { held: size <= SHORT ? text : Buffer.from(text), size }
}

/** As much of the body as is held. */
export function bytesOf({ held }: Content): Buffer {
  return typeof held === 'string' ? Buffer.from(held) : held
}

export function textOf({ held }: Content): string {
  return typeof held === 'string' ? held : held.toString()
}

/** Each byte as a character, of a short body; `undefined` for any other. */
export function binaryOf({ held, size }: Content): string | undefined {
  if (size > SHORT) return undefined
  if (typeof held !== 'string') return held.toString('latin1')
  return held.length === size ? held : Buffer.from(held).toString('latin1')
}

/** Whether more belongs to the body than is held. */
export function isCut({ held, size }: Content): boolean {
  return typeof held !== 'string' && held.length < size
}
