import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json } from '../ground/json.ts'

/**
 * Made by the build, so that a start need neither parse YAML and check what it says, nor load ajv and compile schemas
 * for its first answer; the latter alone takes 50 ms.
 */
const FOLDER = join(import.meta.dirname, '../prepared/')

/** What a document of the package is when it has been read. */
export interface PreparedDocument {
  source: Json
  /** Path of the module of its validators. */
  validatorsPath: string
}

/** What the build has made of a document with exactly this text, if it has. */
export function readPrepared(text: Buffer): PreparedDocument | undefined {
  const path = pathFor(text)
  try {
    const source = JSON.parse(readFileSync(`${path}.json`, 'utf8')) as Json
    return { source, validatorsPath: `${path}.cjs` }
  } catch (error) {
    // The program runs from its sources, or the document was changed since the build.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Writes what `readPrepared` finds, in place of all that was there. */
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

function pathFor(text: Buffer): string {
  return FOLDER + hash('sha256', text)
}
