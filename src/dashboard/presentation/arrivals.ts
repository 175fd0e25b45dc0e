import { signal } from '@preact/signals'
import { chosenAccount } from '../address.ts'
import { FACTS } from '../facts.ts'
import { targetOf } from '../requests/listed-request.ts'
import type { JournalEntry } from '../responses.ts'
import { readTimeOfDay } from '../time/clock.tsx'

/** How many arrivals are shown. The view of the requests has the others. */
const KEPT = 50
/** How much of a path and of a body is shown, in characters. Most of it does not fit on the line anyway. */
const LONGEST = 200
const MILLISECONDS_BETWEEN_DRAWINGS = 50

/** A request that has arrived at the account, in short. */
export interface Arrival {
  id: number
  /** The time of day at which the page got it. The clock of an account can stand still. */
  time: string
  requestId: string
  method: string
  target: string
  status: number | null
  code: string | null
  /** The body of the request, or that of the response if the request has none. */
  body: string
  isAnswer: boolean
}

/** The newest requests of the account, with the newest last. */
export const arrivals = signal<readonly Arrival[]>([])

let isWatching = false
let waiting: Arrival[] = []
let count = 0

/** Collects the arrivals from now on. The result ends that. */
export function watchArrivals(): () => void {
  isWatching = true
  return () => {
    isWatching = false
    waiting = []
    arrivals.value = []
  }
}

export function noteArrival(entry: JournalEntry): void {
  if (!isWatching || entry.account !== chosenAccount.peek()) return
  if (waiting.length === 0) setTimeout(draw, MILLISECONDS_BETWEEN_DRAWINGS)
  if (waiting.length >= KEPT) waiting.shift()
  waiting.push(toArrival(entry))
}

/** Requests that arrive together are rendered together. */
function draw(): void {
  if (waiting.length === 0) return
  arrivals.value = [...arrivals.peek(), ...waiting].slice(-KEPT)
  waiting = []
}

function toArrival(entry: JournalEntry): Arrival {
  const { request_id: requestId, method, status, code, request, response } = entry
  const target = targetOf(entry)
  const isAnswer = !request.body
  return {
    ...{ id: count++, time: readTimeOfDay(), requestId, method, status, code, isAnswer },
    target: (target.startsWith(FACTS.basePath) ? target.slice(FACTS.basePath.length) : target).slice(0, LONGEST),
    body: (request.body || response.body || '').slice(0, LONGEST).replace(/\s+/g, ' '),
  }
}
