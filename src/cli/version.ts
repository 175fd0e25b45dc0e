import { readPackageFile } from '../ground/package-files.ts'

/** The version of this program. */
export function readVersion(): string {
  return (JSON.parse(readPackageFile('package.json').toString()) as { version: string }).version
}
