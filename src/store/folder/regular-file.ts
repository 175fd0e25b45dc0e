import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'

/** Windows has neither flag; there, opening a pipe by its name does not wait. */
const { O_RDONLY, O_RDWR, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

/** The code of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

export interface ReadFile {
  content: Buffer
  /** Distinguishes the file from every other file, and from itself after a change. */
  identity: string
}

/** Distinguishes a file from every other file, and from itself after a change. */
export function identityOf({ dev, ino, size, mtimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mtimeMs}`
}

/** Distinguishes a file from every other file that exists or is open. */
export function placeOf({ dev, ino }: Stats): string {
  return `${dev} ${ino}`
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

/** Writes over a file what it has, so that it has a new time. Resolves to whether it has this content. */
export async function renewFile(path: string, content: string): Promise<boolean> {
  const file = await open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
  try {
    // The same open file is written: another file may be at the path by now.
    const isSame = (await file.readFile('utf8')) === content
    if (isSame) await file.write(content, 0)
    return isSame
  } finally {
    await file.close()
  }
}
