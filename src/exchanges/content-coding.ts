import * as zlib from 'node:zlib'
import { readJson } from '../ground/json.ts'
import { KnownBody, type SeenBody, unknownBody } from './exchange.ts'

/** How many bytes a body may have without its content codings. */
const DECODED_LIMIT = 16 << 20
/** How many content codings may be stacked. */
const CODINGS_LIMIT = 5

type Undo = (bytes: Buffer, options: { maxOutputLength: number }) => Buffer

/** Node.js has zstd from 22.15 on. */
const { zstdDecompressSync } = zlib as { zstdDecompressSync?: Undo }

const CODINGS: ReadonlyMap<string, Undo | undefined> = new Map<string, Undo | undefined>([
  ['gzip', zlib.gunzipSync as Undo],
  ['deflate', inflate],
  ['br', zlib.brotliDecompressSync as Undo],
  ['zstd', zstdDecompressSync],
])

/**
 * A body without its content codings, `coding` being the value of Content-Encoding (RFC 9110 §8.4), whose last member
 * was applied last. A body that cannot be decoded, or not within the limit of bytes, is unknown. JSON has no coding: a
 * recorder, or a middleware, may have kept the field and not the coding.
 */
export function decodeBody(bytes: Buffer, coding: string | undefined, limit = DECODED_LIMIT): SeenBody {
  const codings = (coding ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^x-/, ''))
  const applied = codings.filter((name) => name !== '' && name !== 'identity')
  if (bytes.length === 0 || applied.length === 0) return new KnownBody(bytes)
  if (applied.length > CODINGS_LIMIT) return unknownBody(`The body has more than ${CODINGS_LIMIT} content codings.`)
  let decoded = bytes
  for (const name of applied.toReversed()) {
    const undo = CODINGS.get(name)
    try {
      if (undo === undefined) throw new Error('unknown')
      decoded = undo(decoded, { maxOutputLength: limit })
    } catch (error) {
      if (readJson(bytes.toString()) !== undefined) return new KnownBody(bytes)
      if (undo === undefined) return unknownBody(`The content coding ${name.slice(0, 40)} cannot be undone here.`)
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      const reason = isTooLarge ? `has more than ${limit} bytes` : 'is damaged'
      return unknownBody(`The body with the content coding ${name} ${reason}.`)
    }
  }
  return new KnownBody(decoded)
}

/** Some servers send "deflate" without the zlib frame (RFC 9110 §8.4.1.2). */
function inflate(bytes: Buffer, options: { maxOutputLength: number }): Buffer {
  const hasFrame = ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.length > 1 && bytes.readUInt16BE(0) % 31 === 0
  return hasFrame ? zlib.inflateSync(bytes, options) : zlib.inflateRawSync(bytes, options)
}
