import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json } from '../ground/json.ts'

/**
 * The build writes this folder. A start then neither parses nor checks YAML, and the first request neither loads ajv
 * nor compiles schemas, which alone takes 50 ms.
 */
const FOLDER = join(import.meta.dirname, '../prepared/')

/** A document of the package as the build has read it. */
export interface PreparedDocument {
  source: Json
  /** Path of the module of its validators. */
  validatorsPath: string
}

/** What the build has made of the document with exactly this text; `undefined` if it has not seen this text. */
export function readPrepared(text: Buffer): PreparedDocument | undefined {
  const path = pathFor(text)
  try {
    const source = JSON.parse(readFileSync(`${path}.json`, 'utf8')) as Json
    return { source, validatorsPath: `${path}.cjs` }
  } catch (error) {
    // The program runs from its sources, or the document has changed since the build.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Writes what `readPrepared` reads. Anything else in the folder is removed. */
export async function writePrepared(
  documents: readonly { text: Buffer; source: Json; validators: string }[],
): Promise<void> {
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  for (const { text, source, validators } of documents) {
    await writeFile(`${pathFor(text)}.cjs`, validators)
    await writeFile(`${pathFor(text)}.json`, JSON.stringify(source))
  }
}

/** What the build has found out about the document with exactly this text, by `writeFindings`. */
export function readFindings(text: Buffer, about: string): unknown {
  try {
    return JSON.parse(readFileSync(`${pathFor(text)}.${about}.json`, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Keeps what takes long to find out about a document. `about` is part of a file's name. */
export async function writeFindings(text: Buffer, about: string, findings: unknown): Promise<void> {
  await writeFile(`${pathFor(text)}.${about}.json`, JSON.stringify(findings))
}

function pathFor(text: Buffer): string {
  return FOLDER + hash('sha256', text)
}
