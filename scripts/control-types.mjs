// Writes src/contract/control-document.ts: the types of what the control plane takes and answers, from its document. With
// --check, it writes nothing, and says whether the file is up to date. The generator needs an older compiler than the
// project has, so it is fetched for each run.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { load } from 'js-yaml'

process.chdir(fileURLToPath(new URL('../', import.meta.url)))
const SOURCE = 'src/admin/openapi.yaml'
const TARGET = 'src/contract/control-document.ts'
const HEADING = `// Written by scripts/control-types.mjs from ${SOURCE}; run it after a change of that document.\n\n`

const folder = mkdtempSync(join(tmpdir(), 'control-types-'))
const text = HEADING + format(shorten(generate(withoutConditions(load(readFileSync(SOURCE, 'utf8'))))))
rmSync(folder, { recursive: true })
if (process.argv[2] !== '--check') writeFileSync(TARGET, text)
else if (readFileSync(TARGET, 'utf8') !== text) {
  console.error(`${TARGET} does not follow from ${SOURCE}; run node scripts/control-types.mjs.`)
  process.exit(1)
}

/** The schema without what says which fields go together: as a type, that would be a union of empty objects. */
function withoutConditions(value) {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutConditions)
  const isCondition = ([name, content]) =>
    name === 'not' || name.startsWith('x-') || (name === 'anyOf' && content.every((each) => 'required' in each))
  return Object.fromEntries(
    Object.entries(value)
      .filter((entry) => !isCondition(entry))
      .map(([name, content]) => [name, withoutConditions(content)]),
  )
}

function generate(document) {
  const [input, output] = ['openapi.json', 'types.ts'].map((name) => join(folder, name))
  writeFileSync(input, JSON.stringify(document))
  run('npx', [
    ...['-y', '-p', 'openapi-typescript@7', '-p', 'typescript@5', 'openapi-typescript'],
    ...[input, '--output', output, '--empty-objects-unknown'],
  ])
  return readFileSync(output, 'utf8')
}

/** The types of the components and the operations, without what is `never` or `unknown`. */
function shorten(types) {
  return types
    .replace(/^[\s\S]*?(?=export interface components)/, '')
    .replace(/^export type \$defs = .*\n/gm, '')
    .replace(/^ *headers: \{\n *\[name: string\]: unknown;\n *\};\n/gm, '')
    .replace(/^ *\w+\??: never;\n/gm, '')
    .replace(/^ *parameters: \{\n *\};\n/gm, '')
    .replace(/^ *(?:\/\*\*|\*) (?:@enum|@constant|Format:).*\n/gm, '')
    .replace(/@description /g, '')
    .replace(/^( *\*) {5}/gm, '$1 ')
    .replace(/\/\*\*\n *\* (.*)\n *\*\//g, '/** $1 */')
    .replace(/^ *\/\*\*\n *\*\/\n/gm, '')
}

function format(types) {
  return run('npx', ['biome', 'format', '--stdin-file-path', TARGET], types)
}

function run(command, args, input) {
  const { status, stdout, stderr } = spawnSync(command, args, { input, encoding: 'utf8' })
  if (status === 0) return stdout
  console.error(stderr || stdout)
  process.exit(1)
}
