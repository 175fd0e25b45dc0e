import { bytesOf, isBodyUnknown } from '../../journal/entry.ts'
import { isLimited, type ObservedRequest } from './points.ts'

/** The most quick tries of one request in a row. */
const TRIES = 5
/** A try is quick if it begins sooner than this after the end of the last one, in milliseconds. */
const SOON = 1_000
/** The most requests to a path between its 429 and the reset. */
const IMPATIENT = 2

/** How much longer its second wait is than its first one if a client waits longer from try to try. */
const GROWTH = 1.5
/** A client may round the instant of the reset down to a second, in milliseconds. */
const ROUNDED = 1_000

/** Explains in a sentence why a run is a storm of requests; `undefined` for any other run. */
export function findStorm(requests: readonly ObservedRequest[]): string | undefined {
  return findTries(requests) ?? findImpatience(requests)
}

/**
 * Finds a target that the client requests again before the reset that the 429 announced, without waiting longer from try
 * to try. It is a mistake where quota windows are longer than those in which the client waited long enough.
 */
export function findFixedWait(requests: readonly ObservedRequest[]): string | undefined {
  const retries = new Set<ObservedRequest>()
  for (const request of requests) {
    const { allowance, operation } = request.entry
    if (!isLimited(request.entry) || allowance === undefined || operation === undefined) continue
    const again = nextTry(requests, request)
    if (again === undefined) continue
    retries.add(again)
    if (retries.has(request) || again.entry.at >= allowance.resetAt * 1000 - ROUNDED) continue
    const next = nextTry(requests, again)
    const grows = next !== undefined && next.started - again.ended >= GROWTH * (again.started - request.ended)
    if (!grows) {
      return `After a 429, ${operation} was called again before the instant in X-RateLimit-Reset, although the client waited long enough where the quota window was shorter: it does not wait for that instant.`
    }
  }
  return undefined
}

/**
 * The next request to the same target, after the response to this one. Its body does not count: a 429 comes before the
 * body is read, and limits every request to the path.
 */
function nextTry(requests: readonly ObservedRequest[], { entry, ended }: ObservedRequest): ObservedRequest | undefined {
  const { key, method, target } = entry
  return requests.find(({ entry: other, started }) => {
    if (started < ended) return false
    return other.key === key && other.method === method && other.target === target
  })
}

/** How long the client waited at most after a 429 before its next such request, in seconds. */
export function longestWait(requests: readonly ObservedRequest[]): number {
  const waits = requests.flatMap((request) => {
    if (!isLimited(request.entry)) return []
    const next = nextTry(requests, request)
    return next === undefined ? [] : (next.started - request.ended) / 1000
  })
  return Math.max(0, ...waits)
}

interface Chain {
  last: ObservedRequest
  tries: number
}

/** Finds a request that the client repeats because it failed. A request after a success is not a repetition. */
function findTries(requests: readonly ObservedRequest[]): string | undefined {
  const chains = new Map<string, Chain[]>()
  for (const request of requests) {
    const { entry, operation, started } = request
    if (operation === undefined) continue
    const place = `${entry.key} ${entry.method} ${entry.target}`
    const similar = chains.get(place) ?? []
    const chain = similar.find(({ last }) => haveSameBody(last, request))
    if (chain === undefined) {
      chains.set(place, [...similar, { last: request, tries: 1 }])
      continue
    }
    const { last } = chain
    const follows = hasFailed(last) && started >= last.ended && started < last.ended + SOON
    chain.tries = follows ? chain.tries + 1 : 1
    chain.last = request
    if (chain.tries > TRIES) {
      return `${operation.id} was sent more than ${TRIES} times, each time within a second after the last failure.`
    }
  }
  return undefined
}

function hasFailed({ entry: { status, injected }, operation }: ObservedRequest): boolean {
  return status === undefined || injected || status !== operation?.success.status
}

const NOTHING = { size: 0 }

/** Whether both bodies are known and equal. */
function haveSameBody({ entry: one, operation }: ObservedRequest, { entry: other }: ObservedRequest): boolean {
  // What the operation does not read makes no other request.
  if (operation?.readsBody === false) return true
  if (isBodyUnknown(one) || isBodyUnknown(other)) return false
  return bytesOf(one.body ?? NOTHING).equals(bytesOf(other.body ?? NOTHING))
}

function findImpatience(requests: readonly ObservedRequest[]): string | undefined {
  const limited = new Map<string, { ended: number; resetAt: number; requests: number }>()
  for (const { entry, operation, started, ended } of requests) {
    const { key, allowance, at } = entry
    if (operation === undefined) continue
    const bucket = `${key} ${operation.path}`
    const limit = limited.get(bucket)
    if (limit !== undefined && started >= limit.ended && at < limit.resetAt) {
      limit.requests++
      if (limit.requests > IMPATIENT) {
        return `More than ${IMPATIENT} requests to ${operation.path} came between its 429 and the instant in X-RateLimit-Reset.`
      }
    }
    const isOver = limit === undefined || at >= limit.resetAt
    if (isLimited(entry) && allowance !== undefined && isOver) {
      limited.set(bucket, { ended, resetAt: allowance.resetAt * 1000, requests: 0 })
    }
  }
  return undefined
}
