import * as zlib from 'node:zlib'
import { expect, it } from 'vitest'
import { DECODED_LIMIT, decodeBody } from '../../src/proxy/decoding.ts'

const TEXT = Buffer.from('{"success":true}')

it.each<[codings: string[], bytes: Buffer]>([
  [['identity'], TEXT],
  [['gzip'], zlib.gzipSync(TEXT)],
  [['br'], zlib.brotliCompressSync(TEXT)],
  [['deflate'], zlib.deflateSync(TEXT)],
  [['deflate'], zlib.deflateRawSync(TEXT)],
  [['gzip', 'br'], zlib.brotliCompressSync(zlib.gzipSync(TEXT))],
])('undoes %j', async (codings, bytes) => {
  expect(await decodeBody(bytes, codings)).toEqual({ isKnown: true, bytes: TEXT })
})

it.each<[codings: string[], bytes: Buffer, reason: string]>([
  [['gzip'], TEXT, 'The body with the content coding gzip is damaged.'],
  [['gzip'], zlib.gzipSync(TEXT).subarray(0, 20), 'The body with the content coding gzip is damaged.'],
  [['compress'], TEXT, 'The content coding compress cannot be undone here.'],
  [Array(6).fill('gzip'), TEXT, 'The body has more than 5 content codings.'],
  [
    ['gzip'],
    zlib.gzipSync(Buffer.alloc(DECODED_LIMIT + 1)),
    'The body with the content coding gzip has more than 32 MiB.',
  ],
])('does not know what is in a body with %j that is wrong', async (codings, bytes, reason) => {
  expect(await decodeBody(bytes, codings)).toEqual({ isKnown: false, reason })
})

it('undoes zstd where Node.js can', async () => {
  const { zstdCompressSync } = zlib as unknown as { zstdCompressSync?: (bytes: Buffer) => Buffer }
  const body = await decodeBody(zstdCompressSync?.(TEXT) ?? TEXT, ['zstd'])
  expect(body.isKnown).toBe(zstdCompressSync !== undefined)
})
