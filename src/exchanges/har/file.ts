import { readFile, stat } from 'node:fs/promises'
import { isUtf16, lengthOfMark } from '../../ground/files.ts'
import { isObject, type Json, readJson } from '../../ground/json.ts'
import { shorten, showWritten } from '../../ground/show.ts'

/** The most bytes of a HAR file. */
export const LARGEST_HAR = 256 << 20
/** The creator that recordings of this program name. */
export const CREATOR = 'dmarc-understudy'
/** How many places are tried as the end of the last whole entry of a file that breaks off. */
const ENDS_TRIED = 1_000

/** Why recordings cannot be read or written. The message is one line. */
export class HarError extends Error {
  override name = 'HarError'
}

/** The content of a HAR file. */
export interface HarFile {
  path: string
  /** Whether this program has written it. */
  isOwn: boolean
  /** The elements of `log.entries`. */
  entries: readonly unknown[]
  /** A sentence about the place behind which the file is lost, if there is one. */
  broken: string | undefined
}

/** How the text of other files begins that users mistake for a recording. */
const FOREIGN: readonly [start: string, reason: string][] = [
  ['\x1f\ufffd', 'it is compressed with gzip; unpack it first'],
  ['PK\x03\x04', 'it is a ZIP archive, which keeps the bodies apart; record in a file whose name ends with .har'],
  ['%PDF', 'it is a PDF document'],
  ['<', 'it is HTML or XML'],
]

/** Reads a whole HAR file. @throws HarError for a file that is no recording */
export async function readHarFile(path: string): Promise<HarFile> {
  const name = shorten(path)
  const fail = (reason: string) => new HarError(`${name}: This is no HAR file: ${reason}.`)
  const text = await readText(path, name)
  const beginning = text.slice(0, 100).trimStart()
  const [, reason] = FOREIGN.find(([start]) => beginning.startsWith(start)) ?? []
  if (reason !== undefined) throw fail(reason)
  const whole = readJson(text)
  const document = whole ?? readBeginning(text)
  if (document === undefined) throw fail('it is not JSON, or breaks off before its first entry ends')
  const log = isObject(document) ? document['log'] : undefined
  const { entries, creator } = isObject(log) ? log : ({} as Json)
  if (!Array.isArray(entries)) throw fail('it has no list log.entries')
  return {
    ...{ path, entries, isOwn: isObject(creator) && creator['name'] === CREATOR },
    broken:
      whole === undefined ? `${name} breaks off: only its ${entries.length} whole entries are judged.` : undefined,
  }
}

/**
 * The text of a file. What is not UTF-8 becomes characters that count as lost. PowerShell writes UTF-16.
 * @throws HarError
 */
async function readText(path: string, name: string): Promise<string> {
  const refuse = (error: unknown): never => {
    throw new HarError(`${showWritten(path)}: The file cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  // Opening a pipe without a writer would block, so the type of the file is checked first.
  const facts = await stat(path).catch(refuse)
  if (facts.isDirectory()) throw new HarError(`${name}: This is a folder; give the HAR files in it.`)
  if (!facts.isFile()) throw new HarError(`${name}: This is no regular file; save the recording in one, and give that.`)
  if (facts.size > LARGEST_HAR) {
    const most = `at most ${LARGEST_HAR >> 20} MiB can be read; record in several files, and give all of them`
    throw new HarError(`${name}: The file has ${Math.ceil(facts.size / 2 ** 20)} MiB; ${most}.`)
  }
  const bytes = await readFile(path).catch(refuse)
  if (bytes.length === 0) throw new HarError(`${name}: The file is empty.`)
  if (!isUtf16(bytes)) return bytes.toString('utf8', lengthOfMark(bytes))
  const isBigEndian = bytes[0] === 0 || bytes[0] === 0xfe
  return new TextDecoder(isBigEndian ? 'utf-16be' : 'utf-16le').decode(bytes)
}

/** The document up to the last whole entry of a file that breaks off, such as that of a recorder that was killed. */
function readBeginning(text: string): unknown {
  let end = text.lastIndexOf('}')
  for (let tried = 0; end > 0 && tried < ENDS_TRIED; tried++) {
    const document = readJson(`${text.slice(0, end + 1)}]}}`)
    if (document !== undefined) return document
    end = text.lastIndexOf('}', end - 1)
  }
  return undefined
}
