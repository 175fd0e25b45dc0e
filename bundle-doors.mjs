// Makes the files that a program imports: for ECMAScript modules and for CommonJS, in and out of sandboxes, with types.
import { readFileSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { posix } from 'node:path'

const DIST = new URL('dist/', import.meta.url)
/** The declarations of all modules, from the compiler. */
const DECLARATIONS = new URL('.declarations/', DIST)
const { exports: targets } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
/** The entry points, by the names of their modules. */
const DOORS = Object.values(targets).flatMap(({ default: path }) => /^\.\/dist\/(.*)\.js$/.exec(path)?.[1] ?? [])
/** They need the runner that has loaded them, in its sandbox. */
const OF_RUNNERS = ['vitest', 'node-test']

/** The path in `dist`, without an ending, of the code behind a door. */
const behind = (door) => (OF_RUNNERS.includes(door) ? door : `doors/${door}`)

/** The files that the bundler makes of the doors, with the sources of each. */
export function listDoors(sources) {
  return Object.fromEntries(DOORS.map((door) => [behind(door), `${sources}${door}.ts`]))
}

/** Writes the doors before what the bundler has made of them, and returns the names of the files. */
export async function writeDoors(output) {
  const types = await copyTypes()
  const files = new Map()
  for (const door of DOORS) {
    const { exports: names } = output.find(({ fileName }) => fileName === `${behind(door)}.js`)
    files.set(`${door}.cjs`, writeRequire(door))
    files.set(`types/${door}.d.cts`, writeRequireTypes(door, names))
    if (!OF_RUNNERS.includes(door)) files.set(`${door}.js`, writeImport(door, names))
  }
  for (const [name, text] of files) await writeFile(new URL(name, DIST), text)
  return [...files.keys(), ...types]
}

// A runner of tests such as Jest loads modules into a sandbox: again for each file with tests, without support for modules
// that are not CommonJS or not loaded at once, and not after the test. The service is no part of what is tested, so the
// loader of Node itself loads it. Jest hands out a `process` and a `node:module` of its own.
const LOADER = "process.getBuiltinModule('node:module').createRequire"

function writeRequire(door) {
  return `'use strict'
const { process } = require('node:vm').runInThisContext('globalThis')
module.exports = ${LOADER}(__filename)('./${behind(door)}.js')
`
}

function writeImport(door, names) {
  const path = `'./${behind(door)}.js'`
  return `import { runInThisContext } from 'node:vm'
const host = runInThisContext('globalThis')
const loaded = host === globalThis ? await import(${path}) : host.${LOADER}(import.meta.url)(${path})
export const { ${names.join(', ')} } = loaded
`
}

/** The same types for both kinds of modules, so that a value of the one fits the other. */
function writeRequireTypes(door, names) {
  const path = `'./${door}.ts' with { 'resolution-mode': 'import' }`
  const values = names.map((name) => {
    // What begins with a capital is a class.
    const type = /^[A-Z]/.test(name) ? `export type ${name} = door.${name}\n` : ''
    return `export declare const ${name}: typeof door.${name}\n${type}`
  })
  return `import type * as door from ${path}\nexport type * from ${path}\n${values.join('')}`
}

/** The modules whose declarations a declaration uses. */
const USED = /(?:from |import\()["'](\.[^"']+)\.ts["']/g

/** Copies only the declarations that the doors reach. Returns their paths in `dist`. */
async function copyTypes() {
  const reached = new Set(DOORS.map((door) => `${door}.d.ts`))
  for (const path of reached) {
    const text = await readFile(new URL(path, DECLARATIONS), 'utf8')
    for (const [, used] of text.matchAll(USED)) reached.add(posix.join(posix.dirname(path), `${used}.d.ts`))
    await cp(new URL(path, DECLARATIONS), new URL(`types/${path}`, DIST))
  }
  return [...reached].map((path) => `types/${path}`)
}
