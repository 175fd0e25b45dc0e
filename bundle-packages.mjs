// Which packages become part of the program. Of most of their files it uses nothing, and a user need not install them.
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { minifySync } from 'rolldown/utils'
import { packageOf } from './bundle-licences.mjs'

/** In package.json, they are among the devDependencies. What they depend on becomes part of the program with them. */
const BUNDLED = ['@faker-js/faker', '@modelcontextprotocol/server', '@redis/client', 'lowdb']

const readManifest = (folder) => JSON.parse(readFileSync(new URL(`${folder}package.json`, import.meta.url), 'utf8'))
const { dependencies, peerDependencies } = readManifest('./')
const installed = new Set(Object.keys({ ...dependencies, ...peerDependencies }))
const inside = new Set()
for (const name of BUNDLED) include(name)

function include(name) {
  if (inside.has(name) || installed.has(name)) return
  inside.add(name)
  for (const each of Object.keys(readManifest(`node_modules/${name}/`).dependencies ?? {})) include(each)
}

/** Whether something is loaded from outside when the program runs: from Node, or from a package that npm installs. */
export function isExternal(id, importer) {
  if (isBuiltin(id)) return true
  const name = /^@?[a-z][^/:]*(?:(?<=^@[^/]*)\/[^/]+)?(?=\/|$)/.exec(id)?.[0]
  if (name === undefined || inside.has(name)) return false
  // A package may ask for another one that need not be there.
  if (!installed.has(name) && importer !== undefined && packageOf(importer) === undefined) {
    throw new Error(`${importer} imports ${name}, which is neither a dependency nor bundled.`)
  }
  return true
}

const BUILTINS = /^import (?:\* as )?(\w+|\{[^}]*\}) from ("node:[^"]+");$/gm

/**
 * To import a module of Node.js is to read all that it exports, for which Node 26 loads its client of HTTP and WebSocket,
 * HTTP/2 and web streams: an eighth of a start and of its memory.
 */
export const importBuiltinsInPart = {
  name: 'import-builtins-in-part',
  renderChunk(code, { fileName }) {
    if (!fileName.includes('/')) return null
    return code.replaceAll(
      BUILTINS,
      (_, names, from) => `const ${names.replaceAll(' as ', ': ')} = process.getBuiltinModule(${from});`,
    )
  },
}

/** The file for the code of a package that the program loads when it needs it. */
export function fileFor(module) {
  return packageOf(module)?.replace('@', '').replace('/', '-')
}

/** The names of errors are shown. */
const NAMES = { function: true, class: true }
const KEEPING_NAMES = { module: true, compress: { keepNames: NAMES }, mangle: { keepNames: NAMES } }

/** Nobody reads the code of packages here. */
export const minifyPackages = {
  name: 'minify-packages',
  renderChunk(code, { fileName, moduleIds }) {
    if (!moduleIds.some(packageOf) || !moduleIds.every((id) => id.startsWith('\0') || packageOf(id))) return null
    return minifySync(fileName, code, KEEPING_NAMES).code
  },
}
