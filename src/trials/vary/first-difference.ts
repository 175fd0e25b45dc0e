import type { Contract } from '../../contract/contract.ts'
import type { FirstDifference, ShownResponse } from '../../evidence/dependencies.ts'
import { type Content, textOf } from '../../http/content.ts'
import type { Entry } from '../../journal/entry.ts'
import { type Redact, redactorFor } from '../../journal/redaction/redaction.ts'
import type { Secrets } from '../../journal/redaction/secrets.ts'
import { findDifference } from '../../reports/difference.ts'
import type { ServerOptions } from '../../start/options.ts'
import { areSameBodies, differentFieldsOf, type ReplayedAnswer } from './answer.ts'
import type { Recording } from './recording.ts'
import { replay } from './replay.ts'

/** How many characters of a body are shown, and how many of them are before the first difference. */
export const SHOWN = 400
const BEFORE = 100

/**
 * The first response of a recorded run that differs under our own contract; `undefined` if there is none. It comes with
 * our response to the same request in the same state at the same instant.
 */
export async function findFirstDifference(
  server: ServerOptions,
  own: Contract,
  { requests }: Recording,
  secrets: Secrets,
): Promise<FirstDifference | undefined> {
  const replayed = replay({ server, contract: own, requests, recounted: new Set(), isOwn: false })
  for await (const { request, answer } of replayed) {
    const { entry } = request
    const found = answer && differenceIn(entry, answer, redactorFor(entry, secrets))
    if (found !== undefined) return found
  }
  return undefined
}

function differenceIn(entry: Entry, expected: ReplayedAnswer, redact: Redact): FirstDifference | undefined {
  const received = { status: entry.status, headers: entry.responseHeaders, body: entry.responseBody }
  const fields = differentFieldsOf(expected.headers, received.headers).filter(
    // The ids of requests without an account depend on all such requests.
    ([name]) => entry.account !== undefined || name !== 'x-request-id',
  )
  const isSameBody = areSameBodies(expected.body, received.body)
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
      ...(entry.body !== undefined && entry.body.size > 0 && { body: excerpt(redact(textOf(entry.body)), 0) }),
    },
    expected: show(expected.status, 1, one),
    received: show(received.status, 2, other),
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
