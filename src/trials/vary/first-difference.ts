import type { Contract } from '../../contract/contract.ts'
import { type Content, textOf } from '../../ground/content.ts'
import { contentOf, type Entry, hasIdOfAccount, textOf as recordedText } from '../../journal/entry.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import { findDifference } from '../../reports/difference.ts'
import type { ServerOptions } from '../../server/options.ts'
import { differentFieldsOf, isKeptBody, type ReplayedAnswer } from './answer.ts'
import { requestIn } from './baselines.ts'
import { wordBodies } from './body-difference.ts'
import type { FirstDifference, ShownResponse } from './dependencies.ts'
import type { Recording } from './recording.ts'
import { replay } from './replay.ts'

/** How many characters of a body are shown, and how many of them are before the first difference. */
const SHOWN = 400
const BEFORE = 100

/** The exchanges of runs without an alternative, by their request and its position among those of the account. */
export type UsualExchanges = ReadonlyMap<string, readonly Entry[]>

export function usualExchanges(runs: readonly (readonly Entry[])[]): UsualExchanges {
  const usual = new Map<string, Entry[]>()
  for (const exchanges of runs) {
    const nameOf = positions()
    for (const entry of exchanges) {
      const name = nameOf(entry)
      usual.set(name, [...(usual.get(name) ?? []), entry])
    }
  }
  return usual
}

/** Names the requests of a run, one after the other. */
function positions(): (entry: Entry) => string {
  const counts = new Map<string | undefined, number>()
  return (entry) => {
    const count = counts.get(entry.account) ?? 0
    counts.set(entry.account, count + 1)
    return `${count} ${requestIn(entry)}`
  }
}

interface ComparisonBasis {
  server: ServerOptions
  /** Our own contract. */
  own: Contract
  usual: UsualExchanges
  redact: Redact
}

/**
 * The first response of a recorded run that is different because of an alternative; `undefined` if there is none. Our
 * own response to the request in the same state at the same instant is different. Or the state is different, and so the
 * response differs from each one to the same request in runs without the alternative, although the command has sent the
 * same requests before.
 */
export async function findFirstDifference(
  { server, own, usual, redact }: ComparisonBasis,
  { requests }: Recording,
): Promise<FirstDifference | undefined> {
  const nameOf = positions()
  /** The accounts that got another request than usual. */
  const strayed = new Set<string | undefined>()
  const replayed = replay({ server, contract: own, requests, recounted: new Set(), isOwn: false })
  for await (const { request, answer } of replayed) {
    const { entry } = request
    const same = usual.get(nameOf(entry))
    if (same === undefined) strayed.add(entry.account)
    const others = strayed.has(entry.account) ? undefined : same
    const found = (answer && differenceIn(entry, answer, redact)) ?? (others && differenceFrom(others, entry, redact))
    if (found !== undefined) return found
  }
  return undefined
}

/** The difference from the usual exchanges, if there is one from each of them. Their header fields are not compared. */
function differenceFrom(usual: readonly Entry[], entry: Entry, redact: Redact): FirstDifference | undefined {
  const differences = usual.map((each) => {
    const kept = isSameButIds(each, entry) ? entry.responseBody : each.responseBody
    const body = kept && contentOf(kept)
    return differenceIn(entry, { status: each.status, headers: entry.responseHeaders, body }, redact)
  })
  return differences.every((each) => each !== undefined) ? differences[0] : undefined
}

/** Whether two accounts got the same body, in which each may have its own ids. */
function isSameButIds(one: Entry, other: Entry): boolean {
  if (one.account === other.account || one.responseBody === undefined || other.responseBody === undefined) return false
  const [first, second] = [one.responseBody, other.responseBody].map((body) =>
    recordedText(body).replaceAll(/"id":"[^"]*"/g, '"id":""'),
  )
  return first === second
}

function differenceIn(
  entry: Entry,
  expected: Pick<ReplayedAnswer, 'status' | 'headers' | 'body'>,
  redact: Redact,
): FirstDifference | undefined {
  const body = entry.responseBody && contentOf(entry.responseBody)
  const received = { status: entry.status, headers: entry.responseHeaders, body }
  const fields = differentFieldsOf(expected.headers, received.headers).filter(
    // The ids of requests without a valid key depend on all such requests.
    ([name]) => hasIdOfAccount(entry) || name !== 'x-request-id',
  )
  const isSameBody = isKeptBody(expected.body, received.body)
  if (expected.status === received.status && fields.length === 0 && isSameBody) return undefined
  const [one, other] = isSameBody ? [] : excerptsOf(expected.body, received.body)
  const show = (status: number | undefined, side: 1 | 2, body: string | undefined): ShownResponse => {
    const shown = fields.flatMap((field) => (field[side] === undefined ? [] : [[field[0], redact(field[side])]]))
    return {
      ...(status !== undefined && { status }),
      ...(shown.length > 0 && { headers: Object.fromEntries(shown) }),
      ...(body !== undefined && { body: redact(body) }),
    }
  }
  return {
    request: {
      request_id: entry.requestId,
      method: entry.method,
      path: redact(entry.target),
      ...(entry.body !== undefined && entry.body.size > 0 && { body: excerpt(redact(recordedText(entry.body)), 0) }),
    },
    expected: show(expected.status, 1, one),
    received: show(received.status, 2, other),
    ...(!isSameBody && {
      body_difference: redact(
        wordBodies(expected.body && textOf(expected.body), received.body && textOf(received.body)),
      ),
    }),
  }
}

/** The parts of both bodies around their first difference. */
function excerptsOf(one: Content | undefined, other: Content | undefined): [string | undefined, string | undefined] {
  const [first, second] = [one && textOf(one), other && textOf(other)]
  if (first === undefined || second === undefined) return [first && excerpt(first, 0), second && excerpt(second, 0)]
  const [[same]] = findDifference(first, second)
  const start = Math.max(first.length, second.length) <= SHOWN ? 0 : Math.max(0, same.length - BEFORE)
  return [excerpt(first, start), excerpt(second, start)]
}

function excerpt(text: string, start: number): string {
  const end = start + SHOWN
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`
}
