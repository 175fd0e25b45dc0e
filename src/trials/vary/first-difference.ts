import { isDeepStrictEqual } from 'node:util'
import { answersUnder } from '../../behaviour/counterfactual.ts'
import type { ServiceContract } from '../../behaviour/operation.ts'
import { askedAgain } from '../../explain/decisive-settings.ts'
import { isObject, pointTo, readJson } from '../../ground/json.ts'
import { textOf } from '../../ground/message.ts'
import { plural, shorten, show } from '../../ground/show.ts'
import { type Entry, PAST, textOf as recordedText } from '../../journal/entry.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import type { TrialResult } from '../trial.ts'
import { replyTo } from './reached.ts'

/** The differing parts of a response, shortened for a report. */
export interface ShownResponse {
  /** Absent if no response was sent. */
  status?: number
  headers?: Readonly<Record<string, string>>
  /** Absent if it does not differ. */
  body?: string
}

/** The first response of the client that differs from the one that it would have been shown under our choice. */
export interface FirstDifference {
  request: { request_id: string; method: string; path: string; body?: string }
  expected: ShownResponse
  received: ShownResponse
  /** The first difference between the bodies, in words. */
  body_difference?: string
}

/** A response without what is other in each run. */
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

/** A request as a text. The id of a group is left out, because the service chooses it. */
export function requestIn({ method, target, body }: Entry): string {
  const path = target.replace(/([?&]id=)[^&]+/, '$1*')
  return `${method} ${path} ${body === undefined ? '' : recordedText(body)}`
}

/**
 * The first response of a run that the client would have been shown otherwise without the alternative; `undefined` if
 * there is none. As long as the client sends the usual requests, its response differs from each usual one. After that,
 * it differs from our own answer to the request in the same state.
 */
export function findFirstDifference(
  { exchanges, contract }: Pick<TrialResult, 'exchanges' | 'contract'>,
  { usual, own, redact }: { usual: UsualResponses; own: ServiceContract; redact: Redact },
): FirstDifference | undefined {
  const nameOf = positions()
  /** The accounts that got another request than usual. */
  const strayed = new Set<string | undefined>()
  for (const entry of exchanges) {
    const same = usual.get(nameOf(entry))
    if (same === undefined) strayed.add(entry.account)
    const expected =
      same === undefined || strayed.has(entry.account)
        ? ownAnswer(entry, own, contract)
        : same.map((each) => shownIn(each, each.account === entry.account))
    const found = expected.map((each) => compare(each, entry, redact))
    const [first] = found
    if (first !== undefined && found.every((each) => each !== undefined)) return first
  }
  return undefined
}

/** What the client would have been shown in this state; nothing if that is not decided without a count. */
function ownAnswer(entry: Entry, own: ServiceContract, other: ServiceContract): Shown[] {
  const account = entry[PAST]?.account
  if (account === undefined || entry.injected || entry.code === 'rate_limited') return []
  // From the other contract, so that the account gets the form in which our own service keeps it.
  const [, usual] = answersUnder(askedAgain(entry, account), other, [{ contract: own }])
  if (usual === undefined) return []
  const body = entry.method === 'HEAD' ? undefined : textOf(replyTo(entry, usual.answer, own).body)
  return [{ status: usual.answer.status, fields: fieldsOf(entry), body }]
}

/** `isSameAccount`: whether it has the same ids. Those of other accounts are not compared. */
function shownIn(entry: Entry, isSameAccount: boolean): Shown {
  const { status, responseBody } = entry
  const body = responseBody === undefined || responseBody.isCut ? undefined : recordedText(responseBody)
  return { status, fields: fieldsOf(entry), body: isSameAccount ? body : body?.replaceAll(/"id":"[^"]*"/g, NO_ID) }
}

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
  return one === other || (name === 'x-ratelimit-reset' && Math.abs(Number(one) - Number(other)) <= APART)
}

