// Makes the program of its sources: what a server loads at its start is one file, what it loads when it is asked for
// stays apart, and packages stay packages. To find and read a file for each of the 90 modules that a server needs takes
// longer than to compile them: without this, the first answer comes 30 ms later.
import { chmod } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import './bundle-page.mjs'

const SOURCES = fileURLToPath(new URL('src/', import.meta.url))
const ENTRIES = ['index', 'cli', 'vitest', 'node-test', 'prepare']
const [SERVER, COMMAND_LINE] = [`${SOURCES}start/server.ts`, `${SOURCES}cli.ts`]
/** These commands judge what is recorded, and start no server. */
const JUDGES = ['check', 'calibrate', 'assumptions'].map((name) => `${SOURCES}cli/${name}.ts`)

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

await build({
  input: {
    ...Object.fromEntries(ENTRIES.map((name) => [name, `${SOURCES}${name}.ts`])),
    // A thread begins with a file of its own. It is as deep as the parts, beside which it is looked for.
    'parts/judge-thread': `${SOURCES}proxy/judge-thread.ts`,
  },
  external: /^@?[a-z]/,
  platform: 'node',
  transform: { target: 'node20.19' },
  output: {
    dir: fileURLToPath(new URL('dist/', import.meta.url)),
    // As deep as the sources, which find openapi.yaml and the fixtures from where they are.
    chunkFileNames: 'parts/[name].js',
    codeSplitting: { groups: [{ debugName: 'parts', name: partOf }] },
  },
})

// npm makes the programs of a package executable when it installs it. Here, `npx` runs the file of the build itself.
await chmod(new URL('dist/cli.js', import.meta.url), 0o755)
