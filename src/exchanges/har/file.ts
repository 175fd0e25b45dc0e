import { readFileSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { isUtf16, lengthOfMark } from '../../ground/input-file.ts'
import { readJson } from '../../ground/json.ts'
import { shorten, showWritten } from '../../ground/show.ts'
import { LARGEST_BODY } from './entry.ts'
import { HarError } from './service.ts'

/** The most bytes of a HAR file. */
export const LARGEST_HAR = 256 << 20
/** The creator that recordings of this program name. */
export const CREATOR = 'dmarc-understudy'

/** The content of a HAR file. */
export interface HarFile {
  path: string
  /** Whether this program has written it. */
  isOwn: boolean
  /**
   * The JSON of each entry of `log.entries`. To parse one at a time, twice, takes half the time of keeping the objects of
   * a whole file.
   */
  entries: readonly string[]
  /** Whether it shows the servers that have answered, and whether its methods are not spelled as they were sent. */
  namesServers: boolean
  isRespelled: boolean
  /** A sentence about the place behind which the file is lost, if there is one. */
  broken: string | undefined
}

/** Reads a whole HAR file. @throws HarError for a file that is no recording */
export async function readHarFile(path: string): Promise<HarFile> {
  const name = shorten(path)
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
  const text = textOf(bytes)
  const fail = (reason: string) => new HarError(`${name}: This is no HAR file: ${reason}.`)
  const beginning = bytes.toString('latin1', 0, 100).trimStart()
  const [, reason] = FOREIGN.find(([start]) => beginning.startsWith(start)) ?? []
  if (!beginning.startsWith('{') && reason !== undefined) throw fail(reason)
  const found = findEntries(text)
  if (found === undefined) throw fail(readJson(text) === undefined ? 'it is not JSON' : 'it has no list log.entries')
  const { entries, isCut } = found
  if (isCut && entries.length === 0) throw fail('it breaks off before its first entry ends')
  const isOwn = text.slice(0, 200).includes(`"creator":{"name":"${CREATOR}"`)
  return {
    ...{ path, isOwn, entries },
    namesServers: !isOwn && NAMED_SERVER.test(text),
    isRespelled: !isOwn && RESPELLED.test(text),
    broken: isCut ? `${name} breaks off: only its ${entries.length} whole entries are judged.` : undefined,
  }
}

/** Within a text of JSON, the quotation marks would be escaped. */
const NAMED_SERVER = /"(?:serverIPAddress|connection)"\s*:\s*"[^"]/
const RESPELLED =
  /"method"\s*:\s*"(?!(?:GET|POST|PUT|DELETE|HEAD|OPTIONS)")(?:[Gg][Ee][Tt]|[Pp][Oo][Ss][Tt]|[Pp][Uu][Tt]|[Dd][Ee][Ll][Ee][Tt][Ee]|[Hh][Ee][Aa][Dd]|[Oo][Pp][Tt][Ii][Oo][Nn][Ss])"/

/** How other files begin that users mistake for a recording, in Latin-1. */
const FOREIGN: readonly [start: string, reason: string][] = [
  ['\x1f\x8b', 'it is compressed with gzip; unpack it first'],
  ['PK\x03\x04', 'it is a ZIP archive; unpack it first, and give the .har file in it'],
  ['%PDF', 'it is a PDF document'],
  ['<', 'it is HTML or XML'],
]

/** What is not UTF-8 becomes characters that count as lost. PowerShell writes UTF-16. */
function textOf(bytes: Buffer): string {
  if (!isUtf16(bytes)) return bytes.toString('utf8', lengthOfMark(bytes))
  const isBigEndian = bytes[0] === 0 || bytes[0] === 0xfe
  return new TextDecoder(isBigEndian ? 'utf-16be' : 'utf-16le').decode(bytes)
}

/**
 * The entries of a HAR file by their brackets, also if the file breaks off, or if something in it is damaged. `undefined`
 * if there is no list of entries.
 */
function findEntries(text: string): { entries: string[]; isCut: boolean } | undefined {
  const entries: string[] = []
  /** The latest text of each of the levels that lead to the entries: the document, the log. */
  const names: string[] = []
  let [depth, start, isList, hasList] = [0, 0, false, false]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= 32) continue
    const isBetween = depth === 3 && isList
    if (isBetween && start < 0 && code !== COMMA && code !== CLOSE_ARRAY) start = at
    if (code === QUOTE) {
      const end = endOfText(text, at)
      if (depth < 3) names[depth] = text.slice(at + 1, Math.min(end, at + 20))
      at = end
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      depth++
      if (depth !== 3) continue
      isList = code === OPEN_ARRAY && names[1] === 'log' && names[2] === 'entries'
      hasList ||= isList
      start = -1
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY || code === COMMA) {
      if (isBetween && start >= 0) {
        // It is neither an object nor a list.
        entries.push(text.slice(start, at))
        start = -1
      }
      if (code !== COMMA && --depth === 3 && isList) {
        entries.push(text.slice(start, at + 1))
        start = -1
      }
    }
  }
  return hasList ? { entries, isCut: depth > 0 } : undefined
}

const [QUOTE, COMMA, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [34, 44, 123, 125, 91, 93]

/** The place of the quotation mark that ends a text; the end of everything if there is none. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}

/** The bytes of a file that a recorder stored separately, if it is beside the recording or below its folder. */
export function readAttached(path: string, name: string): Buffer | undefined {
  const folder = dirname(resolve(path))
  const wanted = resolve(folder, name)
  if (!wanted.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return undefined
  try {
    const facts = statSync(wanted)
    return facts.isFile() && facts.size <= LARGEST_BODY ? readFileSync(wanted) : undefined
  } catch {
    return undefined
  }
}
