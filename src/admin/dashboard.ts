import { readFile } from 'node:fs/promises'

const PAGE = new URL('../../src/admin/dashboard.html', import.meta.url)

let page: Promise<string> | undefined

/** The dashboard: one page that is a client of the control plane. */
export function readDashboard(): Promise<string> {
  page ??= readFile(PAGE, 'utf8')
  return page
}
