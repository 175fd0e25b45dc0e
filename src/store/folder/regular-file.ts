import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'

/** Windows has neither flag; there, opening a pipe by its name does not wait. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

/** The code of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

interface ReadFile {
  content: Buffer
  /** Distinguishes the file from every other file, and from itself after a change. */
  identity: string
}

/** Distinguishes a file from every other file, and from itself after a change. */
export function identityOf({ dev, ino, size, mtimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mtimeMs}`
}

/** The content of a small enough file. A pipe is not read: that might never end. @throws the system's error */
export function readRegularFile(path: string, limit: number): ReadFile | 'irregular' | 'large' {
  let file: number
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    // The errors for a link and for a socket.
    if (['ELOOP', 'EMLINK', 'ENXIO'].some((code) => code === codeOf(error))) return 'irregular'
    throw error
  }
  try {
    const status = fstatSync(file)
    if (!status.isFile()) return 'irregular'
    return status.size > limit ? 'large' : { content: readFileSync(file), identity: identityOf(status) }
  } finally {
    closeSync(file)
  }
}
