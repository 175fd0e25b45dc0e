import { errorEnvelope } from '../contract/envelope.ts'
import type { Readiness } from '../store/readiness.ts'
import type { Control } from './control.ts'

export const JSON_TYPE = 'application/json'
/** The header fields of every response. */
export const UNIFORM_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

/** A response whose text is complete. */
export interface PlainResponse {
  /** The media type; absent if there is no content. */
  type?: string
  text: string
  /** By default 200. */
  status?: number
  headers?: Readonly<Record<string, string>>
}

export function describeData(data: object): PlainResponse {
  return { type: JSON_TYPE, text: JSON.stringify({ success: true, data }) }
}

/** `instance` tells a client whether this is the server that it started. */
export function describeHealth(instance: string): PlainResponse {
  return describeData({ status: 'ok', instance })
}

/** Whether the server can do its work. A balancer requests this often, so it costs nothing. */
export function describeReadiness(instance: string, { kind, state }: Readiness): PlainResponse {
  if (!state.isReady) return describeUnavailable(state.reason)
  return describeData({ status: 'ready', instance, store: kind, limitation: state.limitation ?? null })
}

/** The refusal while the store is unavailable. */
export function describeUnavailable(reason: string): PlainResponse {
  return { type: JSON_TYPE, status: 503, text: writeFailure('unavailable', `${reason}.`) }
}

/** A refusal that does not use the document, which may not be loaded yet. */
export function writeFailure(code: string, message: string): string {
  return JSON.stringify(errorEnvelope({ code, message, problems: [{ code, message, field: null }] }))
}

/** The operations that answer with a page, by operationId. The data of a page is loaded on request. */
export const PAGES: Readonly<Record<string, (control: Control) => PlainResponse | Promise<PlainResponse>>> = {
  getHealth: ({ deps }) => describeHealth(deps.instance),
  getReadiness: ({ deps }) => describeReadiness(deps.instance, deps.readiness),
  getDocument: ({ api }) => ({ type: JSON_TYPE, text: JSON.stringify(api.document.source) }),
}

/** The page. It is the same at each of its addresses. */
export async function openDashboard(control: Control): Promise<PlainResponse> {
  const { readDashboard } = await import('./dashboard.ts')
  return { type: 'text/html; charset=utf-8', ...(await readDashboard(control)) }
}
