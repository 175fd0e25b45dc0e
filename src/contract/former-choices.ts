import { readPackageFile } from '../ground/package-files.ts'

/** A line of the documentation: what holds now, and the names of the former choice, its setting and its schema. */
const LINE = /^- (.+) \((`[\w-]+`(?:, `[\w-]+`)*)\)$/gm

/**
 * What holds in place of a choice of former versions, in the words of the documentation; `undefined` if `text`, an id or a
 * JSONPath, names none.
 */
export function whatBecameOf(text: string): string | undefined {
  const names = text.split(/[^\w-]+/)
  const [, unusual = ''] = readPackageFile('docs/choices.md').toString().split('## Unusual input')
  for (const [, says = '', known = ''] of unusual.matchAll(LINE)) {
    const name = known.match(/[\w-]+/g)?.find((each) => names.includes(each))
    if (name !== undefined) return `${name} is no longer a choice. ${says}`
  }
  return undefined
}
