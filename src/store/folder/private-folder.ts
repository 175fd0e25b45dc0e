import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { quoteWord } from '../../ground/shell-word.ts'
import { StoreError } from '../store-error.ts'
import { codeOf } from './file-adapter.ts'

const OTHERS = 0o077

/**
 * Makes a folder that only its owner can use, and its missing parents. Returns the new folders, the innermost first.
 * @throws StoreError
 */
export function makeFolder(folder: string): string[] {
  try {
    return makeMissing(folder, 0o700)
  } catch (error) {
    throw unusableFolder(folder, error)
  }
}

/** `mkdir` of Node.js does not return if nothing can be made in an existing parent, such as /proc. */
function makeMissing(folder: string, mode: number): string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  const parent = dirname(folder)
  const parents = parent === folder ? [] : makeMissing(parent, 0o777)
  try {
    mkdirSync(folder, mode)
  } catch (error) {
    // Another process may have made the folder first.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return parents
    throw error
  }
  return [folder, ...parents]
}

/** The problem of a folder that other users can access, with a remedy; `undefined` if they cannot access it. */
export function describeExposure(folder: string): string | undefined {
  // On Windows, the mode does not describe the access of other users.
  if (process.platform === 'win32' || (statSync(folder).mode & OTHERS) === 0) return undefined
  return `Other users of this machine can look into ${folder}; keep them out with: chmod 700 ${quoteWord(folder)}`
}

export function unusableFolder(folder: string, cause: unknown): StoreError {
  const code = codeOf(cause)
  const problem = code === 'EEXIST' || code === 'ENOTDIR' ? 'is not a folder' : `cannot be written to (${code})`
  return new StoreError('unusable', `${folder} ${problem}`, { cause })
}
