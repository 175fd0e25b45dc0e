import { closed, fetchFailed, stopped } from './failure.ts'
import { type Fetch, fieldsOf, readRequest, targetOf } from './request.ts'

/**
 * Sends requests to the server at a base URL, whatever the origin of their URL is, as `openFetch` answers them. `close`
 * ends those that are under way.
 */
export function fetchFrom(baseUrl: string): { fetch: Fetch; close(): void } {
  const closing = new AbortController()
  async function fetchThere(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = readRequest(input, init, `${baseUrl}/domains`)
    if (closing.signal.aborted) throw fetchFailed(stopped())
    const { method, body } = request
    const fields = fieldsOf(request)
    const headers = new Headers()
    for (let index = 0; index < fields.length; index += 2) headers.append(`${fields[index]}`, `${fields[index + 1]}`)
    const signal = AbortSignal.any([request.signal, closing.signal])
    const sent = { method, headers, body, signal, duplex: 'half', redirect: 'manual' } satisfies RequestInit
    return fetch(new URL(targetOf(request), baseUrl), sent)
  }
  return { fetch: fetchThere, close: () => closing.abort(fetchFailed(closed())) }
}
