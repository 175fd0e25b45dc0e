import { isUtf8 } from 'node:buffer'
import { jsonrepair } from 'jsonrepair'
import { judge } from '../behaviour/judge.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import { Rehearsal, SampleRefused } from '../behaviour/rehearsal.ts'
import type { Operation } from '../contract/api.ts'
import { acceptsType, BYTE_ORDER_MARK } from '../contract/body.ts'
import type { AccountState } from '../domain/account.ts'
import type { Settings } from '../domain/settings.ts'
import { decodeBody } from '../exchanges/content-coding.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { isObject, type Json, readJson, valueAt } from '../ground/json.ts'
import { firstValues, type Parameters } from '../ground/target.ts'
import { type BodyDraft, correctBody } from './body-correction.ts'
import { syntaxErrorIn } from './json-position.ts'
import { correctQuery } from './query-correction.ts'
import { spelt } from './wording.ts'

/** A query and a body that the operation accepts. */
export interface AcceptedContent {
  rehearsal: Rehearsal
  parameters: Parameters
  /** Empty if the operation reads no body. */
  body: Json
  changes: readonly string[]
}

interface SentContent {
  operation: Operation
  parameters: Parameters
  /** The segment after the path of the operation. */
  rest: string | undefined
  headers: Readonly<Record<string, string>>
  body: Buffer | undefined
}

/** This is more than any request needs. Each pass corrects one kind of problem. */
const PASSES = 24

/** The query and the body, with as much as possible of the sent ones; `undefined` if they cannot be corrected. */
export function correctContent(
  sent: SentContent,
  account: AccountState,
  contract: ServiceContract,
): AcceptedContent | undefined {
  try {
    return correctParts(sent, account, contract)
  } catch (error) {
    if (error instanceof SampleRefused) return undefined
    throw error
  }
}

function correctParts(
  sent: SentContent,
  account: AccountState,
  contract: ServiceContract,
): AcceptedContent | undefined {
  const { operation, rest } = sent
  const rehearsal = new Rehearsal(contract, account, undefined, { spares: true })
  const recovered = recoverContent(sent, contract.settings)
  const clues = [rest, recovered.body?.['id']].filter((clue): clue is string => typeof clue === 'string')
  const { parameters, changes } = correctQuery(sent.parameters, clues, operation, rehearsal)
  const query = firstValues(parameters)
  const made = { changes: [...recovered.changes, ...changes], origins: new Map(), operation, query, rehearsal }
  const draft: BodyDraft = { ...made, body: recovered.body ?? {} }
  for (let pass = 0; pass < PASSES; pass++) {
    const { body } = draft
    const received = { operation, query, body: operation.readsBody ? { ok: true as const, value: body } : undefined }
    const judgement = judge(received, rehearsal.state, contract, rehearsal.now)
    if (judgement.ok) {
      // What is too long to be read is not corrected.
      const isShort = Buffer.byteLength(JSON.stringify(body)) <= contract.settings.bodyLimit
      return isShort ? { rehearsal, parameters, body, changes: draft.changes } : undefined
    }
    if (!correctBody(draft, judgement.problems)) return undefined
  }
  return undefined
}

/** The query and the body of an example, without any sent content; `undefined` if overlays have it refused. */
export function exampleContent(
  operation: Operation,
  account: AccountState,
  contract: ServiceContract,
): AcceptedContent | undefined {
  const headers = { 'content-type': 'application/json' }
  const empty = operation.readsBody ? Buffer.from('{}') : undefined
  const sent = { operation, parameters: [], rest: undefined, headers, body: empty }
  const example = correctContent(sent, account, contract)
  return (
    example && {
      ...example,
      changes: ['The request is an example, because too little of what was sent could be kept.'],
    }
  )
}

interface RecoveredBody {
  /** `undefined` if no part of it could be used. */
  body: Json | undefined
  changes: readonly string[]
}

