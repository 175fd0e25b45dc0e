import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import type { SeenBody } from '../exchanges/exchange.ts'

/** How many bytes a body may have after decoding. */
export const DECODED_LIMIT = 32 << 20
/** How many content codings may be stacked. */
const CODINGS_LIMIT = 5

type Undo = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** Node.js has zstd from 22.15 on. */
const { zstdDecompress } = zlib as { zstdDecompress?: Parameters<typeof promisify>[0] }

const CODINGS: Readonly<Record<string, Undo | undefined>> = {
  gzip: promisify(zlib.gunzip) as Undo,
  br: promisify(zlib.brotliDecompress) as Undo,
  deflate: inflate,
  zstd: zstdDecompress === undefined ? undefined : (promisify(zstdDecompress) as unknown as Undo),
}

/** Removes the content codings of a body. The last coding was applied last. */
export async function decodeBody(bytes: Buffer, codings: readonly string[]): Promise<SeenBody> {
  if (bytes.length === 0 || codings.length === 0) return { isKnown: true, bytes }
  if (codings.length > CODINGS_LIMIT) return unknown(`The body has more than ${CODINGS_LIMIT} content codings.`)
  let decoded = bytes
  for (const coding of codings.toReversed()) {
    const name = coding.replace(/^x-/, '')
    if (name === 'identity') continue
    const undo = Object.hasOwn(CODINGS, name) ? CODINGS[name] : undefined
    if (undo === undefined) return unknown(`The content coding ${coding} cannot be undone here.`)
    try {
      decoded = await undo(decoded, { maxOutputLength: DECODED_LIMIT })
    } catch (error) {
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      const reason = isTooLarge ? `has more than ${DECODED_LIMIT >> 20} MiB` : 'is damaged'
      return unknown(`The body with the content coding ${coding} ${reason}.`)
    }
  }
  return { isKnown: true, bytes: decoded }
}

/** Some servers send "deflate" (RFC 9110 §8.4.1.2) without the zlib frame. */
function inflate(bytes: Buffer, options: { maxOutputLength: number }): Promise<Buffer> {
  const hasFrame = ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.length > 1 && bytes.readUInt16BE(0) % 31 === 0
  return promisify(hasFrame ? zlib.inflate : zlib.inflateRaw)(bytes, options)
}

function unknown(reason: string): SeenBody {
  return { isKnown: false, reason }
}
