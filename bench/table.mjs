/** Prints rows of equal keys; texts to the left, figures to the right. */
export function printTable(rows) {
  const names = Object.keys(rows[0])
  const lines = [names, ...rows.map((row) => names.map((name) => `${row[name]}`))]
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const isFigure = names.map((name) => rows.every((row) => /^(?:[\d–.,-]+( \S{1,3})?)?$/.test(`${row[name]}`)))
  for (const line of lines) {
    const cells = line.map((cell, column) =>
      isFigure[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
    )
    console.log(cells.join('  ').trimEnd())
  }
  console.log()
}

/** Three significant digits, with commas in thousands. */
export function figure(value) {
  if (!Number.isFinite(value)) return '–'
  if (value >= 100) return Math.round(value).toLocaleString('en-US')
  return value.toPrecision(Math.abs(value) < 0.995 ? 2 : 3)
}
