import { hasBody } from '../contract/body.ts'
import { type BodyBudget, CollectedBody } from '../exchanges/collected-body.ts'
import { EMPTY_BODY, KnownBody, type SeenBody, unknownBody } from '../exchanges/exchange.ts'
import { writeJson } from '../ground/json.ts'
import type { MountedRequest } from './middleware.ts'

/** A body that the application reads while it is watched. */
export interface WatchedBody {
  /** What is known of the body now. */
  seen(): SeenBody
  release(): void
}

const UNREAD = 'The application answered before it had read the body of the request.'
const AS_TEXT = 'The application read the body of the request as text, which has lost bytes.'
const CONSUMED = 'Another middleware has read the body of the request, and has not kept it.'
const EMPTY_OR_NOT = 'A body parser has read the body of the request, and does not tell an empty one from {}.'

/**
 * Watches the body of a request without reading it. `longest` is the length from which on only the length counts.
 * A body that another middleware has read before is taken from `request.body`.
 */
export function watchBody(request: MountedRequest, longest: number, budget: BodyBudget): WatchedBody {
  if (!hasBody(request)) return { seen: () => EMPTY_BODY, release() {} }
  if (request.readableDidRead) return { seen: () => readParsed(request, longest), release() {} }
  const collected = new CollectedBody(budget)
  let lost: string | undefined
  let isOver = false
  const { emit } = request
  // Each way to read a stream emits its data.
  request.emit = (event: string | symbol, ...values: unknown[]) => {
    if (event === 'data' && !isOver) take(values[0])
    return emit.call(request, event, ...values)
  }

  function take(chunk: unknown): void {
    const { readableEncoding } = request
    if (typeof chunk === 'string' && chunk.includes('\ufffd')) lost = AS_TEXT
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, readableEncoding ?? 'utf8') : (chunk as Buffer)
    collected.add(bytes)
    if (collected.size > longest) collected.drop(UNREAD)
  }

  return {
    seen() {
      const { missing = lost, size, bytes } = collected
      if (size > longest) return oversized(longest)
      if (missing !== undefined) return unknownBody(missing)
      const isRead = request.readableEnded || size === Number(request.headers['content-length'] ?? -1)
      return isRead ? new KnownBody(bytes) : unknownBody(UNREAD)
    },
    release() {
      isOver = true
      collected.drop(UNREAD)
    },
  }
}

/** What a body parser has made of a body, as the body that it was made of. */
function readParsed({ body, headers }: MountedRequest, longest: number): SeenBody {
  const announced = Number(headers['content-length'] ?? 0)
  if (announced > longest) return oversized(longest)
  if (Buffer.isBuffer(body)) return new KnownBody(body)
  if (typeof body === 'string') return new KnownBody(body)
  const isEmptyObject = typeof body === 'object' && body !== null && Object.keys(body).length === 0
  if (isEmptyObject && announced === 0) return unknownBody(EMPTY_OR_NOT)
  const text = writeJson(body)
  return text === undefined ? unknownBody(CONSUMED) : new KnownBody(text)
}

/** A body that is too long whatever its content is. */
function oversized(longest: number): SeenBody {
  return new KnownBody(Buffer.alloc(longest + 1, ' '))
}
