/**
 * The records of a domain in an answer with daily records, as texts: a number such as 100.0 loses its decimal when it is
 * read. The answer is of one domain, so each day has one record at most.
 */
export function lastRecordText(answer: string): string | undefined {
  const start = answer.lastIndexOf('"records":[')
  const text = answer.slice(start + '"records":['.length, answer.lastIndexOf(']}]'))
  return start >= 0 && text.startsWith('{') ? text : undefined
}

/** Puts each field of a flat JSON object in a line of its own, and leaves its values as they are. */
export function layOut(text: string): string {
  const fields = text.match(/"(?:[^"\\]|\\.)*":(?:"(?:[^"\\]|\\.)*"|[^,}]+)/g) ?? []
  return `{\n${fields.map((field) => `  ${field.replace(/":/, '": ')}`).join(',\n')}\n}`
}
