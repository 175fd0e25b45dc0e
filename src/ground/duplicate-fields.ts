/** The relevant parts of JSON: a string, with the colon that makes it the name of a field, or a bracket. */
const PART = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\]]/g

/** The first duplicate field name of one object in a valid JSON text; `undefined` if there is none. */
export function findDuplicateField(json: string): string | undefined {
  /** The names of the fields so far, of each object or array that is still open. */
  const open: Set<string>[] = []
  for (const [part, text, colon] of json.matchAll(PART)) {
    if (part === '{' || part === '[') open.push(new Set())
    else if (part === '}' || part === ']') open.pop()
    else if (text !== undefined && colon !== undefined) {
      // Two spellings with different escapes are one name.
      const name: string = JSON.parse(text)
      const names = open.at(-1)
      if (names?.has(name)) return name
      names?.add(name)
    }
  }
  return undefined
}
