// Pictures for a light and for a dark page.

/** A picture of so many pixels; `styles` are the rules of a light page, and those of a dark one. */
export function picture({ width, height, title, styles: [light, dark], parts }) {
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    '<style>',
    'text { font: 13px system-ui, sans-serif; fill: #1f2328 } .title { font-weight: 600 } .end { text-anchor: end }',
    light,
    `@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } ${dark} }`,
    '</style>',
    ...parts,
    '</svg>',
  ].join('\n')}\n`
}

export function text(x, y, content, kind) {
  return `<text class="${kind}" x="${x}" y="${y}">${escaped(content)}</text>`
}

function escaped(content) {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
