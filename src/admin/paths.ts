import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** The path of the control plane. All of its paths are below it. */
export const ADMIN_PATH = '/__admin'

/** The views of the dashboard, in the order of their tabs. */
export const PAGE_VIEWS = [
  'overview',
  'domains',
  'groups',
  'requests',
  'time',
  'scenes',
  'faults',
  'account',
  'coverage',
  'compare',
] as const
export type PageView = (typeof PAGE_VIEWS)[number]

/** An account, perhaps a view, and perhaps what the view shows in detail. */
const ADDRESS = new RegExp(`^${ADMIN_PATH}/accounts/[^/]+(?:/(?:(?:${PAGE_VIEWS.join('|')})(?:/[^/]*)?)?)?$`)

/** Whether a path is the address of the dashboard or of one of its views. Some of them are also paths of operations. */
export function isPageAddress(path: string): boolean {
  return isRoot(path) || ADDRESS.test(path)
}

export function isRoot(path: string): boolean {
  return path === ADMIN_PATH || path === `${ADMIN_PATH}/`
}

/** Whether a browser opens an address. A program that wants data does not ask for HTML. */
export function opensPage({ method, headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && acceptsHtml(headers)
}

export function acceptsHtml({ accept = '' }: IncomingHttpHeaders): boolean {
  return /\btext\/html\b/.test(accept)
}
