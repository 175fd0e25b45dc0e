// Prints the section of CHANGELOG.md about a version, as the notes of its release: node scripts/release-notes.mjs v1.2.3
import { readFileSync } from 'node:fs'

const [tag = ''] = process.argv.slice(2)
const version = tag.replace(/^v/, '')
const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const changelog = readFileSync('CHANGELOG.md', 'utf8')

if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) refuse(`${tag || 'nothing'}: must be a version, such as v1.2.3`)
if (version !== manifest.version) refuse(`${tag}: package.json has the version ${manifest.version}`)

// The title may go on with a date.
const sections = changelog.split(/^## /m).filter((section) => section.split(/\s/, 1)[0] === version)
const [notes = refuse(`${tag}: CHANGELOG.md has no section "## ${version}"`)] = sections.map((section) =>
  section.slice(section.indexOf('\n')).trim(),
)
if (notes === '') refuse(`${tag}: the section "## ${version}" of CHANGELOG.md is empty`)
console.log(withWholeLines(withWholeLinks(notes)))

/** On the page of a release, a link counts from that page. */
function withWholeLinks(text) {
  const files = `${manifest.repository.url.replace(/^git\+|\.git$/g, '')}/blob/v${version}/`
  return text.replaceAll(/\]\((?!https?:)(#?)/g, (_, mark) => `](${files}${mark && 'CHANGELOG.md#'}`)
}

/** On the page of a release, the end of a line is a line break. */
function withWholeLines(text) {
  return text
    .split(/(^ *```[\s\S]*?^ *```$)/m)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/(?<=\S)\n *(?![\s#|>]|[-*] |\d+\. |$)/g, ' ')))
    .join('')
}

function refuse(message) {
  console.error(`release-notes: ${message}`)
  process.exit(2)
}
