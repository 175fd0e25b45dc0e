// Puts what was measured into the documents.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** @throws Error if the document does not have the comments of one of the blocks. */
export function writeBlocks(blocks) {
  for (const block of blocks) {
    const file = fileURLToPath(new URL(`../${block.path}`, import.meta.url))
    writeFileSync(file, replaceBetween(readFileSync(file, 'utf8'), block))
  }
}

/** The document with another content between the two comments of that name. @throws Error if it does not have them. */
export function replaceBetween(document, { path, name, content, writer = 'chart' }) {
  const [begin, end] = [`<!-- ${name}: written by node bench/${writer}.mjs -->`, `<!-- /${name} -->`]
  const [from, to] = [document.indexOf(begin), document.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${path} has no lines ${begin} and ${end}.`)
  return `${document.slice(0, from)}${begin}\n${content}\n${document.slice(to)}`
}

/** The day and the program that figures are of. */
export function describeOrigin({ date, commit, isChanged }) {
  return `${date}, commit ${commit}${isChanged ? ' with changes' : ''}`
}
