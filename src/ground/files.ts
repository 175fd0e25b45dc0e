import { isUtf8 } from 'node:buffer'
import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'

const NAME = 'dmarc-understudy'
/** What the program says where it was separated from its files. */
const LOST_FILES =
  'dmarc-understudy does not find its own files, because it was bundled or copied without them. Keep it out of the bundle, ' +
  "and install it where the bundle runs. Next.js: serverExternalPackages: ['dmarc-understudy']; esbuild: " +
  "--external:dmarc-understudy; webpack: externals: { 'dmarc-understudy': 'commonjs dmarc-understudy' }; Rollup: external: " +
  "[/^dmarc-understudy/]; Vite: ssr.external: ['dmarc-understudy']."
const load = createRequire(__filename)
/** The folder of the package. */
const FOLDER = locatePackage()

/** Whether this program runs from its sources, which may be newer than what was built of them. */
export const isSource: boolean = __filename.endsWith('.ts')

/** Looks the package up by its name, because a bundler may have copied this code to a place without the other files. */
function locatePackage(): string {
  try {
    return dirname(load.resolve(`${NAME}/openapi.yaml`))
  } catch {
    const error = new Error(LOST_FILES)
    // Where in a bundle this happens tells nobody anything.
    error.stack = error.message
    throw error
  }
}

/** Where a file of the package is on the disk. */
function placeOf(path: string): string {
  return resolve(FOLDER, path)
}

/**
 * The content of a file of the package, by its path in the package. A path that begins at the root is that of another
 * file. The read is synchronous, because a start has nothing else to do, and a promise costs 0.4 ms for each file.
 * @throws an error of the system
 */
export function readPackageFile(path: string): Buffer {
  return readFileSync(placeOf(path))
}

/** The names of the files in a folder of the package. */
export function listPackageFiles(folder: string): string[] {
  return readdirSync(placeOf(folder))
}

/** Loads a CommonJS module of the package by its path there, beginning with `./`, or one of another package by its name. */
export function loadModule(path: string): unknown {
  return load(path.startsWith('.') ? placeOf(path) : path)
}

/** The most bytes of a file that a user names, such as an overlay or a fixture. */
const LARGEST_INPUT = 256 << 20

const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const NEW_LINE = 10

/** What messages say about a kind of file. */
export interface InputKind {
  /** The name of its content: `overlay`. */
  content: string
  /** What to do if the system cannot read it. */
  remedy?: string
  /** The most bytes. */
  largest?: number
  /** The error with a sentence about the file. */
  fail(reason: string): Error
}

/**
 * The text of a file that a user names. It may be a pipe, or a device without an end: at most one byte more than the
 * largest file is read.
 */
export async function readInput(
  file: string,
  { content, remedy, largest = LARGEST_INPUT, fail }: InputKind,
): Promise<string> {
  const chunks: Buffer[] = []
  try {
    // The size of a pipe is not known in advance.
    for await (const chunk of createReadStream(file, { end: largest })) chunks.push(chunk as Buffer)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw fail(`The ${content} cannot be read (${code})${remedy === undefined ? '' : `; ${remedy}`}.`)
  }
  const bytes = Buffer.concat(chunks)
  if (bytes.length > largest) throw fail(`The file has more than ${largest} bytes, the most for one of its kind.`)
  if (isUtf16(bytes)) throw fail('The file is written in UTF-16; save it in UTF-8.')
  if (!isUtf8(bytes)) throw fail(`The file is not UTF-8 in line ${foreignLineOf(bytes)}; save it in UTF-8.`)
  return bytes.toString('utf8', lengthOfMark(bytes))
}

/** The number of bytes of the byte order mark at the beginning of a file in UTF-8. */
export function lengthOfMark(bytes: Buffer): number {
  return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
}

/** Whether the text of a file is UTF-16. Without a byte order mark, a zero beside its first character tells it. */
export function isUtf16([first, second]: Buffer): boolean {
  if (first === undefined || second === undefined) return false
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  return isMarked || (first === 0) !== (second === 0)
}

/** The first line that is not UTF-8, counted from 1. No other character of UTF-8 contains the byte of a new line. */
function foreignLineOf(bytes: Buffer): number {
  let line = 1
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(NEW_LINE, start)
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line
    start = end + 1
  }
}
