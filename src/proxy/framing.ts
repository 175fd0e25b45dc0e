import type { Framing, HeaderField, Lost, MessageHead } from './message-reader.ts'

/** How the body of a request is framed (RFC 9112 §6). Framing that servers interpret differently is not followed. */
export function frameRequest({ startLine, fields }: MessageHead): Framing | Lost {
  if (startLine.startsWith('CONNECT ')) return { lost: 'asks for a tunnel' }
  const codings = valuesOf(fields, 'transfer-encoding')
  const length = lengthIn(fields)
  if (typeof length === 'object') return length
  if (codings.length === 0) return length ?? 0
  if (length !== undefined) return { lost: 'has both Content-Length and Transfer-Encoding' }
  return isChunked(codings) ? 'chunked' : { lost: `has the transfer coding ${codings.join(', ')}` }
}

/** The same for the response to a request with this method. */
export function frameResponse({ startLine, fields }: MessageHead, method: string): Framing | Lost {
  const status = statusOf(startLine)
  if (status === 101) return { lost: 'changes to another protocol' }
  if (status < 200 || status === 204 || status === 304 || method === 'HEAD') return 0
  const codings = valuesOf(fields, 'transfer-encoding')
  if (codings.length > 0) return isChunked(codings) ? 'chunked' : 'until close'
  const length = lengthIn(fields)
  return length ?? 'until close'
}

export function statusOf(startLine: string): number {
  return Number(startLine.slice(9, 12))
}

/** The values of all fields with this lower-case name, in their order. */
function valuesOf(fields: readonly HeaderField[], wanted: string): string[] {
  return fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value)
}

/** The members of a list that may be spread over several fields, in lower case. */
export function membersOf(fields: readonly HeaderField[], name: string): string[] {
  return valuesOf(fields, name)
    .flatMap((value) => value.split(','))
    .map((member) => member.trim().toLowerCase())
    .filter((member) => member !== '')
}

function isChunked(codings: readonly string[]): boolean {
  return codings.length === 1 && codings[0]?.toLowerCase() === 'chunked'
}

function lengthIn(fields: readonly HeaderField[]): number | Lost | undefined {
  const lengths = valuesOf(fields, 'content-length')
  if (lengths.length === 0) return undefined
  const [length = ''] = lengths
  return lengths.length === 1 && /^\d{1,15}$/.test(length) ? Number(length) : { lost: 'has no valid Content-Length' }
}
