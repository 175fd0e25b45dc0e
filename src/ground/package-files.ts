import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { getRawAsset, isSea } from 'node:sea'
import { pathToFileURL } from 'node:url'

/** The folder of the package. This file is as far below it in the built program as in the sources. */
const FOLDER = join(import.meta.dirname, '../../')
/** The executable's first script stores the function here with which it loads the parts of the program. */
const LOADER = Symbol.for('dmarc-understudy.load')
/** Its text, which also begins a thread. */
const FIRST_SCRIPT = 'first-script.cjs'

/** Whether this program is one executable with everything in it. */
export const isExecutable: boolean = isSea()
const load = isExecutable
  ? ((globalThis as { [LOADER]?: (path: string) => unknown })[LOADER] as (path: string) => unknown)
  : createRequire(import.meta.url)

/** Whether this program runs from its sources, which may be newer than what was built of them. */
export const isSource: boolean = import.meta.url.endsWith('.ts')

/** Where a file of the package is on the disk: for the build, which writes some. An executable has no files. */
export function placeOf(path: string): string {
  return resolve(FOLDER, path)
}

/**
 * The content of a file of the package, by its path in the package: from the disk, or in an executable, from inside. A
 * path that begins at the root is that of another file. The read is synchronous, because a start has nothing else to
 * do, and a promise costs 0.4 ms for each file. @throws an error of the system
 */
export function readPackageFile(path: string): Buffer {
  return isExecutable ? Buffer.from(getRawAsset(path) as ArrayBuffer) : readFileSync(placeOf(path))
}

/** The same; `undefined` if there is no such file. */
export function findPackageFile(path: string): Buffer | undefined {
  try {
    return readPackageFile(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ERR_SINGLE_EXECUTABLE_APPLICATION_ASSET_NOT_FOUND') return undefined
    throw error
  }
}

/** The names of the files in a folder of the package. */
export function listPackageFiles(folder: string): string[] {
  if (!isExecutable) return readdirSync(placeOf(folder))
  // Only the Node.js of executables is sure to have it.
  const { getAssetKeys } = process.getBuiltinModule('node:sea') as unknown as { getAssetKeys(): string[] }
  const beginning = `${folder}/`
  return getAssetKeys().flatMap((key) => (key.startsWith(beginning) ? [key.slice(beginning.length)] : []))
}

/** Loads a CommonJS module of the package by its path there, beginning with `./`, or one of another package by its name. */
export function loadModule(path: string): unknown {
  return load(isExecutable || !path.startsWith('.') ? path : placeOf(path))
}

/** What `new Worker` takes to run a module in a thread of its own. */
export interface ThreadBeginning {
  script: string | URL
  eval: boolean
}

/** The beginning of a thread with a built module; `undefined` in the sources, from which Node.js starts no thread. */
export function beginThread(path: string): ThreadBeginning | undefined {
  if (isExecutable) {
    return { script: `${readPackageFile(FIRST_SCRIPT)}\nload(${JSON.stringify(path)})`, eval: true }
  }
  return isSource ? undefined : { script: pathToFileURL(placeOf(path)), eval: false }
}
