/**
 * The text of the last record in an answer with daily records of one domain. Each day has at most one record. Parsing
 * would turn a number such as 100.0 into 100.
 */
export function lastRecordText(answer: string): string | undefined {
  const start = answer.lastIndexOf('"records":[')
  const text = answer.slice(start + '"records":['.length, answer.lastIndexOf(']}]'))
  return start >= 0 && text.startsWith('{') ? text : undefined
}

/** Formats a flat JSON object with one field per line, and keeps the text of its values. */
export function layOut(text: string): string {
  const fields = text.match(/"(?:[^"\\]|\\.)*":(?:"(?:[^"\\]|\\.)*"|[^,}]+)/g) ?? []
  return `{\n${fields.map((field) => `  ${field.replace(/":/, '": ')}`).join(',\n')}\n}`
}
