import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'

const NAME = 'dmarc-understudy'
/** What the program says where it was separated from its files. */
const LOST_FILES =
  'dmarc-understudy does not find its own files, because it was bundled or copied without them. Keep it out of the bundle, ' +
  "and install it where the bundle runs. Next.js: serverExternalPackages: ['dmarc-understudy']; esbuild: " +
  "--external:dmarc-understudy; webpack: externals: { 'dmarc-understudy': 'commonjs dmarc-understudy' }; Rollup: external: " +
  "[/^dmarc-understudy/]; Vite: ssr.external: ['dmarc-understudy']."
const load = createRequire(import.meta.url)
/** The folder of the package. */
const FOLDER = locatePackage()

/** Whether this program runs from its sources, which may be newer than what was built of them. */
export const isSource: boolean = import.meta.url.endsWith('.ts')

/** Looks the package up by its name, because a bundler may have copied this code to a place without the other files. */
function locatePackage(): string {
  try {
    return dirname(load.resolve(`${NAME}/openapi.yaml`))
  } catch {
    const error = new Error(LOST_FILES)
    // Where in a bundle this happens tells nobody anything.
    error.stack = error.message
    throw error
  }
}

/** Where a file of the package is on the disk. */
function placeOf(path: string): string {
  return resolve(FOLDER, path)
}

/**
 * The content of a file of the package, by its path in the package. A path that begins at the root is that of another
 * file. The read is synchronous, because a start has nothing else to do, and a promise costs 0.4 ms for each file.
 * @throws an error of the system
 */
export function readPackageFile(path: string): Buffer {
  return readFileSync(placeOf(path))
}

/** The names of the files in a folder of the package. */
export function listPackageFiles(folder: string): string[] {
  return readdirSync(placeOf(folder))
}

/** Loads a CommonJS module of the package by its path there, beginning with `./`, or one of another package by its name. */
export function loadModule(path: string): unknown {
  return load(path.startsWith('.') ? placeOf(path) : path)
}
