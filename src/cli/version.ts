import { findPackageFile, isExecutable, readPackageFile } from '../ground/package-files.ts'

/** The licence of this program, and those of the packages that are built into it. */
export function readLicenses(): string {
  const texts = [readPackageFile('LICENSE'), findPackageFile('dist/LICENSES.txt') ?? '']
  return texts.join('\n').trimEnd()
}

/** The version of this program. An executable has a Node.js of its own, which it names, too. */
export function describeVersion(): string {
  return isExecutable ? `${readVersion()} (Node.js ${process.versions.node})` : readVersion()
}

/** The version of this program. */
export function readVersion(): string {
  return (JSON.parse(readPackageFile('package.json').toString()) as { version: string }).version
}
