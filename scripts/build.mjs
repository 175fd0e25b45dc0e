// Makes the program of its sources, in dist/. With `page`, it makes only the page of the control plane; with `--if-changed`,
// nothing if no source is newer than the last build.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('../', import.meta.url)))
/** Written last, so it is there once a build is whole. */
const WHOLE = 'dist/validators.cjs'
/** What the page contains, with its licences. */
const PAGE_PACKAGES = ['preact', '@preact/signals', 'preact-iso', 'diff', '@picocss/pico']

const [how] = process.argv.slice(2)
if (how === 'page') await buildPage()
else if (how !== '--if-changed' || isOutdated()) await buildAll()

function isOutdated() {
  const built = statSync(WHOLE, { throwIfNoEntry: false })?.mtimeMs ?? 0
  // npm writes the last of these when it has installed something.
  const files = [
    'openapi.yaml',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'node_modules/.package-lock.json',
  ]
  const below = ['src', 'scripts'].flatMap((folder) => [
    folder,
    ...readdirSync(folder, { recursive: true }).map((name) => join(folder, name)),
  ])
  return [...files, ...below].some((path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > built)
}

async function buildAll() {
  if (how === '--if-changed') console.log('Building, which takes a few seconds.')
  rmSync('dist', { recursive: true, force: true })
  const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
  // npm makes the programs of a package executable when it installs it. Here, `npx` runs the file of the build itself.
  chmodSync('dist/cli.js', 0o755)
  await buildPage()
  await writeDocuments()
}

/** Writes the documents as JSON, which a start reads in a fraction of the time, their validators, and the tolerant one. */
async function writeDocuments() {
  const { load } = await import('js-yaml')
  const { writeTolerantDocument } = await import('../dist/contract/tolerant.js')
  const { expandShortForm } = await import('../dist/contract/short-form.js')
  const { writeValidators } = await import('../dist/contract/standalone.js')
  const { loadContract } = await import('../dist/contract/contract.js')
  const { loadControlApi } = await import('../dist/contract/control-api.js')
  const [own, control] = ['openapi.yaml', 'src/admin/openapi.yaml'].map((path) => load(readFileSync(path, 'utf8')))
  writeFileSync('openapi.tolerant.yaml', await writeTolerantDocument(own))
  writeFileSync('dist/admin/openapi.json', JSON.stringify(expandShortForm(control)))
  writeFileSync('dist/openapi.json', JSON.stringify(own))
  writeFileSync('dist/admin/validators.cjs', await writeValidators((await loadControlApi()).document))
  writeFileSync(WHOLE, await writeValidators((await loadContract()).document, { answers: true }))
}

/** Makes one HTML file of src/dashboard. It contains the style and the script, because the page may load nothing. */
async function buildPage() {
  const { build } = await import('rolldown')
  const folder = 'src/dashboard'
  const { output } = await build({
    input: join(folder, 'main.tsx'),
    platform: 'browser',
    tsconfig: join(folder, 'tsconfig.json'),
    write: false,
    output: { minify: true, codeSplitting: false },
  })
  const textOf = (path) => readFileSync(path, 'utf8').replace(/^(?:@charset[^;]*;|\uFEFF)/, '')
  // The style of the page comes before that of a layer, whatever the selectors are.
  const base = `@layer base {\n${textOf('node_modules/@picocss/pico/css/pico.classless.min.css')}\n}\n`
  const licences = PAGE_PACKAGES.map((name) => {
    const file = readdirSync(join('node_modules', name)).find((each) => /^licen[cs]e(\.md|\.txt)?$/i.test(each))
    return `${name}\n\n${textOf(join('node_modules', name, file)).trim()}\n`
  })
  const notice = enclose('<!--', `This page contains these packages:\n\n${licences.join('\n')}`, '-->')
  const style = enclose('<style>', base + textOf(join(folder, 'style.css')), '</style>')
  const script = enclose('<script type="module">', output[0].code, '</script>')
  mkdirSync('dist', { recursive: true })
  writeFileSync(
    'dist/dashboard.html',
    textOf(join(folder, 'page.html'))
      .replace('<style></style>', () => `${notice}\n${style}`)
      .replace('<script type="module"></script>', () => script),
  )
}

/** The browser reads the text up to the first closing tag. */
function enclose(opening, text, closing) {
  if (text.includes(closing)) throw new Error(`The text of ${opening} contains ${closing}.`)
  return `${opening}\n${text}${closing}`
}
