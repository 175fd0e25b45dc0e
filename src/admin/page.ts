import { createHash } from 'node:crypto'
import { readPackageFile } from '../ground/files.ts'

const PAGE = 'dist/dashboard.html'
/** The element of the page that holds what it needs to know. */
const FACTS = /(<script type="application\/json" id="facts">)[^<]*(<\/script>)/

export interface Page {
  text: string
  headers: Readonly<Record<string, string>>
}

/**
 * The dashboard: one page that is a client of the control plane, with what it needs `about` the server.
 *
 * The policy lets the browser run and load only the contents of the page itself. So the text of a request to the
 * service can do nothing in the page, even if the page treated it as markup.
 */
export function readPage(about: unknown): Page {
  const page = readPackageFile(PAGE).toString()
  // `<` could end the element early. In JSON it occurs only inside strings.
  const facts = JSON.stringify(about).replaceAll('<', '\\u003c')
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(page, /<script type="module">([\s\S]*?)<\/script>/g)}`,
    `style-src ${hashesOf(page, /<style>([\s\S]*?)<\/style>/g)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return {
    text: page.replace(FACTS, (_, opening: string, closing: string) => opening + facts + closing),
    headers: { 'Content-Security-Policy': policy.join('; '), 'Referrer-Policy': 'no-referrer' },
  }
}

function hashesOf(page: string, element: RegExp): string {
  const hashes = [...page.matchAll(element)].map(([, text = '']) => createHash('sha256').update(text).digest('base64'))
  return hashes.map((hash) => `'sha256-${hash}'`).join(' ')
}
