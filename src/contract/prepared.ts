import { hash } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import type { Json } from '../ground/json.ts'
import { findPackageFile, isSource, placeOf } from '../ground/package-files.ts'

/**
 * The build writes this folder. With it, a start neither parses nor checks YAML. The first request neither loads ajv
 * nor compiles schemas, which alone takes 50 ms.
 */
const FOLDER = 'dist/prepared/'

/** A document of the package as the build has read it. */
export interface PreparedDocument {
  source: Json
  /** Path of the module with its validators. */
  validatorsPath: string
}

/** The build's result for the document with exactly this text; `undefined` if the build has not seen this text. */
export function readPrepared(text: Buffer): PreparedDocument | undefined {
  const source = readIfPresent(`${pathFor(text)}.json`)
  return source === undefined ? undefined : { source: source as Json, validatorsPath: `${pathFor(text)}.cjs` }
}

/** `undefined` if the program runs from its sources, or if the document has changed since the build. */
function readIfPresent(path: string): unknown {
  const content = isSource ? undefined : findPackageFile(path)
  return content && JSON.parse(content.toString())
}

/** Removes everything that an earlier build has prepared. */
export async function clearPrepared(): Promise<void> {
  await rm(placeOf(FOLDER), { recursive: true, force: true })
  await mkdir(placeOf(FOLDER), { recursive: true })
}

/** Writes the files for `readPrepared`. */
export async function writePrepared(
  documents: readonly { text: Buffer; source: Json; validators: string }[],
): Promise<void> {
  for (const { text, source, validators } of documents) {
    await writeFile(placeOf(`${pathFor(text)}.cjs`), validators)
    await writeFile(placeOf(`${pathFor(text)}.json`), JSON.stringify(source))
  }
}

/** The findings of the build for the document with exactly this text, from `writeFindings`. */
export function readFindings(text: Buffer, about: string): unknown {
  return readIfPresent(`${pathFor(text)}.${about}.json`)
}

/** Stores findings about a document that take long to compute. `about` is part of a file's name. */
export async function writeFindings(text: Buffer, about: string, findings: unknown): Promise<void> {
  await writeFile(placeOf(`${pathFor(text)}.${about}.json`), JSON.stringify(findings))
}

/** The name of the file that records the source files of this folder. */
const MARK = 'made-of'

/** Whether these files and all prepared files are unchanged since `markPrepared` was called with the same files. */
export async function isPrepared(files: readonly string[]): Promise<boolean> {
  const mark = findPackageFile(FOLDER + MARK)
  // In a fresh clone there is no folder yet to compare the mark with.
  return mark !== undefined && mark.toString() === (await fingerprintOf(files))
}

/** Records that everything is prepared, and the source files. */
export async function markPrepared(files: readonly string[]): Promise<void> {
  await writeFile(placeOf(FOLDER + MARK), await fingerprintOf(files))
}

async function fingerprintOf(files: readonly string[]): Promise<string> {
  const prepared = (await readdir(placeOf(FOLDER))).filter((name) => name !== MARK).map((name) => FOLDER + name)
  const all = [...files, ...prepared.toSorted()]
  const hashes = all.map((file) => `${hashOf(file)} ${file}`)
  return hash('sha256', hashes.join('\n'))
}

/** Somebody may have removed a file that the build wrote. */
function hashOf(file: string): string {
  const content = findPackageFile(file)
  return content === undefined ? 'absent' : hash('sha256', content)
}

function pathFor(text: Buffer): string {
  return FOLDER + hash('sha256', text)
}
