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
] as const
export type PageView = (typeof PAGE_VIEWS)[number]

/** Whether a path is the address of the dashboard or of one of its views. */
export function isPageAddress(path: string): boolean {
  return path === ADMIN_PATH || path === `${ADMIN_PATH}/` || path.startsWith(`${ADMIN_PATH}/page/`)
}
