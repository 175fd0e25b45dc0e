import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A program for the Lua interpreter of Redis. It runs as one atomic step. */
export interface Script {
  name: string
  text: string
  /** SHA-1 of the text. The server identifies the script by it. */
  digest: string
  /** Whether it changes nothing, so that it may run any number of times. The first line of the text declares it. */
  isReadOnly: boolean
}

/** A line that includes another file of the same folder. */
const INCLUDE = /^--include (\S+)\n/gm

/** Reads a script of the package. `path` is relative to `src/`, which is as far from here in the built program. */
export function readScript(path: string): Script {
  const folder = new URL('../../src/', import.meta.url)
  const file = new URL(path, folder)
  const text = readFileSync(file, 'utf8').replace(INCLUDE, (_, name: string) =>
    readFileSync(new URL(name, file), 'utf8'),
  )
  return {
    name: path.slice(path.lastIndexOf('/') + 1, -'.lua'.length),
    text,
    digest: createHash('sha1').update(text).digest('hex'),
    isReadOnly: /^#!lua .*\bno-writes\b/.test(text),
  }
}
