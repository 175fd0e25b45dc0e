import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readInput } from '../../src/ground/files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const read = (bytes: Buffer, largest = 100) => {
  const path = join(temporaryFolder(), 'input')
  writeFileSync(path, bytes)
  return readInput(path, { content: 'overlay', largest, fail: (reason) => new Error(reason) })
}
const UTF16 = 'The file is written in UTF-16; save it in UTF-8.'

it('A file is read without its byte order mark, up to the largest size', async () => {
  expect(await read(Buffer.from('\ufeffä'))).toBe('ä')
  expect(await read(Buffer.from('abcd'), 4)).toBe('abcd')
  await expect(read(Buffer.from('abcde'), 4)).rejects.toThrow('The file has more than 4 bytes, the most for one of')
})

it.each([
  ['UTF-16', Buffer.from('{}', 'utf16le'), UTF16],
  ['UTF-16 with the other order of bytes', Buffer.from('{}', 'utf16le').swap16(), UTF16],
  ['UTF-16 with a mark', Buffer.from('\ufeffä', 'utf16le'), UTF16],
  ['Latin-1', Buffer.from('a\n\nä', 'latin1'), 'The file is not UTF-8 in line 3; save it in UTF-8.'],
])('A file in %s is refused', async (_, bytes, reason) => {
  await expect(read(bytes)).rejects.toThrow(reason)
})
