import { readFileSync } from 'node:fs'
import { surplusFor } from '../http/engine/crowd.ts'

/** How many files the process opens beside connections: written accounts, modules, the log. */
const OTHER_FILES = 256

/** How many connections the process can have, if the system reports its limit of open files; else any number. */
export function findPossibleConnections(): number {
  const files = readFileLimit()
  if (files === undefined) return Number.POSITIVE_INFINITY
  const possible = files - OTHER_FILES
  return Math.max(1, possible - surplusFor(possible))
}

/** At its start, Node raises the limit as far as possible. */
function readFileLimit(): number | undefined {
  try {
    const [, files] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return files === undefined ? undefined : Number(files)
  } catch {
    return undefined
  }
}
