import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeBody } from '../../src/exchanges/content-coding.ts'

const TEXT = Buffer.from('{"success":true}'.repeat(3))
/** The same text with zstd, which not every Node.js can write. */
const ZSTD = Buffer.from('KLUv/SAwtQAAgHsic3VjY2VzcyI6dHJ1ZX0BAAafSw==', 'base64')
const JSON_TEXT = Buffer.from('{"a":1}')

describe('A content coding', () => {
  it.each<[coding: string | undefined, bytes: Buffer]>([
    [undefined, TEXT],
    ['', TEXT],
    ['identity', TEXT],
    ['gzip', gzipSync(TEXT)],
    ['X-GZip', gzipSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['gzip, identity,\tbr', brotliCompressSync(gzipSync(TEXT))],
  ])('%j is undone', (coding, bytes) => {
    expect(decodeBody(bytes, coding)).toMatchObject({ bytes: TEXT })
  })

  it.each<[what: string, coding: string, bytes: Buffer, reason: RegExp]>([
    ['is unknown', 'x-magic', gzipSync(TEXT), /The content coding magic cannot be undone/],
    ['is that of another one', 'gzip', brotliCompressSync(TEXT), /gzip is damaged/],
    ['breaks off', 'gzip', gzipSync(TEXT).subarray(0, -9), /gzip is damaged/],
    ['breaks off', 'br', brotliCompressSync(TEXT).subarray(0, -9), /br is damaged/],
    ['breaks off', 'deflate', deflateSync(TEXT).subarray(0, -9), /deflate is damaged/],
    ['is a bomb', 'gzip', gzipSync(Buffer.alloc(1 << 20)), /gzip has more than 1000 bytes/],
    ['is a bomb in a bomb', 'br, gzip', gzipSync(brotliCompressSync(Buffer.alloc(1 << 24))), /br has more than 1000/],
    ['is stacked too often', 'gzip,'.repeat(6), gzipSync(TEXT), /more than 5 content codings/],
    ['has the name of a property', '__proto__', gzipSync(TEXT), /cannot be undone/],
  ])('that %s leaves the body unknown: %s', (_, coding, bytes, reason) => {
    expect(decodeBody(bytes, coding, 1000)).toEqual({ isKnown: false, reason: expect.stringMatching(reason) })
  })

  it('zstd is undone where Node.js can do it, and otherwise leaves the body unknown', () => {
    const { isKnown } = decodeBody(ZSTD, 'zstd')
    expect(isKnown).toBe('zstdDecompressSync' in process.getBuiltinModule('node:zlib'))
  })

  it.each(['gzip', 'deflate', 'br', 'zstd', 'gzip, zstd'])('%s is that of no JSON, which stays as it is', (coding) => {
    expect(decodeBody(JSON_TEXT, coding)).toMatchObject({ bytes: JSON_TEXT })
  })
})
