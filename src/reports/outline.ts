import type { Fact, Section } from './report.ts'

/** The facts in this order. A fact whose value is `false` does not apply. */
export function listFacts(values: Readonly<Record<string, string | false>>): Fact[] {
  return Object.entries(values).flatMap(([name, value]) => (value === false ? [] : [{ name, value }]))
}

/** A section with a table; none if the table would be empty. */
export function tableSection(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): Section[] {
  return rows.length === 0 ? [] : [{ title, blocks: [{ kind: 'table', columns, rows }] }]
}

/** A section with a list; none if the list would be empty. */
export function listSection(title: string, items: readonly string[]): Section[] {
  return items.length === 0 ? [] : [{ title, blocks: [{ kind: 'list', items }] }]
}
