// Makes the program of its sources, in dist/. With `page`, it makes only the page of the control plane; with `--if-changed`,
// nothing if the sources are those of the last build.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
process.chdir(ROOT)
const [SOURCES, DIST] = [join(ROOT, 'src'), join(ROOT, 'dist')]
const {
  name: NAME,
  dependencies,
  peerDependencies,
  exports: targets,
} = JSON.parse(readFileSync('package.json', 'utf8'))

/** The entry points of the library, by the names of their modules. */
const DOORS = Object.values(targets).flatMap(({ default: path }) => /^\.\/dist\/(.*)\.js$/.exec(path)?.[1] ?? [])
/** They need the runner that has loaded them, in its sandbox. */
const OF_RUNNERS = ['vitest', 'node-test']
/** The path in dist, without an ending, of the code behind a door. */
const behind = (door) => (OF_RUNNERS.includes(door) ? door : `doors/${door}`)
const source = (name) => join(SOURCES, `${name}.ts`)

const { LOST_FILES } = await import(
  `data:text/javascript,${encodeURIComponent(readFileSync(source('ground/lost-files'), 'utf8'))}`
)

/** What the program is made of; the last of them tells what npm has installed. */
const FOLDERS = ['src', 'scripts']
const FILES = [
  'openapi.yaml',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'node_modules/.package-lock.json',
]
/** Holds what the last build was made of, once it is whole. */
const MARK = join(DIST, 'made-of')

const [how] = process.argv.slice(2)
const inputs = describeInputs()
if (how === '--if-changed' && existsSync(MARK) && readFileSync(MARK, 'utf8') === inputs) process.exit()
// It takes longer to load than to see that nothing has changed.
const { build } = await import('rolldown')
await (how === 'page' ? buildPage() : buildAll())