function compare(expected: Shown, entry: Entry, redact: Redact): FirstDifference | undefined {
  const received = shownIn(entry, expected.body?.includes(NO_ID) !== true)
  const names = [...new Set([...expected.fields.keys(), ...received.fields.keys()])].filter(
    (name) => !isSameField(name, expected.fields.get(name), received.fields.get(name)),
  )
  const isSameBody = expected.body === undefined || received.body === undefined || expected.body === received.body
  if (expected.status === received.status && names.length === 0 && isSameBody) return undefined
  const [one = '', other = ''] = [expected.body, received.body]
  const start = isSameBody ? 0 : startOfDifference(one, other)
  const show = ({ status, fields }: Shown, body: string): ShownResponse => {
    const shown = names.flatMap((name) => (fields.has(name) ? [[name, redact(fields.get(name) ?? '')]] : []))
    return {
      ...(status !== undefined && { status }),
      ...(shown.length > 0 && { headers: Object.fromEntries(shown) }),
      ...(!isSameBody && { body: redact(excerpt(body, start)) }),
    }
  }
  const { requestId, method, target, body: sent } = entry
  const body = sent !== undefined && sent.size > 0 && { body: excerpt(redact(recordedText(sent)), 0) }
  return {
    request: { request_id: requestId, method, path: redact(target), ...body },
    expected: show(expected, one),
    received: show(received, other),
    ...(!isSameBody && { body_difference: redact(wordBodies(one, other)) }),
  }
}

/** How many characters of a body are shown, and how many of them are before the first difference. */
const EXCERPT = 400
const BEFORE = 100

function excerpt(text: string, difference: number): string {
  const start = text.length <= EXCERPT ? 0 : Math.max(0, difference - BEFORE)
  const end = start + EXCERPT
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`
}

function startOfDifference(one: string, other: string): number {
  let start = 0
  while (start < one.length && one[start] === other[start]) start++
  return start
}

const LONGEST = 60

/**
 * The first difference between the bodies of two responses, as the rest of the sentence `The service answers …`: `with
 * "reject" instead of "none" at /data/0/p`. A list with the same items is in another order.
 */
export function wordBodies(expected: string, received: string): string {
  if (received === '') return 'without a body'
  if (expected === '') return `with the body ${shorten(received, LONGEST)}`
  const [one, other] = [readJson(expected), readJson(received)]
  const isJson = one !== undefined && other !== undefined
  const words = isJson ? wordValues(one, other, '') : undefined
  if (words !== undefined) return words
  // Texts that have the same meaning as JSON, such as `100.0` and `100`, or that are no JSON.
  const start = startOfDifference(expected, received)
  const before = /[^,{[]*$/.exec(expected.slice(Math.max(0, start - 30), start))?.[0] ?? ''
  const [usual, now] = [expected, received].map((text) => before + /^[^,}\]]*/.exec(text.slice(start))?.[0])
  return `with ${shorten(now ?? '', LONGEST)} instead of ${shorten(usual ?? '', LONGEST)}`
}

/** `undefined` if both values are equal. */
function wordValues(expected: unknown, received: unknown, pointer: string): string | undefined {
  if (isDeepStrictEqual(expected, received)) return undefined
  const at = pointer === '' ? '' : ` at ${pointer}`
  if (Array.isArray(expected) && Array.isArray(received)) {
    if (expected.length !== received.length) {
      return `with ${plural(received.length, 'item')} instead of ${expected.length}${at}`
    }
    const [ones, others] = [expected, received].map((list) => list.map((item) => JSON.stringify(item)).toSorted())
    if (isDeepStrictEqual(ones, others)) {
      const start = expected.findIndex((each, index) => !isDeepStrictEqual(each, received[index]))
      const [one, other] = [expected, received].map((list) =>
        list
          .slice(start, start + 3)
          .map(write)
          .join(', '),
      )
      return `with another order${at}: ${other} instead of ${one}`
    }
  } else if (!isObject(expected) || !isObject(received)) {
    return `with ${write(received)} instead of ${write(expected)}${at}`
  }
  const [usual, now] = [expected, received] as Readonly<Record<string, unknown>>[]
  for (const name of new Set(Object.keys({ ...usual, ...now }))) {
    const place = pointTo(pointer, name)
    const [one, other] = [usual?.[name], now?.[name]]
    if (other === undefined) return `without ${place}, which was ${write(one)}`
    if (one === undefined) return `with ${write(other)} at ${place}, where nothing was`
    const words = wordValues(one, other, place)
    if (words !== undefined) return words
  }
  return undefined
}

function write(value: unknown): string {
  return shorten(show(value), LONGEST)
}
