/** The path of the control plane. All of its paths are below it. */
export const ADMIN_PATH = '/__admin'

/** The addresses of the dashboard and of its views. */
export const PAGE_PATHS = /^\/__admin(?:\/|\/page\/.*)?$/

/** The header fields of every response. */
export const UNIFORM_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

/** An address that a view had before all of them moved below `/page`. Some others are now only those of data. */
const FORMER = new RegExp(
  `^${ADMIN_PATH}/accounts/([^/]+/(?:overview|domains|groups|requests|time|scenes|faults|account|coverage)(?:/[^/]*)?)$`,
)

/** Where the page has gone that was at a path without data; `undefined` for any other path. */
export function presentAddressOf(path: string): string | undefined {
  const place = FORMER.exec(path)?.[1]
  return place === undefined ? undefined : `${ADMIN_PATH}/page/${place}`
}
