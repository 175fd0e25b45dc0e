import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

const PAGE = new URL('../../src/admin/dashboard.html', import.meta.url)

/** A page, with header fields that hold a browser to what it is meant to do. */
export interface Dashboard {
  text: string
  headers: Record<string, string>
}

let page: Promise<Dashboard> | undefined

/** The dashboard: one page that is a client of the control plane. */
export function readDashboard(): Promise<Dashboard> {
  page ??= readFile(PAGE, 'utf8').then((text) => ({ text, headers: protect(text) }))
  return page
}

/** Whatever finds its way into the page runs no script of its own, calls nobody else, and no other page frames it. */
export function protect(text: string): Record<string, string> {
  const scripts = [...text.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/gi)].map(([, script = '']) => {
    return ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`
  })
  const policy = {
    'default-src': "'self'",
    'script-src': `'self'${scripts.join('')}`,
    'style-src': "'self' 'unsafe-inline'",
    'img-src': "'self' data:",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  }
  return {
    'Content-Security-Policy': Object.entries(policy)
      .map(([directive, sources]) => `${directive} ${sources}`)
      .join('; '),
    'Referrer-Policy': 'no-referrer',
  }
}
