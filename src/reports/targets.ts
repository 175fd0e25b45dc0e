import { constants } from 'node:fs'
import { access, chmod, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { nearestName } from '../ground/edit-distance.ts'
import { FORMAT_NAMES, FORMATS, type ReportFormat } from './formats.ts'
import type { Report, Surroundings } from './report.ts'

/** A report that a person asked for. */
export interface ReportTarget {
  readonly format: ReportFormat
  readonly file: string
}

/** A report that cannot be written, with the reason as the end of a sentence about the option. */
export interface Unwritable {
  readonly target: ReportTarget
  readonly reason: string
}

const TARGET = /^([^=]+)=(.+)$/s

/** Parses `FORMAT=FILE`. Returns `undefined` for a text that `refuseReportTarget` explains. */
export function readReportTarget(written: string): ReportTarget | undefined {
  const [, name, file] = TARGET.exec(written) ?? []
  const format = FORMAT_NAMES.find((each) => each === name)
  return format === undefined || file === undefined || file === '-' ? undefined : { format, file }
}

/** Explains why a text is not a report target. The result is the end of an error message. */
export function refuseReportTarget(written: string): string {
  const [name = '', ...rest] = written.split('=')
  const format = FORMAT_NAMES.find((each) => each === name)
  if (format === undefined) {
    const nearest = nearestName(name, FORMAT_NAMES)
    const file = rest.join('=') || 'FILE'
    return nearest === undefined
      ? `must be FORMAT=FILE, where FORMAT is ${FORMAT_NAMES.join(', ')}`
      : `did you mean ${nearest}=${file}?`
  }
  if (rest.join('=') === '-') return 'standard output belongs to the command; name a file'
  return `must name a file, such as ${format}=report.${FORMATS[format].ending}`
}

/** Explains, before the work begins, why a file cannot be written, as the end of a sentence. It creates no file. */
export async function checkTarget(file: string): Promise<string | undefined> {
  const place = await placeOf(file)
  return 'reason' in place ? place.reason : undefined
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
    const path = await followLinks(resolve(later.file)).catch(() => resolve(later.file))
    const status = await stat(path).catch(() => undefined)
    if (status !== undefined && !status.isFile()) continue
    const earlier = known.get(path)
    if (earlier !== undefined && !later.isRead) return { earlier, later }
    known.set(path, later)
  }
  return undefined
}

/** Writes each report. A failure does not stop the other reports. Resolves to the failed ones. */
export async function writeReports(
  report: Report,
  targets: readonly ReportTarget[],
  surroundings: Surroundings,
): Promise<Unwritable[]> {
  const failures: Unwritable[] = []
  for (const target of targets) {
    const write = await FORMATS[target.format].load()
    const text = await write(report, surroundings)
    const reason = await writeTarget(target.file, text)
    if (reason !== undefined) failures.push({ target, reason })
  }
  return failures
}

interface TargetPlace {
  /** The path after all links. */
  path: string
  /**
   * `stream` is for devices, pipes and sockets, because a rename to their name would remove them. `overwrite` is for a
   * file in a read-only folder, such as a file that is mounted alone.
   */
  how: 'replace' | 'overwrite' | 'stream'
}

async function placeOf(file: string): Promise<TargetPlace | { reason: string }> {
  try {
    const path = await followLinks(resolve(file))
    const folder = dirname(path)
    const status = await statIfThere(path)
    if (status?.isDirectory()) return { reason: 'is a folder; name a file in it' }
    if (status !== undefined) await access(path, constants.W_OK)
    if (status !== undefined && !status.isFile()) return { path, how: 'stream' }
    const parent = await statIfThere(folder)
    if (parent === undefined) return { reason: 'its folder does not exist; create it, or name another file' }
    const isOpen = await access(folder, constants.W_OK | constants.X_OK).then(
      () => true,
      (error) => {
        if (status === undefined) throw error
        return false
      },
    )
    return { path, how: isOpen ? 'replace' : 'overwrite' }
  } catch (error) {
    return { reason: explainFailure(error) }
  }
}

/** The file that the name refers to. It need not exist; the target of a link need not exist either. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    // A cycle of links causes another error, so this loop ends.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const next = await readlink(path).catch(() => undefined)
  if (next !== undefined) return followLinks(resolve(dirname(path), next))
  const folder = await realpath(dirname(path)).catch(() => dirname(path))
  return join(folder, basename(path))
}

async function statIfThere(path: string) {
  try {
    return await stat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Writes a text to a file of the user, atomically if possible. Resolves to the reason if that failed, as the end of a
 * sentence. The folder is checked again, because the work may have taken an hour. `mode` sets the permissions; by
 * default the permissions of the old file stay.
 */
export async function writeTarget(file: string, text: string, mode?: number): Promise<string | undefined> {
  const place = await placeOf(file)
  if ('reason' in place) return place.reason
  try {
    if (place.how === 'replace') await replaceFile(place.path, text, mode)
    else await writeFile(place.path, text)
    return undefined
  } catch (error) {
    return explainFailure(error)
  }
}

/** A reader sees the whole old or the whole new file. By default the new file keeps the old permissions. */
async function replaceFile(path: string, text: string, wanted?: number): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`
  const mode = wanted ?? (await statIfThere(path))?.mode
  await rm(draft, { force: true })
  try {
    await writeFile(draft, text, { flag: 'wx', ...(wanted !== undefined && { mode: wanted }) })
    if (mode !== undefined) await chmod(draft, mode & 0o777)
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    // The file is mounted alone, so it cannot be replaced.
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error
    await writeFile(path, text)
  }
}

/** Advice for each error code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTDIR: 'is below a file; name a file in a folder',
  EACCES: 'may not be written by this user (EACCES); name another file',
  EPERM: 'may not be written by this user (EPERM); name another file',
  EROFS: 'is on a file system that is read-only; name another file',
  ENOSPC: 'finds the disk full; make room, or name a file elsewhere',
  EDQUOT: 'finds the disk quota used up; make room, or name a file elsewhere',
  ENAMETOOLONG: 'has a name that is too long; give a shorter one',
  ELOOP: 'is in a ring of links; name another file',
  ERR_INVALID_ARG_VALUE: 'has a name that no file can have; give another one',
}

/** Explains why a file could not be written, as the end of a sentence. Throws an error of another kind again. */
export function explainFailure(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  return REASONS[code] ?? `cannot be written (${code}); name another file`
}
