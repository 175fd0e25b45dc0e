// Makes one HTML file of src/dashboard. It contains the style and the script, because the page may load nothing.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { readLicences } from './bundle-licences.mjs'

const SOURCES = new URL('src/dashboard/', import.meta.url)
const PAGE = new URL('dist/dashboard.html', import.meta.url)
const STYLE_SHEETS = /(?:<link rel="stylesheet" href="[^"]+">\n)+/
const SCRIPT = /<script type="module" src="([^"]+)"><\/script>/

async function readStyle(links) {
  const paths = [...links.matchAll(/href="([^"]+)"/g)].map(([, path]) => new URL(path, SOURCES))
  return (await Promise.all(paths.map((path) => readFile(path, 'utf8')))).join('')
}

async function bundleScript(path) {
  const bundle = await rolldown({
    input: fileURLToPath(new URL(path, SOURCES)),
    platform: 'browser',
    tsconfig: fileURLToPath(new URL('tsconfig.json', SOURCES)),
  })
  const { output } = await bundle.generate({ comments: false, codeSplitting: false })
  return { code: output[0].code, modules: output[0].moduleIds }
}

/** The licences of the packages that the page contains. */
async function writeLicences(modules) {
  const comment = `This page contains these packages:\n\n${await readLicences(modules)}`
  if (comment.includes('--')) throw new Error('The text of a licence would end the comment.')
  return `<!--\n${comment}-->\n`
}

/** An element with a text. The browser reads the text up to the first closing tag. */
function enclose(opening, text, closing) {
  if (text.includes(closing)) throw new Error(`The text of ${opening} contains ${closing}.`)
  return `${opening}\n${text}${closing}`
}

const page = await readFile(new URL('page.html', SOURCES), 'utf8')
const [links] = STYLE_SHEETS.exec(page)
const [reference, path] = SCRIPT.exec(page)
const style = enclose('<style>', await readStyle(links), '</style>')
const { code, modules } = await bundleScript(path)
const script = enclose('<script type="module">', code, '</script>')
const licences = await writeLicences(modules)
await mkdir(new URL('.', PAGE), { recursive: true })
await writeFile(
  PAGE,
  page.replace(links, () => `${licences}${style}\n`).replace(reference, () => script),
)
