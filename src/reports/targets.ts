import { constants } from 'node:fs'
import { access, chmod, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { nearestName } from '../ground/edit-distance.ts'
import { writeHtml } from './html.ts'
import { writeJUnit } from './junit.ts'
import { writeMarkdown } from './markdown.ts'
import type { Report } from './report.ts'

/** Each format, with the usual extension of its files. */
const FORMATS = {
  json: { ending: 'json', write: ({ json }: Report) => `${JSON.stringify(json, undefined, 2)}\n` },
  junit: { ending: 'xml', write: writeJUnit },
  markdown: { ending: 'md', write: (report: Report) => writeMarkdown(report) },
  html: { ending: 'html', write: writeHtml },
} as const

export type ReportFormat = keyof typeof FORMATS

export const FORMAT_NAMES = Object.keys(FORMATS) as ReportFormat[]

/** A report that a person asked for. */
export interface ReportTarget {
  readonly format: ReportFormat
  readonly file: string
}

/** Parses `FORMAT=FILE`. Returns `undefined` for a text that `refuseReportTarget` explains. */
export function readReportTarget(written: string): ReportTarget | undefined {
  const [, name, file] = /^([^=]+)=(.+)$/s.exec(written) ?? []
  const format = FORMAT_NAMES.find((each) => each === name)
  return format === undefined || file === undefined || file === '-' ? undefined : { format, file }
}

/** Explains why a text is not a report target. The result is the end of an error message. */
export function refuseReportTarget(written: string): string {
  const [name = '', ...rest] = written.split('=')
  const format = FORMAT_NAMES.find((each) => each === name)
  if (format === undefined) {
    const nearest = FORMAT_NAMES.find((each) => FORMATS[each].ending === name) ?? nearestName(name, FORMAT_NAMES)
    return nearest === undefined
      ? `must be FORMAT=FILE, where FORMAT is ${FORMAT_NAMES.join(', ')}`
      : `did you mean ${nearest}=${rest.join('=') || 'FILE'}?`
  }
  if (rest.join('=') === '-') return 'standard output belongs to the command; name a file'
  return `must name a file, such as ${format}=report.${FORMATS[format].ending}`
}

/** Writes a report. Resolves to the reason if that failed, as the end of a sentence. */
export async function writeReport(report: Report, { format, file }: ReportTarget): Promise<string | undefined> {
  return writeTarget(file, await FORMATS[format].write(report))
}

/** Explains, before the work begins, why a file cannot be written, as the end of a sentence. It creates no file. */
export async function checkTarget(file: string): Promise<string | undefined> {
  try {
    const status = await statIfThere(file)
    if (status?.isDirectory()) return 'is a folder; name a file in it'
    if (status === undefined && (await statIfThere(dirname(file))) === undefined) return NO_FOLDER
    await access(status === undefined ? dirname(file) : file, constants.W_OK)
    return undefined
  } catch (error) {
    return explainFailure(error)
  }
}

/** A file that a command reads, or that it writes at the end. */
export interface NamedFile {
  /** The option as the user wrote it, such as `--evidence a.json`. */
  readonly source: string
  readonly file: string
  readonly isRead?: boolean
}

/** Two entries for the same file, if the command writes one of them; `undefined` if there are none. */
export async function findShared(
  files: readonly NamedFile[],
): Promise<{ earlier: NamedFile; later: NamedFile } | undefined> {
  const known = new Map<string, NamedFile>()
  // The error must name the file that is written, because the user has to change that one.
  for (const later of files.toSorted((one, other) => Number(other.isRead ?? false) - Number(one.isRead ?? false))) {
    const path = await followLinks(later.file)
    const earlier = known.get(path)
    if (earlier !== undefined && !later.isRead && !(await isDevice(path))) return { earlier, later }
    known.set(path, later)
  }
  return undefined
}

/** The path of a file without links, also if the file itself is not there yet. */
async function followLinks(file: string): Promise<string> {
  const folder = await realpath(dirname(resolve(file))).catch(() => dirname(resolve(file)))
  return realpath(file).catch(() => join(folder, basename(file)))
}

/** Whether the path is a device, a pipe or a socket, which several texts can go to. */
async function isDevice(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === false
}

async function statIfThere(path: string) {
  try {
    return await stat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Codes that say that a file cannot be replaced, for example because it is mounted alone. It may still be written. */
const IRREPLACEABLE: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY'])

/**
 * Writes a text to a file of the user, atomically if possible. Resolves to the reason if that failed, as the end of a
 * sentence. `mode` sets the permissions; by default the permissions of the old file stay.
 */
export async function writeTarget(file: string, text: string, mode?: number): Promise<string | undefined> {
  try {
    const path = await followLinks(file)
    const status = await statIfThere(path)
    // A rename to the name of a device or a pipe would remove it.
    if (status !== undefined && !status.isFile()) await writeFile(path, text)
    else await replaceFile(path, text, { mode: mode ?? status?.mode, isThere: status !== undefined })
    return undefined
  } catch (error) {
    return explainFailure(error)
  }
}

/** A reader sees the whole old or the whole new file. */
async function replaceFile(
  path: string,
  text: string,
  { mode, isThere }: { mode: number | undefined; isThere: boolean },
): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`
  try {
    await rm(draft, { force: true })
    await writeFile(draft, text, { flag: 'wx', ...(mode !== undefined && { mode: 0o600 }) })
    if (mode !== undefined) await chmod(draft, mode & 0o777)
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {})
    if (!isThere || !IRREPLACEABLE.has((error as NodeJS.ErrnoException).code)) throw error
    await writeFile(path, text)
  }
}

const NO_FOLDER = 'is in a folder that does not exist; create it, or name another file'

/** Advice for each error code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: NO_FOLDER,
  ENOTDIR: 'is below a file; name a file in a folder',
  EACCES: 'may not be written by this user (EACCES); name another file',
  EROFS: 'is on a file system that is read-only; name another file',
  ENOSPC: 'finds the disk full; make room, or name a file elsewhere',
}

/** Explains why a file could not be written, as the end of a sentence. Throws an error of another kind again. */
export function explainFailure(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  return REASONS[code] ?? `cannot be written (${code}); name another file`
}
