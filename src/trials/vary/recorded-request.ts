import type { Problem } from '../../domain/errors.ts'
import type { DirectRequest } from '../../doors/direct-arrival.ts'
import { bytesOf, isCut } from '../../http/content.ts'
import type { Entry } from '../../journal/entry.ts'

/** If a body was refused unread, only its size is known. A filler of at most this many bytes replaces it. */
export const LONGEST_FILLER = 4 << 20

/** A request to repeat, or the problem of input that was not valid HTTP. */
export type Again = DirectRequest | { problem: Problem<string> }

/** The request of a recorded entry; `undefined` if too little of it is known. */
export function askAgain(entry: Entry): Again | undefined {
  const { method, target, headers, problems } = entry
  const [problem] = problems
  const reason = problem?.reason
  if (headers.length === 0 && isNoHttp(entry)) {
    return problem !== undefined && (reason === 'malformed' || reason === 'large-header') ? { problem } : undefined
  }
  const body = bodyOf(entry)
  if (body === undefined) return undefined
  // Without Host, the request was HTTP/1.0, or it was refused for that. The journal does not keep the version.
  const httpVersion = fieldOf(headers, 'host') !== undefined || reason === 'malformed' ? '1.1' : '1.0'
  return { method, target, headers, body, httpVersion }
}

/** Whether it was answered before it was a request: by a response that closes the connection, or by no response. */
function isNoHttp({ status, responseHeaders, problems }: Entry): boolean {
  return problems[0]?.reason === 'timeout' || status === undefined || responseHeaders.includes('Connection')
}

function bodyOf({ body, headers }: Entry): Buffer | undefined {
  const declared = Number(fieldOf(headers, 'content-length') ?? Number.NaN)
  if (body === undefined) return declared > 0 ? undefined : Buffer.alloc(0)
  if (isCut(body)) return body.size > LONGEST_FILLER ? undefined : Buffer.alloc(body.size, ' ')
  const bytes = bytesOf(body)
  // The recorded text may differ from the original bytes, and a client may disconnect in the middle of a body.
  if (bytes.length !== body.size || (declared >= 0 && declared !== body.size)) return undefined
  return bytes
}

function fieldOf(headers: readonly string[], name: string): string | undefined {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() === name) return headers[index + 1]
  }
  return undefined
}
