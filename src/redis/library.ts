import { createHash } from 'node:crypto'
import { readPackageFile } from '../ground/package-files.ts'

/** The files of the library, in their order. A file uses what the files before it have defined. */
const FILES = ['ground', 'journal', 'accounts', 'changes', 'requests', 'former', 'servers']
/** The beginning of the names of all versions of the library. */
const FAMILY = 'dmarc_understudy_'
/** What stands for the digest in the files. */
const PLACE = '@DIGEST@'
const DECLARATION = /^declare\('(\w+)', \{([^}]*)\}/gm

/**
 * The functions that run in the store, each as one atomic step. The name of the library, and of each function, ends
 * with the digest of all texts. So servers of two versions can use one store at the same time.
 */
export interface FunctionLibrary {
  name: string
  /** The program, as `FUNCTION LOAD` takes it. */
  text: string
  /** By the name of each function, whether it changes nothing, so that it may run any number of times. */
  functions: ReadonlyMap<string, { isReadOnly: boolean }>
  /** The name of a function as the store knows it. */
  nameOf(name: string): string
}

let library: FunctionLibrary | undefined

/** The library of this version. It is read once. */
export function readLibrary(): FunctionLibrary {
  library ??= compose()
  return library
}

function compose(): FunctionLibrary {
  const body = FILES.map((file) => readPackageFile(`src/redis/library/${file}.lua`).toString()).join('\n')
  const digest = createHash('sha1').update(body).digest('hex').slice(0, 16)
  const functions = new Map(
    [...body.matchAll(DECLARATION)].map(([, name = '', flags = '']) => [
      name,
      { isReadOnly: flags.includes("'no-writes'") },
    ]),
  )
  const name = FAMILY + digest
  const text = `#!lua name=${name}\n${body.replaceAll(PLACE, digest)}`
  return { name, text, functions, nameOf: (each) => `${each}_${digest}` }
}

/**
 * Removes the libraries of other versions, whose servers are gone. If servers with another prefix still use one, they
 * load it again. A user without the right to do this leaves them.
 */
export async function removeOtherLibraries(
  send: (command: readonly string[], options: { repeatable: boolean }) => Promise<unknown>,
): Promise<void> {
  const repeatable = { repeatable: true }
  try {
    const listed = await send(['FUNCTION', 'LIST', 'LIBRARYNAME', `${FAMILY}*`], repeatable)
    for (const [, name] of listed as readonly (readonly [field: string, name: string])[]) {
      if (name !== readLibrary().name) await send(['FUNCTION', 'DELETE', name], repeatable)
    }
  } catch {
    // They take little memory, and the next start tries again.
  }
}
