import type { Settings } from '../domain/settings.ts'

export const BYTE_ORDER_MARK = '\ufeff'

const UTF8_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i
const CHARSET = /;[ \t]*charset=("?)([\w.:-]+)\1[ \t]*(?:;|$)/i
/** Names of ISO 8859-1. `TextDecoder` decodes it as windows-1252, which differs in 32 bytes. */
const LATIN_1 = /^(?:iso-?8859-1|latin-?1|l1)$/i

/** The text of bytes with this Content-Type; `undefined` if they are invalid in its charset. */
export type Decode = (bytes: Buffer, type: string | undefined) => string | undefined

/** The usual type. Under every setting, it is accepted, and its charset is UTF-8 (RFC 8259 §8.1). */
export const USUAL_TYPE = 'application/json'

/** Whether a body with this Content-Type is read. */
export function acceptsType(
  type: string | undefined,
  settings: Pick<Settings, 'contentType' | 'requestCharset'>,
): boolean {
  if (type === USUAL_TYPE) return true
  const { contentType, requestCharset } = settings
  const given = type ?? ''
  const isJson = contentType === 'ignored' || (requestCharset === 'utf-8' ? UTF8_TYPE : JSON_TYPE).test(given)
  return isJson && (requestCharset !== 'decoded' || canDecode(charsetOf(given)))
}

/**
 * RFC 8259 §8.1: JSON is UTF-8 without a byte order mark. The settings of an API may differ. They are read only for a
 * body that they can make a difference to.
 */
export function createDecoder(settings: Pick<Settings, 'requestCharset' | 'byteOrderMark'>): Decode {
  // A byte order mark stays in the text, which is then no JSON.
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return (bytes, type) => {
    const charset = type === USUAL_TYPE || settings.requestCharset !== 'decoded' ? undefined : charsetOf(type ?? '')
    if (charset === undefined) {
      const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
      return decodeWith(utf8, isMarked && settings.byteOrderMark === 'ignored' ? bytes.subarray(3) : bytes)
    }
    if (LATIN_1.test(charset)) return bytes.toString('latin1')
    const ignoreBOM = settings.byteOrderMark === 'refused'
    return decodeWith(new TextDecoder(charset, { fatal: true, ignoreBOM }), bytes)
  }
}

function charsetOf(type: string): string | undefined {
  return CHARSET.exec(type)?.[2]
}

function canDecode(charset: string | undefined): boolean {
  if (charset === undefined || LATIN_1.test(charset)) return true
  try {
    new TextDecoder(charset)
    return true
  } catch {
    return false
  }
}

function decodeWith(decoder: { decode(bytes: Buffer): string }, bytes: Buffer): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
