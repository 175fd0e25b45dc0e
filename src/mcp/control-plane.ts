import { ADMIN_PATH } from '../admin/paths.ts'
import { followReferences } from '../contract/document.ts'
import { isObject, type Json, readJson } from '../ground/json.ts'
import { shorten } from '../ground/show.ts'
import { ToolError } from './answer.ts'

/** A request to an operation: the values of its path and its query, and its body. */
interface ToolRequest {
  method: string
  /** Of the document, such as `/accounts/{account}`. */
  path: string
  parameters?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: unknown
}

/** The control plane of a running server. */
export interface ControlPlane {
  url: string
  /** Its document, without references. */
  document: Json
  /** The base URL of the service. */
  baseUrl: string
  /** Resolves to the data of the answer. @throws ToolError with what would be right */
  ask(request: ToolRequest): Promise<unknown>
}

/** How long a program that may be any other one can be silent, in milliseconds. */
const PATIENCE = 10_000

/** @throws ToolError if there is no control plane at the address */
export async function connect(address: string, token: string | undefined): Promise<ControlPlane> {
  const { pathname, origin } = new URL(address)
  // The address of the server, or of its page, means that of its control plane.
  const url = pathname === '/' ? origin + ADMIN_PATH : address.replace(/\/+$/, '')
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }

  async function send(target: string, init: RequestInit = {}): Promise<Json> {
    const answer = await fetch(target, { ...init, headers, redirect: 'error' }).catch((error: Error) => {
      const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException
      throw new ToolError(
        `No server answers at ${shorten(url)} (${code ?? message}): it has stopped, or the address is wrong. Start it again, or attach to another one.`,
      )
    })
    const content = readJson(await answer.text())
    if (isObject(content) && isObject(content['error'])) throw new ToolError(describeRefusal(content['error']))
    if (isObject(content)) return content
    throw new ToolError(
      `Something other than the control plane answers at ${shorten(url)} (${answer.status}); an address is such as http://127.0.0.1:4010/__admin.`,
    )
  }

  const first = { signal: AbortSignal.timeout(PATIENCE) }
  const document = await send(`${url}/openapi.json`, first)
  const about = await send(`${origin}/`, first)
  if (!isObject(document['paths']) || !isObject(about['data'])) {
    throw new ToolError(
      `What answers at ${shorten(url)} is not the control plane; name it, such as ${origin}${ADMIN_PATH}.`,
    )
  }
  return {
    url,
    document: followReferences(document) as Json,
    baseUrl: `${about['data']['service']}`,
    async ask({ method, path, parameters = {}, query = {}, body }) {
      const place = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => segmentOf(name, parameters[name]))
      const search = new URLSearchParams(query)
      const target = `${url}${place}${search.size > 0 ? `?${search}` : ''}`
      const content = await send(target, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })
      return content['data']
    },
  }
}

/** A value as one segment of a path. A URL would take the segments `.` and `..` for another path. */
function segmentOf(name: string, value = ''): string {
  if (/^\.{0,2}$/.test(value)) throw new ToolError(`${name} is "${value}", which nothing has.`)
  return encodeURIComponent(Buffer.from(value).toString())
}

/** The first problem and further ones, each with its place. */
function describeRefusal({ code, message, problems }: Json): string {
  const others = (Array.isArray(problems) ? problems : []).filter((each) => each.message !== message)
  const hint = code === 'unauthorized' ? ' Give it with --admin-token.' : ''
  return shorten(
    [`${message}${hint}`, ...others.map((each) => `- ${each.field ?? ''}: ${each.message}`)].join('\n'),
    4_000,
  )
}
