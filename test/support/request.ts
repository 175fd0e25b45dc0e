import { Agent, type IncomingMessage, request } from 'node:http'

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

// An idle connection ends here before the server ends it, so that no request is on its way to a server that closes it.
const agent = new Agent({ keepAlive: true, timeout: 1_000 })

/**
 * Sends a request; `body` is sent as JSON, or as it is when it is text or bytes. Not by `fetch`, of which a request takes
 * twice the time.
 */
export async function sendRequest(
  method: string,
  url: string,
  body?: unknown,
  headers: SentHeaders = {},
): Promise<Received> {
  const content = encodeBody(body)
  const { response, bytes } = await transmit(
    method,
    new URL(url),
    content,
    Object.fromEntries(fieldsOf(content, headers)),
  )
  return receivedOf(response.statusCode ?? 0, response.headers as Record<string, string>, bytes.toString())
}

export function encodeBody(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined
  return Buffer.from(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body))
}

/** The fields of a request, by lower-case name. */
export function fieldsOf(body: Uint8Array | undefined, headers: SentHeaders): Map<string, string> {
  const sent = new Map([['accept', '*/*']])
  if (body !== undefined) sent.set('content-type', 'application/json')
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) sent.delete(name.toLowerCase())
    else sent.set(name.toLowerCase(), value)
  }
  if (body !== undefined) sent.set('content-length', `${body.length}`)
  return sent
}

export function receivedOf(status: number, headers: Record<string, string>, text: string): Received {
  const isJson = headers['content-type']?.startsWith('application/json') && text !== ''
  return { status, headers: { ...headers }, text, body: isJson ? JSON.parse(text) : undefined }
}

/** Sends a request as it is, on a connection that is kept for others; resolves when the whole response is there. */
export function transmit(
  method: string,
  url: URL,
  body: string | Uint8Array | undefined,
  headers: Record<string, string>,
): Promise<{ response: IncomingMessage; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () => resolve({ response, bytes: Buffer.concat(chunks) }))
    })
    sending.once('error', reject)
    sending.end(body)
  })
}