async function buildAll() {
  if (how === '--if-changed') console.log('Building, which takes up to a minute the first time.')
  run('node_modules/typescript/bin/tsc', '--project', 'tsconfig.build.json')
  // The compiler keeps what it has made, and so does the preparation: they notice changes themselves.
  for (const name of readdirSync(DIST)) {
    if (!['.declarations', 'prepared'].includes(name)) await rm(join(DIST, name), { recursive: true })
  }
  await buildPage()
  await writeDoors(await bundleProgram())
  await copyTypes()
  // npm makes the programs of a package executable when it installs it. Here, `npx` runs the file of the build itself.
  await chmod(join(DIST, 'cli.js'), 0o755)
  run(join(DIST, 'prepare.js'))
  await writeFile(MARK, inputs)
}

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/** A hash of the paths, sizes and times of all inputs. */
function describeInputs() {
  const below = FOLDERS.map((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
  const stats = [FILES, ...below].flat().map((path) => [path, statSync(path, { throwIfNoEntry: false })])
  const lines = stats.map(([path, stat]) => `${path} ${stat?.size} ${stat?.mtimeMs}`)
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}

// What a server loads at its start is one file, and what it loads when it is asked for stays apart. To find and read a file
// for each of the 90 modules that a server needs takes longer than to compile them: without this, the first answer comes
// 30 ms later.
async function bundleProgram() {
  const { output } = await build({
    input: {
      ...{ cli: source('cli'), prepare: source('prepare') },
      ...Object.fromEntries(DOORS.map((door) => [behind(door), source(door)])),
    },
    external: isExternal,
    platform: 'node',
    transform: { target: 'node20.19' },
    output: {
      dir: DIST,
      // As deep as the sources, which find openapi.yaml and the fixtures from where they are.
      chunkFileNames: 'parts/[name].js',
      comments: false,
      codeSplitting: { groups: [{ debugName: 'parts', name: partOf }] },
    },
  })
  const [foreign] = listForeign(output)
  if (foreign !== undefined) throw new Error(`${foreign} is of a package that is no dependency.`)
  return output
}

/** Node and the packages that npm installs with the program. */
function isExternal(id) {
  const names = Object.keys({ ...dependencies, ...peerDependencies })
  return isBuiltin(id) || names.some((name) => id === name || id.startsWith(`${name}/`))
}

/** The modules of packages in files that the bundler has made. */
function listForeign(output) {
  const modules = output.flatMap(({ moduleIds = [] }) => moduleIds.map((id) => id.replaceAll('\\', '/')))
  return modules.filter((id) => id.includes('/node_modules/'))
}

/** In which file a module goes, where that is not left to the bundler. */
function partOf(module, graph) {
  const isLoadedWith = (name) => loadedWith(source(name), graph).has(module)
  if (module === source('cli')) return null
  // What only tells its version, or lists its commands, does without a server.
  if (isLoadedWith('cli')) return 'command-line'
  if (!isLoadedWith('start/server')) return null
  // What only judges recordings, and the door of Express, start no server.
  return ['cli/check', 'cli/calibrate', 'cli/assumptions', 'express'].some(isLoadedWith) ? 'contract' : 'server'
}

/** The module and all that are loaded with it. */
function loadedWith(module, graph, found = new Set([module])) {
  for (const id of graph.getModuleInfo(module)?.importedIds ?? []) {
    if (!found.has(id)) loadedWith(id, graph, found.add(id))
  }
  return found
}

/** Writes the doors before what the bundler has made of them, for both kinds of modules, in and out of sandboxes. */
async function writeDoors(output) {
  await mkdir(join(DIST, 'types'), { recursive: true })
  for (const door of DOORS) {
    const { exports: names } = output.find(({ fileName }) => fileName === `${behind(door)}.js`)
    await writeFile(join(DIST, `${door}.cjs`), requireDoor(door))
    await writeFile(join(DIST, `types/${door}.d.cts`), requireTypes(door, names))
    if (!OF_RUNNERS.includes(door)) await writeFile(join(DIST, `${door}.js`), importDoor(door, names))
  }
}

// A runner of tests such as Jest loads modules into a sandbox: again for each file with tests, without support for modules
// that are not CommonJS or not loaded at once, and not after the test. The service is no part of what is tested, so the
// loader of Node itself loads it. Jest hands out a `process` and a `node:module` of its own.
function requireDoor(door) {
  return `'use strict'
const { process } = require('node:vm').runInThisContext('globalThis')
const { createRequire } = process.getBuiltinModule('node:module')
module.exports = createRequire(findPackage())('./dist/${behind(door)}.js')

// A bundler may have copied this code to a place without the other files.
function findPackage() {
  try {
    return createRequire(__filename).resolve('${NAME}/package.json')
  } catch {
    throw Object.assign(new Error(), { stack: ${JSON.stringify(LOST_FILES)} })
  }
}
`
}

function importDoor(door, names) {
  const path = `'./${behind(door)}.js'`
  return `import { runInThisContext } from 'node:vm'
const host = runInThisContext('globalThis')
const load = () => host.process.getBuiltinModule('node:module').createRequire(import.meta.url)(${path})
export const { ${names.join(', ')} } = host === globalThis ? await import(${path}) : load()
`
}

/** The same types for both kinds of modules, so that a value of the one fits the other. */
function requireTypes(door, names) {
  const path = `'./${door}.ts' with { 'resolution-mode': 'import' }`
  const values = names.map((name) => `export declare const ${name}: typeof door.${name}\n`)
  // What begins with a capital is a class.
  const classes = names.filter((name) => /^[A-Z]/.test(name)).map((name) => `export type ${name} = door.${name}\n`)
  return `import type * as door from ${path}\nexport type * from ${path}\n${[...values, ...classes].join('')}`
}

/** Copies the declarations that the doors reach, which are a quarter of all. */
async function copyTypes() {
  const reached = new Set(DOORS.map((door) => `${door}.d.ts`))
  for (const path of reached) {
    const text = await readFile(join(DIST, '.declarations', path), 'utf8')
    for (const [, used] of text.matchAll(/(?:from |import\()["'](\.[^"']+)\.ts["']/g)) {
      reached.add(posix.join(posix.dirname(path), `${used}.d.ts`))
    }
    await cp(join(DIST, '.declarations', path), join(DIST, 'types', path))
  }
}

/** Makes one HTML file of src/dashboard. It contains the style and the script, because the page may load nothing. */
async function buildPage() {
  const folder = join(SOURCES, 'dashboard')
  const { output } = await build({
    input: join(folder, 'main.tsx'),
    platform: 'browser',
    tsconfig: join(folder, 'tsconfig.json'),
    write: false,
    output: { comments: false, codeSplitting: false },
  })
  const page = await readFile(join(folder, 'page.html'), 'utf8')
  const [links] = /(?:<link rel="stylesheet" href="[^"]+">\n)+/.exec(page)
  const styles = [...links.matchAll(/href="([^"]+)"/g)].map(([, path]) => readFileSync(join(folder, path), 'utf8'))
  const packages = new Set(listForeign(output).map((id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)[1]))
  const licences = [...packages]
    .sort()
    .map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()}\n`)
  const notice = enclose('<!--', `This page contains these packages:\n\n${licences.join('\n')}`, '-->')
  const style = `${notice}\n${enclose('<style>', styles.join(''), '</style>')}\n`
  const script = enclose('<script type="module">', output[0].code, '</script>')
  await mkdir(DIST, { recursive: true })
  await writeFile(
    join(DIST, 'dashboard.html'),
    page.replace(links, () => style).replace(/<script type="module" src=[^\n]*/, () => script),
  )
}

/** The browser reads the text up to the first closing tag. */
function enclose(opening, text, closing) {
  if (text.includes(closing)) throw new Error(`The text of ${opening} contains ${closing}.`)
  return `${opening}\n${text}${closing}`
}
