import { readScript, type Script } from '../script.ts'

const NAMES = [
  ...['enter', 'look', 'create', 'settle', 'change', 'counters', 'recount', 'refund', 'kill'],
  ...['take-snapshot', 'list-snapshots', 'delete-snapshot', 'recall'],
  ...['register', 'release', 'find', 'claim', 'unclaim', 'use', 'mark', 'room', 'new-id', 'list', 'doomed'],
  ...['lost', 'adopt', 'renumber'],
] as const

export type ScriptName = (typeof NAMES)[number]

/** Reads the scripts. Only a store on Redis needs them. */
export function readScripts(): Readonly<Record<ScriptName, Script>> {
  const entries = NAMES.map((name) => [name, readScript(`store/redis/scripts/${name}.lua`)] as const)
  return Object.fromEntries(entries) as Record<ScriptName, Script>
}
