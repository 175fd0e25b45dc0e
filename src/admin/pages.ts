import type { Control } from './control.ts'

/** A response without the envelope. */
export interface Page {
  /** The media type. */
  type: string
  text: string
  headers?: Readonly<Record<string, string>>
}

/** `instance` tells a client whether the server is the one that it started. */
export function describeHealth(instance: string): Page {
  return { type: 'application/json', text: JSON.stringify({ success: true, data: { status: 'ok', instance } }) }
}

/** The operations that answer with a page, by operationId. What a page needs is loaded when somebody asks for it. */
export const PAGES: Readonly<Record<string, (control: Control) => Page | Promise<Page>>> = {
  getHealth: ({ deps }) => describeHealth(deps.instance),
  getDocument: ({ api }) => ({ type: 'application/json', text: JSON.stringify(api.document.source) }),
  async getMetrics({ deps }) {
    const { writeMetrics } = await import('./metrics.ts')
    return writeMetrics(deps)
  },
  async getDashboard({ api, deps }) {
    const { readDashboard } = await import('./dashboard.ts')
    return { type: 'text/html; charset=utf-8', ...(await readDashboard(deps.contract, api)) }
  },
}
