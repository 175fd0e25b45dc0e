/**
 * A body, or the beginning of one, in its original form. A written or parsed text is short-lived, or kept in thousands
 * of entries. Bytes would need an object and memory in addition.
 */
export interface Content {
  /** A text is always the whole body. */
  held: string | Buffer
  /** The size of the whole body in bytes. */
  size: number
}

/** In bytes, the size up to which a text stays a text. A longer one is converted to bytes once. */
const SHORT = 4_096

export function contentOf(text: string): Content {
  const size = Buffer.byteLength(text)
  return { held: size <= SHORT ? text : Buffer.from(text), size }
}

/** Stands for a body that nobody has read, so that even its size is unknown. */
export const UNREAD: Content = { held: Buffer.alloc(0), size: Number.POSITIVE_INFINITY }

export const NO_BODY = contentOf('')

/** The bytes of the body, as far as they are held. */
export function bytesOf({ held }: Content): Buffer {
  return typeof held === 'string' ? Buffer.from(held) : held
}

export function textOf({ held }: Content): string {
  return typeof held === 'string' ? held : held.toString()
}

/** Whether only a part of the body is held. */
export function isCut({ held, size }: Content): boolean {
  return typeof held !== 'string' && held.length < size
}
