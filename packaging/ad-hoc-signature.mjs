// Signs a program of macOS ad hoc: with the hashes of its pages, and in nobody's name. Apple's processors run no program
// without. Apple's own tool exists only on macOS. The format is that of xnu's cs_blobs.h, whose numbers are big-endian,
// while those of the program are little-endian.
import { hash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'

const SEGMENT = 0x19
const CODE_SIGNATURE = 0x1d
const COMMAND_SIZE = 16
const PAGE = 4096
const SUPER_BLOB = 0xfade0cc0
const CODE_DIRECTORY = 0xfade0c02
const AD_HOC = 2
const SHA256 = { type: 2, size: 32 }
/** Of the code directory, up to the limits of what may be run. */
const VERSION = 0x20400
const DIRECTORY_SIZE = 88
const BLOB_HEADER = 20
/** Memory of all these processors is divided in such pages, or in smaller ones. */
const MEMORY_PAGE = 0x4000n

/** Signs the program in this file. It must have no signature, and room for one more load command. */
export async function signAdHoc(file, identifier) {
  await writeFile(file, signed(await readFile(file), identifier))
}

function signed(program, identifier) {
  const { segments, end, firstSection } = readCommands(program)
  const start = Math.ceil(program.length / 16) * 16
  const size = sizeOfSignature(start, identifier)
  if (end + COMMAND_SIZE > firstSection) throw new Error('The program has no room for a signature.')
  const result = Buffer.concat([program, Buffer.alloc(start + size - program.length)])
  result.writeUInt32LE(program.readUInt32LE(16) + 1, 16)
  result.writeUInt32LE(program.readUInt32LE(20) + COMMAND_SIZE, 20)
  for (const [index, value] of [CODE_SIGNATURE, COMMAND_SIZE, start, size].entries()) {
    result.writeUInt32LE(value, end + 4 * index)
  }
  // What is signed covers these lengths, so they come first.
  const { at, offset } = segments.get('__LINKEDIT')
  const length = BigInt(start + size) - offset
  result.writeBigUInt64LE(((length + MEMORY_PAGE - 1n) / MEMORY_PAGE) * MEMORY_PAGE, at + 32)
  result.writeBigUInt64LE(length, at + 48)
  signatureOf(result.subarray(0, start), identifier, segments.get('__TEXT')).copy(result, start)
  return result
}

function readCommands(program) {
  if (program.readUInt32LE(0) !== 0xfeedfacf) throw new Error('This is no program of macOS.')
  const segments = new Map()
  let end = 32
  let firstSection = Number.POSITIVE_INFINITY
  for (let left = program.readUInt32LE(16); left > 0; left--) {
    const command = program.readUInt32LE(end)
    if (command === CODE_SIGNATURE) throw new Error('The program is signed already.')
    if (command === SEGMENT) {
      const name = program.toString('latin1', end + 8, end + 24).replace(/\0+$/, '')
      const [offset, size] = [program.readBigUInt64LE(end + 40), program.readBigUInt64LE(end + 48)]
      segments.set(name, { at: end, offset, size })
      for (let index = 0; index < program.readUInt32LE(end + 64); index++) {
        const place = program.readUInt32LE(end + 72 + 80 * index + 48)
        if (place > 0) firstSection = Math.min(firstSection, place)
      }
    }
    end += program.readUInt32LE(end + 4)
  }
  return { segments, end, firstSection }
}

const pagesIn = (length) => Math.ceil(length / PAGE)

function sizeOfSignature(length, identifier) {
  return BLOB_HEADER + DIRECTORY_SIZE + identifier.length + 1 + pagesIn(length) * SHA256.size
}

function signatureOf(code, identifier, text) {
  const size = sizeOfSignature(code.length, identifier)
  const hashes = DIRECTORY_SIZE + identifier.length + 1
  const signature = Buffer.alloc(size)
  // One blob: of type 0, behind the header.
  write(signature, 0, [SUPER_BLOB, size, 1, 0, BLOB_HEADER])
  const directory = signature.subarray(BLOB_HEADER)
  write(directory, 0, [CODE_DIRECTORY, directory.length, VERSION, AD_HOC, hashes, DIRECTORY_SIZE, 0])
  write(directory, 28, [pagesIn(code.length), code.length])
  directory.set([SHA256.size, SHA256.type, 0, Math.log2(PAGE)], 36)
  directory.writeBigUInt64BE(text.offset, 64)
  directory.writeBigUInt64BE(text.size, 72)
  // It is a program, and no library.
  directory.writeBigUInt64BE(1n, 80)
  directory.write(identifier, DIRECTORY_SIZE, 'latin1')
  for (let page = 0; page < pagesIn(code.length); page++) {
    const digest = hash('sha256', code.subarray(page * PAGE, (page + 1) * PAGE), 'buffer')
    digest.copy(directory, hashes + page * SHA256.size)
  }
  return signature
}

function write(buffer, start, numbers) {
  for (const [index, number] of numbers.entries()) buffer.writeUInt32BE(number, start + 4 * index)
}
