import type { Settings } from '../domain/settings.ts'

export const BYTE_ORDER_MARK = '\ufeff'

const UTF8_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i
const CHARSET = /;[ \t]*charset=("?)([\w.:-]+)\1[ \t]*(?:;|$)/i
/** Names of ISO 8859-1. `TextDecoder` decodes it as windows-1252, which differs in 32 bytes. */
const LATIN_1 = /^(?:iso-?8859-1|latin-?1|l1)$/i

/** The text of bytes with this Content-Type; `undefined` if they are invalid in its charset. */
export type Decode = (bytes: Buffer, type: string | undefined) => string | undefined

/** Whether a body with this Content-Type is read. */
export function acceptsType(
  type: string | undefined,
  { contentType, requestCharset }: Pick<Settings, 'contentType' | 'requestCharset'>,
): boolean {
  const given = type ?? ''
  const isJson = contentType === 'ignored' || (requestCharset === 'utf-8' ? UTF8_TYPE : JSON_TYPE).test(given)
  return isJson && (requestCharset !== 'decoded' || canDecode(charsetOf(given)))
}

/** RFC 8259 §8.1: JSON is UTF-8 without a byte order mark. The settings of an API may differ. */
export function createDecoder({
  requestCharset,
  byteOrderMark,
}: Pick<Settings, 'requestCharset' | 'byteOrderMark'>): Decode {
  const ignoreBOM = byteOrderMark === 'refused'
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM })
  if (requestCharset !== 'decoded') return (bytes) => decodeWith(utf8, bytes)
  return (bytes, type = '') => {
    const charset = charsetOf(type)
    if (charset === undefined) return decodeWith(utf8, bytes)
    if (LATIN_1.test(charset)) return bytes.toString('latin1')
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
