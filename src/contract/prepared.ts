import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { Json } from './json.ts'

/** Made by the build, so that a start need neither parse YAML nor follow references: a quarter of its time. */
const FOLDER = fileURLToPath(new URL('../prepared/', import.meta.url))

/** A document of the package as it is when it has been read and resolved. */
export interface PreparedDocument {
  source: Json
  resolved: OpenAPIV3_1.Document
}

/** What the build has made of a document with exactly this text, if it has. */
export async function readPrepared(text: string): Promise<PreparedDocument | undefined> {
  try {
    return JSON.parse(await readFile(pathFor(text), 'utf8')) as PreparedDocument
  } catch (error) {
    // The program runs from its sources, or the document was changed since the build.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Writes what `readPrepared` finds, in place of all that was there. */
export async function writePrepared(documents: readonly (PreparedDocument & { text: string })[]): Promise<void> {
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  for (const { text, source, resolved } of documents)
    await writeFile(pathFor(text), JSON.stringify({ source, resolved }))
}

function pathFor(text: string): string {
  return `${FOLDER}${createHash('sha256').update(text).digest('hex')}.json`
}
