/** A response with its whole body. */
export interface Received {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  text: string
  /** The parsed text where the response is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies whose shape a document has just validated
  body: any
}

/** `null` takes away a header that would be sent otherwise. */
export type SentHeaders = Record<string, string | null>

/** Sends a request; `body` is sent as JSON, or as it is when it is text or bytes. */
export async function sendRequest(
  method: string,
  url: string,
  body?: unknown,
  headers: SentHeaders = {},
): Promise<Received> {
  const sent = new Headers(body === undefined ? {} : { 'content-type': 'application/json' })
  for (const [name, value] of Object.entries(headers)) value === null ? sent.delete(name) : sent.set(name, value)
  const payload =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const response = await fetch(url, {
    method,
    headers: sent,
    ...(payload !== undefined && { body: payload as string }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type') === 'application/json' && text !== ''
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text,
    body: isJson ? JSON.parse(text) : undefined,
  }
}
