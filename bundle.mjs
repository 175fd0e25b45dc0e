// Makes the program of its sources: what a server loads at its start is one file, what it loads when it is asked for
// stays apart, and packages stay packages. To find and read a file for each of the 90 modules that a server needs takes
// longer than to compile them: without this, the first answer comes 30 ms later.
import { chmod, readdir, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { listDoors, writeDoors } from './bundle-doors.mjs'
import { packageOf } from './bundle-licences.mjs'
import { isExternal } from './bundle-packages.mjs'
import './bundle-page.mjs'

const SOURCES = fileURLToPath(new URL('src/', import.meta.url))
const DIST = new URL('dist/', import.meta.url)
const PROGRAMS = ['cli', 'prepare']
const [SERVER, COMMAND_LINE] = [`${SOURCES}start/server.ts`, `${SOURCES}cli.ts`]
/** These commands judge what is recorded, and start no server; nor does the door of Express. */
const JUDGES = ['cli/check', 'cli/calibrate', 'cli/assumptions', 'express'].map((name) => `${SOURCES}${name}.ts`)

/** The module and all that are loaded with it. */
function loadedWith(module, graph, found = new Set([module])) {
  for (const id of graph.getModuleInfo(module)?.importedIds ?? []) {
    if (!found.has(id)) loadedWith(id, graph, found.add(id))
  }
  return found
}

/** In which file a module goes, where that is not left to the bundler. */
function partOf(module, graph) {
  if (module === COMMAND_LINE) return null
  // What only tells its version, or lists its commands, does without a server.
  if (loadedWith(COMMAND_LINE, graph).has(module)) return 'command-line'
  if (!loadedWith(SERVER, graph).has(module)) return null
  // What only judges does without the packages of the server.
  return JUDGES.some((judge) => loadedWith(judge, graph).has(module)) ? 'contract' : 'server'
}

const { output } = await build({
  input: {
    ...Object.fromEntries(PROGRAMS.map((name) => [name, `${SOURCES}${name}.ts`])),
    ...listDoors(SOURCES),
    // A thread begins with a file of its own. It is as deep as the parts, beside which it is looked for.
    'parts/judge-thread': `${SOURCES}proxy/judge-thread.ts`,
  },
  external: isExternal,
  platform: 'node',
  transform: { target: 'node20.19' },
  output: {
    dir: fileURLToPath(DIST),
    // As deep as the sources, which find openapi.yaml and the fixtures from where they are.
    chunkFileNames: 'parts/[name].js',
    comments: false,
    codeSplitting: { groups: [{ debugName: 'parts', name: partOf }] },
  },
})

const bundled = output.flatMap(({ moduleIds = [] }) => moduleIds).find(packageOf)
if (bundled !== undefined) throw new Error(`${bundled} is of a package that is no dependency.`)
const doors = await writeDoors(output)

// A package would contain what an earlier build has made and this one has not.
const made = new Set(['dashboard.html', ...output.map(({ fileName }) => fileName), ...doors])
for (const entry of await readdir(DIST, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name)
  const name = relative(fileURLToPath(DIST), path).replaceAll('\\', '/')
  if (entry.isFile() && !made.has(name) && !/^(?:\.declarations|prepared)\//.test(name)) await rm(path)
}

// npm makes the programs of a package executable when it installs it. Here, `npx` runs the file of the build itself.
await chmod(new URL('cli.js', DIST), 0o755)
