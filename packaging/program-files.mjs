// Everything that is inside an executable: the program with all its packages, in parts that are loaded when they are
// needed, and the files of the package that it reads. The build of the package must have run.
import { readdirSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { build } from 'rolldown'
import { readLicences } from '../bundle-licences.mjs'
import { fetchNode, nodeIn, ownPlatform, run } from './node-binaries.mjs'
import { CACHE, ROOT } from './places.mjs'

const FIRST_SCRIPT = 'first-script.cjs'
const PROGRAM = 'dist/program.js'
const ENTRIES = {
  'dist/program': 'packaging/program.mjs',
  'dist/parts/judge-thread': 'src/proxy/judge-thread.ts',
  // Compiled validators ask for these by name.
  'node_modules/ajv/dist/2020': 'node_modules/ajv/dist/2020.js',
  'node_modules/ajv/dist/runtime/equal': 'node_modules/ajv/dist/runtime/equal.js',
  'node_modules/ajv/dist/runtime/ucs2length': 'node_modules/ajv/dist/runtime/ucs2length.js',
}
/** What the program reads, and what it says where more is written. */
const FILES = [
  ...['package.json', 'LICENSE', 'openapi.yaml', 'src/admin/openapi.yaml', 'dist/dashboard.html'],
  ...['fixtures', 'faults', 'src/redis/library', 'dist/prepared'],
  // An assistant reads them.
  ...readdirSync(join(ROOT, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
]

/** Writes them into a folder. Returns their paths there, and the modules of which the program is. */
export async function writeProgramFiles(folder) {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const modules = await bundleProgram(folder)
  for (const file of FILES) await cp(join(ROOT, file), join(folder, file), { recursive: true })
  await rm(join(folder, 'dist/prepared/made-of'))
  await cp(join(ROOT, 'packaging', FIRST_SCRIPT), join(folder, FIRST_SCRIPT))
  await writeFile(join(folder, 'dist/LICENSES.txt'), await describeLicences(modules))
  return { files: await list(folder), modules }
}

async function bundleProgram(folder) {
  const { output } = await build({
    cwd: ROOT,
    input: ENTRIES,
    platform: 'node',
    transform: { target: 'node26' },
    output: {
      dir: folder,
      format: 'cjs',
      chunkFileNames: 'dist/parts/[name].js',
      // Names stay, for the stack of an error.
      minify: { compress: false, mangle: false, codegen: true },
      codeSplitting: { groups: [{ debugName: 'parts', name: partOf }] },
    },
  })
  return output.flatMap(({ moduleIds = [] }) => moduleIds)
}

/** What a start of the server loads is one part, and so is what any command loads: a part more costs time. */
function partOf(module, graph) {
  const entry = (path) => join(ROOT, path)
  if (module === entry(ENTRIES['dist/program'])) return null
  if (loadedWith(entry('src/cli/program.ts'), graph).has(module)) return 'command-line'
  return loadedWith(entry('src/start/server.ts'), graph).has(module) ? 'server' : null
}

/** The module and all that are loaded with it. */
function loadedWith(module, graph, found = new Set([module])) {
  for (const id of graph.getModuleInfo(module)?.importedIds ?? []) {
    if (!found.has(id)) loadedWith(id, graph, found.add(id))
  }
  return found
}

async function describeLicences(modules) {
  const node = await readFile(join(await fetchNode(ownPlatform()), 'LICENSE'), 'utf8')
  const packages = await readLicences(modules)
  return `This program contains these packages:\n\n${packages}\nIt contains Node.js:\n\n${node}`
}

/** Runs the program, so that it is compiled, and keeps that beside each part. Node.js must be that of the executable. */
export async function writeCodeCache(folder) {
  const node = nodeIn(await fetchNode(ownPlatform()))
  run(node, [join(ROOT, 'packaging/warm-up.cjs'), folder], { cwd: CACHE })
  return list(folder)
}

/** The first script with the checksums of all files, after which it runs the program. */
export async function writeBeginning(folder, files, target) {
  const checksums = {}
  for (const file of files) checksums[file] = crc32(await readFile(join(folder, file)))
  const first = await readFile(join(folder, FIRST_SCRIPT), 'utf8')
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, `${first}\nbegin(${JSON.stringify(PROGRAM)}, ${JSON.stringify(checksums)})\n`)
}

async function list(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return paths.map((path) => path.slice(folder.length).replaceAll('\\', '/').replace(/^\//, '')).sort()
}
