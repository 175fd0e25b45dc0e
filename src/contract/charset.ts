import type { Settings } from '../domain/settings.ts'

export const BYTE_ORDER_MARK = '\ufeff'

const UTF8_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i

/** Whether a body with this Content-Type is read. */
export function acceptsType(type: string | undefined, settings: Pick<Settings, 'contentType'>): boolean {
  // The setting is read only for a type that it can make a difference to.
  return UTF8_TYPE.test(type ?? '') || settings.contentType === 'ignored'
}

/** RFC 8259 §8.1: JSON is UTF-8 without a byte order mark. Such a mark stays in the text, which is then no JSON. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a body; `undefined` if it is no UTF-8. */
export function decodeBody(bytes: Buffer): string | undefined {
  try {
    return UTF_8.decode(bytes)
  } catch {
    return undefined
  }
}
