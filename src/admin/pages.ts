import { errorEnvelope } from '../http/envelope.ts'
import type { Readiness } from '../store/readiness.ts'
import type { Control } from './control.ts'

/** A response without the envelope. */
export interface PlainResponse {
  /** The media type. */
  type: string
  text: string
  /** By default 200. */
  status?: number
  headers?: Readonly<Record<string, string>>
}

/** `instance` tells a client whether this is the server that it started. */
export function describeHealth(instance: string): PlainResponse {
  return { type: 'application/json', text: JSON.stringify({ success: true, data: { status: 'ok', instance } }) }
}

/** Whether the server can do its work. A balancer requests this often, so it costs nothing. */
export function describeReadiness(instance: string, { kind, state }: Readiness): PlainResponse {
  const type = 'application/json'
  if (!state.isReady) return { type, status: 503, text: writeUnavailable(state.reason) }
  const data = { status: 'ready', instance, store: kind, limitation: state.limitation ?? null }
  return { type, text: JSON.stringify({ success: true, data }) }
}

/** The refusal while the store is unavailable. It does not use the document, which may not be loaded yet. */
export function writeUnavailable(reason: string): string {
  const failure = { code: 'unavailable', message: `${reason}.` }
  return JSON.stringify(errorEnvelope({ ...failure, problems: [{ ...failure, field: null }] }))
}

/** The operations that answer with a page, by operationId. The data of a page is loaded on request. */
export const PAGES: Readonly<Record<string, (control: Control) => PlainResponse | Promise<PlainResponse>>> = {
  getHealth: ({ deps }) => describeHealth(deps.instance),
  getReadiness: ({ deps }) => describeReadiness(deps.instance, deps.readiness),
  getDocument: ({ api }) => ({ type: 'application/json', text: JSON.stringify(api.document.source) }),
  async getMetrics({ deps }) {
    const { writeMetrics } = await import('./metrics.ts')
    return writeMetrics(deps)
  },
  async getDashboard(control) {
    const { readDashboard } = await import('./dashboard.ts')
    return { type: 'text/html; charset=utf-8', ...(await readDashboard(control)) }
  },
}
