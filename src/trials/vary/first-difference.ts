import { answersUnder } from '../../behaviour/counterfactual.ts'
import type { ServiceContract } from '../../behaviour/operation.ts'
import { askedAgain } from '../../explain/decisive-settings.ts'
import { textOf } from '../../ground/content.ts'
import { type Entry, PAST, textOf as recordedText } from '../../journal/entry.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import { findDifference } from '../../reports/difference.ts'
import type { TrialResult } from '../trial.ts'
import { requestIn } from './baselines.ts'
import { wordBodies } from './body-difference.ts'
import type { FirstDifference, ShownResponse } from './dependencies.ts'
import { replyTo } from './reached.ts'

/** How many characters of a body are shown, and how many of them are before the first difference. */
const SHOWN = 400
const BEFORE = 100

/** What a client was shown: a response without what is other in each run. */
interface Shown {
  status: number | undefined
  /** By lower-case name. */
  fields: ReadonlyMap<string, string>
  /** Absent if it is not known, or not comparable. */
  body: string | undefined
}

/** The responses of runs without an alternative, by their request and its position among those of the account. */
type UsualResponses = ReadonlyMap<string, readonly Entry[]>

export function usualResponses(runs: readonly Pick<TrialResult, 'exchanges'>[]): UsualResponses {
  const usual = new Map<string, Entry[]>()
  for (const { exchanges } of runs) {
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
  usual: UsualResponses
  /** Our own contract. */
  own: ServiceContract
  redact: Redact
}

/**
 * The first response of a run that the client would have been shown otherwise without the alternative; `undefined` if
 * there is none. As long as the client sends the usual requests, its response differs from each usual one. After that,
 * it differs from our own answer to the request in the same state.
 */
export function findFirstDifference(
  { exchanges, contract }: Pick<TrialResult, 'exchanges' | 'contract'>,
  { usual, own, redact }: ComparisonBasis,
): FirstDifference | undefined {
  const nameOf = positions()
  /** The accounts that got another request than usual. */
  const strayed = new Set<string | undefined>()
  for (const entry of exchanges) {
    const same = usual.get(nameOf(entry))
    if (same === undefined) strayed.add(entry.account)
    const expected =
      same === undefined || strayed.has(entry.account)
        ? [ownAnswer(entry, own, contract)].filter((each) => each !== undefined)
        : same.map((each) => shownIn(each, each.account === entry.account))
    const found = expected.map((each) => compare(each, entry, redact))
    const [first] = found
    if (first !== undefined && found.every((each) => each !== undefined)) return first
  }
  return undefined
}

/** What the client would have been shown in this state, as far as that is decided without a count. */
function ownAnswer(entry: Entry, own: ServiceContract, other: ServiceContract): Shown | undefined {
  const account = entry[PAST]?.account
  if (account === undefined || entry.injected || entry.code === 'rate_limited') return undefined
  // From the other contract, so that the account gets the form in which our own service keeps it.
  for (const { other: usual, answer } of answersUnder(askedAgain(entry, account), other, [{ contract: own }])) {
    if (usual === undefined) continue
    const body = entry.method === 'HEAD' ? undefined : textOf(replyTo(entry, answer, own).body)
    return { status: answer.status, fields: fieldsOf(entry), body }
  }
  return undefined
}

/** `isSameAccount`: whether it has the same ids. Those of other accounts are not compared. */
function shownIn(entry: Entry, isSameAccount = true): Shown {
  const { status, responseBody } = entry
  const body = responseBody === undefined || responseBody.isCut ? undefined : recordedText(responseBody)
  return { status, fields: fieldsOf(entry), body: isSameAccount ? body : body?.replaceAll(ID, NO_ID) }
}

const ID = /"id":"[^"]*"/g
const NO_ID = '"id":""'
/** Fields whose values are other in each run. A different length adds nothing to a different body. */
const VOLATILE = ['date', 'content-length']

/** The fields that are comparable. Of an id of a request, only the form is. */
function fieldsOf({ responseHeaders }: Entry): Map<string, string> {
  const fields = new Map<string, string>()
  for (let index = 0; index < responseHeaders.length; index += 2) {
    const name = `${responseHeaders[index]}`.toLowerCase()
    const value = `${responseHeaders[index + 1]}`
    if (!VOLATILE.includes(name)) fields.set(name, name === 'x-request-id' ? value.replaceAll(/[\da-f]/g, 'x') : value)
  }
  return fields
}

/** How far the resets of one window may be apart in two runs, in seconds. */
const APART = 60

function isSameField(name: string, one: string | undefined, other: string | undefined): boolean {
  if (one === other) return true
  return name === 'x-ratelimit-reset' && Math.abs(Number(one) - Number(other)) <= APART
}

function compare(expected: Shown, entry: Entry, redact: Redact): FirstDifference | undefined {
  const isOtherAccount = expected.body?.includes(NO_ID) === true
  const received = shownIn(entry, !isOtherAccount)
  const names = [...new Set([...expected.fields.keys(), ...received.fields.keys()])].filter(
    (name) => !isSameField(name, expected.fields.get(name), received.fields.get(name)),
  )
  const isSameBody = expected.body === undefined || received.body === undefined || expected.body === received.body
  if (expected.status === received.status && names.length === 0 && isSameBody) return undefined
  const [one, other] = isSameBody ? [] : excerptsOf(expected.body ?? '', received.body ?? '')
  const show = ({ status, fields }: Shown, body: string | undefined): ShownResponse => {
    const shown = names.flatMap((name) => (fields.has(name) ? [[name, redact(fields.get(name) ?? '')]] : []))
    return {
      ...(status !== undefined && { status }),
      ...(shown.length > 0 && { headers: Object.fromEntries(shown) }),
      ...(body !== undefined && { body: redact(body) }),
    }
  }
  const sent = entry.body
  return {
    request: {
      request_id: entry.requestId,
      method: entry.method,
      path: redact(entry.target),
      ...(sent !== undefined && sent.size > 0 && { body: excerpt(redact(recordedText(sent)), 0) }),
    },
    expected: show(expected, one),
    received: show(received, other),
    ...(!isSameBody && { body_difference: redact(wordBodies(expected.body, received.body)) }),
  }
}

/** The parts of both bodies around their first difference. */
function excerptsOf(one: string, other: string): [string, string] {
  const [[same]] = findDifference(one, other)
  const start = Math.max(one.length, other.length) <= SHOWN ? 0 : Math.max(0, same.length - BEFORE)
  return [excerpt(one, start), excerpt(other, start)]
}

function excerpt(text: string, start: number): string {
  const end = start + SHOWN
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`
}
