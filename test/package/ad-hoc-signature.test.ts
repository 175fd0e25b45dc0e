import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'

const SIGNER = new URL('../../packaging/ad-hoc-signature.mjs', import.meta.url).href
const { signAdHoc } = (await import(SIGNER)) as { signAdHoc(file: string, identifier: string): Promise<void> }

/** A program of macOS with nothing in it but two segments, the first with one section. */
function program(): Buffer {
  const result = Buffer.alloc(10_000, 7).fill(0, 0, 4096)
  const segment = (at: number, size: number, name: string, [offset, length]: [number, number], sections: number) => {
    result.writeUInt32LE(0x19, at)
    result.writeUInt32LE(size, at + 4)
    result.write(name, at + 8)
    result.writeBigUInt64LE(BigInt(offset), at + 40)
    result.writeBigUInt64LE(BigInt(length), at + 48)
    result.writeUInt32LE(sections, at + 64)
  }
  result.writeUInt32LE(0xfeedfacf, 0)
  result.writeUInt32LE(2, 16)
  result.writeUInt32LE(224, 20)
  segment(32, 152, '__TEXT', [0, 8192], 1)
  result.writeUInt32LE(4096, 32 + 72 + 48)
  segment(184, 72, '__LINKEDIT', [8192, 1808], 0)
  return result
}

it('signs a program of macOS with the hash of each page, behind its end', async () => {
  const file = join(temporaryFolder(), 'program')
  writeFileSync(file, program())
  await signAdHoc(file, 'name')
  const signed = readFileSync(file)
  const [command, , start = 0, size = 0] = [0, 4, 8, 12].map((at) => signed.readUInt32LE(256 + at))
  expect([command, start, start + size, signed.readUInt32LE(16)]).toEqual([0x1d, 10_000, signed.length, 3])
  expect(signed.readBigUInt64LE(184 + 48)).toBe(BigInt(signed.length - 8192))
  const directory = signed.subarray(start + signed.readUInt32BE(start + 16))
  const [hashes = 0, pages = 0, limit = 0] = [16, 28, 32].map((at) => directory.readUInt32BE(at))
  expect([pages, limit]).toEqual([3, 10_000])
  for (let page = 0; page < pages; page++) {
    const content = signed.subarray(page * 4096, Math.min((page + 1) * 4096, limit))
    const kept = directory.subarray(hashes + page * 32, hashes + page * 32 + 32)
    expect(kept).toEqual(createHash('sha256').update(content).digest())
  }
})

it('does not sign twice, nor what is no program', async () => {
  const file = join(temporaryFolder(), 'program')
  writeFileSync(file, program())
  await signAdHoc(file, 'name')
  await expect(signAdHoc(file, 'name')).rejects.toThrow('The program is signed already.')
  writeFileSync(file, 'text of a script')
  await expect(signAdHoc(file, 'name')).rejects.toThrow('This is no program of macOS.')
})
