import { bytesOf } from '../../http/content.ts'
import { isUnread } from '../../journal/description.ts'
import type { Entry } from '../../journal/entry.ts'
import type { ObservedRequest } from './observation.ts'

/** The most quick tries of one request in a row. */
const TRIES = 5
/** A try is quick if it begins sooner than this after the end of the last one, in milliseconds. */
const SOON = 1_000
/** The most requests to a path between its 429 and the reset. */
const IMPATIENT = 2

/** Explains in a sentence why a run is a storm of requests; `undefined` for any other run. */
export function findStorm(requests: readonly ObservedRequest[]): string | undefined {
  return findTries(requests) ?? findImpatience(requests)
}

interface Chain {
  last: ObservedRequest
  tries: number
}

/** Finds a request that the client repeats because it failed. A request after a success is not a repetition. */
function findTries(requests: readonly ObservedRequest[]): string | undefined {
  const chains = new Map<string, Chain[]>()
  for (const request of requests) {
    const { entry, started } = request
    if (entry.operation === undefined) continue
    const place = `${entry.key} ${entry.method} ${entry.target}`
    const similar = chains.get(place) ?? []
    const chain = similar.find(({ last }) => mayHaveSameBody(last.entry, entry))
    if (chain === undefined) {
      chains.set(place, [...similar, { last: request, tries: 1 }])
      continue
    }
    const { last } = chain
    const follows = hasFailed(last.entry) && started >= last.ended && started < last.ended + SOON
    chain.tries = follows ? chain.tries + 1 : 1
    chain.last = request
    if (chain.tries > TRIES) {
      return `${entry.operation.id} was sent more than ${TRIES} times, each time within a second after the last failure.`
    }
  }
  return undefined
}

function hasFailed({ status, injected, operation }: Entry): boolean {
  return status === undefined || injected || status !== operation?.success.status
}

function mayHaveSameBody(one: Entry, other: Entry): boolean {
  // A fault has kept this body from being read, so it may be equal to any other body.
  if (one.body === undefined || other.body === undefined || isUnread(one.body) || isUnread(other.body)) return true
  return bytesOf(one.body).equals(bytesOf(other.body))
}

function findImpatience(requests: readonly ObservedRequest[]): string | undefined {
  const limited = new Map<string, { ended: number; resetAt: number; requests: number }>()
  for (const { entry, started, ended } of requests) {
    const { operation, key, allowance, at, status } = entry
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
    if (status === 429 && allowance !== undefined && isOver) {
      limited.set(bucket, { ended, resetAt: allowance.resetAt * 1000, requests: 0 })
    }
  }
  return undefined
}
