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

/**
 * Whether a client shows HTML to a person. Some programs name `text/html` among what they accept: those that also name
 * JSON, and older HTTP clients of Java, which name pictures as well, but no XHTML as every browser does.
 */
export function acceptsHtml({ accept = '' }: IncomingHttpHeaders): boolean {
  const types = new Set(
    accept
      .toLowerCase()
      .split(/\s*,\s*/)
      .filter((type) => !NEVER.test(type))
      .map(nameOf),
  )
  const isProgram = types.has('application/json') || (types.has('image/gif') && !types.has('application/xhtml+xml'))
  return types.has('text/html') && !isProgram
}

/** The weight of a type that the client does not accept. */
const NEVER = /;\s*q=0(?:\.0*)?$/

function nameOf(type: string): string {
  return type.replace(/;.*/, '').trim()
}
