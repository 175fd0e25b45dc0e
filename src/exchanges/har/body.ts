import { isObject, type Json, readJson } from '../../ground/json.ts'
import { decodeBody } from '../content-coding.ts'
import { EMPTY_BODY, KnownBody, type SeenBody, unknownBody } from '../exchange.ts'
import { type HeaderFields, REDACTED } from '../keys.ts'
import { isBlackedOut } from './blacked-out.ts'
import { fieldOf } from './entry.ts'

/** In bytes. A larger body is not judged. */
const LARGEST_BODY = 16 << 20
/** What replaces characters that a recorder could not read; half a character has no form in UTF-8. */
const LOST_CHARACTER = /\ufffd|\p{Surrogate}/u

interface BodyTerms {
  fields: HeaderFields
  /** Whether this program has written the recording: it marks what it leaves out. */
  isOwn: boolean
}

/** The body of a request as it was sent, if the recording has it. */
export function requestBodyOf(request: Json, terms: BodyTerms): SeenBody {
  const { fields } = terms
  const content = isObject(request['postData']) ? request['postData'] : {}
  const length = lengthIn(fields)
  if (typeof content['text'] === 'string' && content['text'] !== '') {
    return readContent(content, 'request', terms, length)
  }
  if (Array.isArray(content['params']) && content['params'].length > 0) {
    return unknownBody('The recording has the parameters of the request, and not its body.')
  }
  const method = request['method']
  const isBodiless = method === 'GET' || method === 'HEAD'
  const mentions = ['content-type', 'content-length', 'transfer-encoding'].some(
    (name) => fieldOf(fields, name) !== undefined,
  )
  const isEmpty =
    length === undefined ? isBodiless || request['bodySize'] === 0 || (fields.length > 0 && !mentions) : length === 0
  return isEmpty ? EMPTY_BODY : unknownBody('The recording does not have the body of the request.')
}

/** The body of a response without content coding, if the recording has it. */
export function responseBodyOf(
  response: Json,
  { method, status, ...terms }: BodyTerms & { method: string; status: number },
): SeenBody {
  if (method === 'HEAD' || status === 204 || status === 304) return EMPTY_BODY
  const length = lengthIn(terms.fields)
  const content = isObject(response['content']) ? response['content'] : {}
  const size = typeof content['size'] === 'number' && content['size'] >= 0 ? content['size'] : undefined
  const hasFailed = [response['_error'], response['_failureText']].some(
    (value) => typeof value === 'string' && value !== '',
  )
  if (typeof content['text'] === 'string' && content['text'] !== '') {
    const body = readContent(content, 'response', terms, length, size)
    return hasFailed && body.isKnown && readJson(body.text) === undefined ? unknownBody(FAILED) : body
  }
  if (hasFailed) return unknownBody(FAILED)
  // Recorders write an empty text also for a body that they have not, such as one that a service worker has read.
  if (length === 0 || (terms.isOwn && size === 0)) return EMPTY_BODY
  return unknownBody('The recording does not have the body of the response.')
}

const FAILED = 'The response was broken off.'

/** `length` is the Content-Length. `size` is what the recorder says of the decoded content. */
function readContent(
  content: Json,
  what: 'request' | 'response',
  { fields, isOwn }: BodyTerms,
  length: number | undefined,
  size?: number,
): SeenBody {
  if (content['_truncated'] === true)
    return unknownBody(`The recording has only the beginning of the body of the ${what}.`)
  if (content['_redacted'] === true) return unknownBody(REDACTED)
  const text = String(content['text'])
  const isBase64 = [content['encoding'], content['_encoding']].some((each) => /^base64$/i.test(String(each)))
  const isPacked = isBase64 ? !/^\s*[[{]/.test(text) : !isOwn && isEncodedJson(text)
  const body = new KnownBody(isPacked ? Buffer.from(text, 'base64') : text)
  if (body.size > LARGEST_BODY) return unknownBody(`The body of the ${what} is larger than ${LARGEST_BODY} bytes.`)
  const coding = fieldOf(fields, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
  // A text has no coding any more, although the recorder keeps the field.
  const decoded = isPacked && !isOwn ? decodeBody(body.bytes, coding, LARGEST_BODY) : body
  if (!decoded.isKnown) return decoded
  const plain = decoded.text
  if (!isPacked && LOST_CHARACTER.test(plain)) {
    return unknownBody(`The recording has lost characters of the body of the ${what}.`)
  }
  if (!isOwn && isBlackedOut(plain)) return unknownBody(`The body of the ${what} was blacked out in the recording.`)
  const expected = coding === 'identity' ? length : undefined
  // A recorder may have removed the coding and its header field. Then there are more bytes than announced.
  const isChanged = expected !== undefined && (what === 'request' ? body.size !== expected : body.size < expected)
  const isShort = (size !== undefined && body.size < size) || (!isOwn && isShortened(plain))
  if (isChanged || (isShort && readJson(plain) === undefined))
    return unknownBody(`The recording does not have all bytes of the body of the ${what}.`)
  return decoded
}

/** Whether a text begins like JSON, and ends with a sign for the rest. */
function isShortened(text: string): boolean {
  return /(?:\.{3}|…)\s*$/.test(text.slice(-9)) && /^\s*[[{]/.test(text)
}

/** Whether a text is base64 of a JSON object, although the recorder does not say so. */
function isEncodedJson(text: string): boolean {
  return /^e[wy][\w+/]*={0,2}$/.test(text) && readJson(Buffer.from(text, 'base64').toString()) !== undefined
}

function lengthIn(fields: HeaderFields): number | undefined {
  const written = fieldOf(fields, 'content-length')
  return written !== undefined && /^\d{1,15}$/.test(written.trim()) ? Number(written) : undefined
}