/** The body that was sent, or what stood in the target instead of one. */
function recoverContent(sent: SentContent, settings: Settings): RecoveredBody {
  const { operation, parameters, rest, body } = sent
  const isEmpty = body === undefined || body.length === 0
  if (!operation.readsBody)
    return { body: undefined, changes: isEmpty ? [] : ['The body was left out, because none is read.'] }
  const required = (operation.bodySchema?.['required'] ?? []) as string[]
  if (isEmpty && required.includes('domains')) {
    // Clients that cannot send a body with DELETE put the domains into the query or the path.
    const named = parameters.filter(([name]) => nearestName(name, ['domains']) !== undefined).map(([, value]) => value)
    const domains = rest === undefined ? named : [rest, ...named]
    if (domains.length > 0) return { body: { domains }, changes: ['The body names what stood in the target.'] }
  }
  return recoverBody(sent, settings)
}

/** The JSON object that the client probably meant with the bytes of a body. */
function recoverBody({ body, headers, operation }: SentContent, settings: Settings): RecoveredBody {
  const { bodyLimit } = settings
  const { 'content-type': type, 'content-encoding': coding } = headers
  const changes: string[] = []
  if (!acceptsType(type, settings)) {
    const sent = type === undefined ? '' : ` instead of ${spelt(type)}`
    changes.push(`The header \`Content-Type\` is application/json${sent}.`)
  }
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    changes.push('The body is sent without a `Content-Encoding`.')
  if (body === undefined || body.length === 0) {
    const why = body === undefined ? 'because none was read' : 'because it was empty'
    return { body: undefined, changes: [...changes, `The body is an example, ${why}.`] }
  }
  if (body.length > bodyLimit) changes.push(`The body is written in no more than ${bodyLimit} bytes.`)
  const plain = decodeBody(body, coding, bodyLimit)
  const bytes = plain.isKnown ? plain.bytes : body
  const isUtf16 = ['fffe', 'feff'].includes(bytes.toString('hex', 0, 2))
  if (!isUtf8(bytes)) changes.push('The body is encoded in UTF-8, which it was not.')
  else if (bytes.toString().startsWith(BYTE_ORDER_MARK)) changes.push('The body has no byte order mark.')
  // The decoder removes the mark.
  const text = new TextDecoder(isUtf16 ? 'utf-16le' : isUtf8(bytes) ? 'utf-8' : 'windows-1252').decode(bytes)
  const valid = readJson(text)
  const value = valid ?? repair(text)
  const object = asObject(value, operation)
  if (object === undefined)
    changes.push(`The body is an example, because what was sent is no JSON${valid === undefined ? '' : ' object'}.`)
  else if (valid === undefined) changes.push('The body is valid JSON, which it nearly was.')
  else if (object !== value) changes.push('The body is a JSON object.')
  return { body: object, changes }
}

/** In characters, the longest text that is repaired. The time grows with its square if all quotes are wrong. */
const REPAIRED = 20_000

/** The object or array that is nearest to a text that is no JSON; `undefined` if there is none, or nothing in it. */
function repair(text: string): unknown {
  if (text.length > REPAIRED) return undefined
  // A text that breaks off within a string loses it: a half of a domain is another domain.
  const isCutOff = syntaxErrorIn(text)?.startsWith('Unterminated string') === true
  try {
    const value = readJson(jsonrepair(isCutOff ? text.slice(0, text.lastIndexOf('"')) : text))
    return typeof value === 'object' && value !== null && Object.keys(value).length > 0 ? value : undefined
  } catch {
    // The text is too different from JSON, or nested too deeply.
    return undefined
  }
}

/** The JSON object that a value means: JSON in a JSON string, an object in an array, or the value of the only field. */
function asObject(value: unknown, operation: Operation): Json | undefined {
  if (isObject(value)) return value
  if (Array.isArray(value) && value.length === 1 && isObject(value[0])) return value[0]
  if (typeof value === 'string' && value.trimStart().startsWith('{')) {
    const inner = readJson(value) ?? repair(value)
    return isObject(inner) ? inner : undefined
  }
  const [required] = (operation.bodySchema?.['required'] ?? []) as string[]
  if (required === undefined) return undefined
  const isArray = valueAt(operation.bodySchema, `/properties/${required}/type`) === 'array'
  return typeof value === 'string' || (Array.isArray(value) && isArray) ? { [required]: value } : undefined
}
