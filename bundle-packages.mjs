// Which packages the program loads, and npm installs with it: none is part of a file of the program.
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'

const { dependencies, peerDependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
const installed = Object.keys({ ...dependencies, ...peerDependencies })

/** Whether something is loaded from outside when the program runs: from Node, or from a package that npm installs. */
export function isExternal(id) {
  return isBuiltin(id) || installed.some((name) => id === name || id.startsWith(`${name}/`))
}
