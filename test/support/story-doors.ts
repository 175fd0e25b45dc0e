import { request } from 'node:http'
import { startUnderstudy } from '../../src/index.ts'
import { type Door, type Sent, STORY_OPTIONS, type Told, tellStory } from './told-story.ts'

/** The story as the port of a server in this process tells it. */
export async function tellReference(): Promise<string[]> {
  const service = await startUnderstudy(STORY_OPTIONS)
  const told = await tellStory(socketDoor({ baseUrls: [service.baseUrl], adminUrl: service.adminUrl ?? '' }))
  await service.stop()
  return told
}

/** Where servers of one service are: the requests of the story alternate between them. */
export interface Addresses {
  baseUrls: readonly string[]
  adminUrl: string
  /** Of the control plane, if it asks for one. */
  token?: string
}

/** The door of servers with ports. */
export function socketDoor({ baseUrls, adminUrl, token }: Addresses): Door {
  let called = 0
  const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return {
    origins: [...baseUrls, adminUrl].map((url) => new URL(url).origin),
    call: (sent) => sendOver(baseUrls[sent.isAnonymous ? 0 : called++ % baseUrls.length] ?? '', sent),
    control: (sent) => sendOver(adminUrl, { ...sent, headers: { ...sent.headers, ...credentials } }),
  }
}

/** The door that a function like `fetch` is. */
export function fetchDoor(
  fetch: (request: Request) => Promise<Response>,
  { baseUrl, adminUrl }: { baseUrl: string; adminUrl: string },
): Door {
  const send =
    (base: string) =>
    async ({ method, path, headers, body }: Sent): Promise<Told> => {
      const init = { method, headers, ...(body !== undefined && { body: new Uint8Array(body) }) }
      const response = await fetch(new Request(base + path, init)).catch(codeOf)
      if (typeof response === 'string') return { status: 0, fields: new Map(), bytes: Buffer.alloc(0), lost: response }
      const chunks: Uint8Array[] = []
      let lost: string | undefined
      try {
        for await (const chunk of response.body ?? []) chunks.push(chunk)
      } catch {
        lost = CUT_OFF
      }
      return { status: response.status, fields: new Map(response.headers), bytes: Buffer.concat(chunks), lost }
    }
  return { origins: [new URL(baseUrl).origin], call: send(baseUrl), control: send(adminUrl) }
}

/** What every client says of a body that ends too early, in its own words. */
const CUT_OFF = 'the end of the body'

/** The code of the connection's error, which `fetch` gives as its cause. */
function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: string; cause?: { code?: string } }
  const found = code ?? cause?.code ?? `${error}`
  // A connection that is closed before an answer is an ECONNRESET for `http`, and has a code of its own for `fetch`.
  return found === 'UND_ERR_SOCKET' ? 'ECONNRESET' : found
}

function sendOver(base: string, { method, path, headers, body }: Sent): Promise<Told> {
  return new Promise((resolve) => {
    const fail = (error: unknown) =>
      resolve({ status: 0, fields: new Map(), bytes: Buffer.alloc(0), lost: codeOf(error) })
    // Without its length, a body of DELETE would be sent in chunks.
    const length = body === undefined ? {} : { 'content-length': `${body.length}` }
    const sending = request(base + path, { method, headers: { ...headers, ...length }, agent: false }, (response) => {
      const chunks: Buffer[] = []
      const tell = (lost: string | undefined) => {
        const { statusCode: status = 0, rawHeaders } = response
        const fields = new Map<string, string>()
        for (let at = 0; at < rawHeaders.length; at += 2) {
          fields.set(`${rawHeaders[at]}`.toLowerCase(), `${rawHeaders[at + 1]}`)
        }
        resolve({ status, fields, bytes: Buffer.concat(chunks), lost })
      }
      response.on('data', (chunk) => chunks.push(chunk))
      response.once('error', () => tell(CUT_OFF))
      response.once('end', () => tell(undefined))
    })
    sending.once('error', fail)
    sending.end(body)
  })
}
