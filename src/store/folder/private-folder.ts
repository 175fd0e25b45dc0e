import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreError } from '../store-error.ts'
import { codeOf } from './error-code.ts'

const OTHERS = 0o077

/**
 * Makes a folder that only its owner can use, and its parents where they are missing; returns those that were made, the
 * innermost first. `mkdir` of Node.js does not return where a parent exists in which nothing can be made, such as /proc.
 * @throws the error of the file system
 */
export function makeFolders(folder: string, mode = 0o700): string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  const parent = dirname(folder)
  const parents = parent === folder ? [] : makeFolders(parent, 0o777)
  try {
    mkdirSync(folder, mode)
  } catch (error) {
    // Another process may have been faster.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return parents
    throw error
  }
  return [folder, ...parents]
}

/** What is wrong with a folder that others can use, and how to change that; `undefined` where they cannot. */
export function describeExposure(folder: string): string | undefined {
  // On Windows, the mode says nothing about others.
  if (process.platform === 'win32' || (statSync(folder).mode & OTHERS) === 0) return undefined
  return `Other users of this machine can look into ${folder}; keep them out with: chmod 700 ${quote(folder)}`
}

export function unusableFolder(folder: string, cause: unknown): StoreError {
  const code = codeOf(cause)
  const problem = code === 'EEXIST' || code === 'ENOTDIR' ? 'is not a folder' : `cannot be written to (${code})`
  return new StoreError('unusable', `${folder} ${problem}`, { cause })
}

function quote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
