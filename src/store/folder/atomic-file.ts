import * as fs from 'node:fs'
import { rm, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { codeOf, identityOf } from './regular-file.ts'

// Each write takes a third less time than with the file handles of `node:fs/promises`.
const open = promisify(fs.open)
const writeFile = promisify(fs.writeFile)
const fsync = promisify(fs.fsync)
const close = promisify(fs.close)
const rename = promisify(fs.rename)

/** Files hold hashes of keys and the monitored domains. Only their owner may read them. */
const PRIVATE_FILE = 0o600

/** What a finished write survives: the end of the process (`rename`), or also that of the machine (`fsync`). */
export type Durability = 'rename' | 'fsync'

/**
 * Replaces the content of a file atomically. A reader always finds the old content or the new one, also after the
 * process was killed. Each path takes only one write at a time. Resolves to the identity of the new file. Rejects with
 * the error of the file system, or with that of `confirm`, which is called directly before the replacement; the old
 * content stays then.
 */
export async function replaceFile(
  path: string,
  content: string,
  durability: Durability,
  confirm: () => void,
): Promise<string> {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`)
  try {
    const identity = await using(await openNew(temporary), async (file) => {
      await writeFile(file, content)
      if (durability === 'fsync') await fsync(file)
      return identityOf(fs.fstatSync(file))
    })
    confirm()
    await rename(temporary, path)
    if (durability === 'fsync') await syncFolder(dirname(path))
    return identity
  } catch (error) {
    // On a full disk, the temporary file takes the space that the next try needs.
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
}

/** Deletes a file for good; a missing file is no error. */
export async function removeFile(path: string, durability: Durability): Promise<void> {
  await rm(path, { force: true })
  if (durability === 'fsync') await syncFolder(dirname(path))
}

/** Flushes new folders, from the innermost outwards. */
export async function syncMade(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await syncFolder(dirname(folder))
}

/** Creates and opens a file. An existing file or link at this path is removed, never followed. */
async function openNew(path: string): Promise<number> {
  try {
    return await open(path, 'wx', PRIVATE_FILE)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    await unlink(path)
    return open(path, 'wx', PRIVATE_FILE)
  }
}

/** A rename changes the folder. The folder is flushed separately from its files. */
async function syncFolder(folder: string): Promise<void> {
  await using(await open(folder, 'r'), fsync)
}

async function using<Result>(file: number, use: (file: number) => Promise<Result>): Promise<Result> {
  try {
    return await use(file)
  } finally {
    await close(file)
  }
}
