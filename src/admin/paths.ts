/** The path of the control plane. All of its paths are below it. */
export const ADMIN_PATH = '/__admin'

/** The addresses of the dashboard and of its views. */
export const PAGE_PATHS = /^\/__admin(?:\/|\/page\/.*)?$/

/** Addresses of views before all moved below `/page`. Some others of that time are now only those of data. */
export const FORMER_PAGES =
  /^\/__admin\/accounts\/([^/]+\/(?:overview|domains|groups|requests|time|scenes|faults|account|coverage)(?:\/[^/]*)?)$/

export const UNIFORM_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }
