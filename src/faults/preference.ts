import { answersWith, type Operation } from '../contract/api.ts'
import type { Catalogue } from '../contract/catalogue.ts'
import type { InjectedResponse } from '../domain/faults.ts'
import type { HonouredPreference, Injection } from './injection.ts'

/** What a request prefers to be answered with, and after how many milliseconds. */
export interface Preference {
  /** A status or an error code. */
  code?: string
  delay?: number
}

/** In milliseconds. */
const LONGEST_DELAY = 600_000

/** One preference or parameter: a token and perhaps a value, which is a token or a quoted text (RFC 7240 §2). */
const PART = /\s*([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s,;"]*))?\s*(?:[,;]|$)/y
/** Text that is no preference, up to the next place where one may begin. */
const OTHER = /[^,;]*(?:[,;]|$)/y

/** The injection that the Prefer header of a request asks for; none where nothing in it can be honoured. */
export function preferredInjection(header: string, operation: Operation, catalogue: Catalogue): Injection | undefined {
  const { code, delay } = readPreference(header)
  const respond = code === undefined ? undefined : responseFor(code, operation, catalogue)
  // A success cannot be forced: either the service succeeds or it does not.
  const { status } = operation.success
  const wantsSuccess = code === String(status)
  if (respond === undefined && delay === undefined && !wantsSuccess) return undefined
  return {
    source: 'prefer',
    id: undefined,
    // A rule must do something, even if that is to wait 0 ms.
    rule: { ...((delay !== undefined || wantsSuccess) && { delay_ms: delay ?? 0 }), ...(respond && { respond }) },
    chance: undefined,
    preference: {
      code: respond === undefined && !wantsSuccess ? undefined : code,
      status: wantsSuccess ? status : undefined,
      delay,
    },
    domain: undefined,
  }
}

/** The value of the field Preference-Applied of a response with this status; empty where nothing was honoured. */
export function appliedPreference({ code, status: required, delay }: HonouredPreference, status: number): string {
  const honoursCode = code !== undefined && (required === undefined || status === required)
  return [...(honoursCode ? [`code=${code}`] : []), ...(delay === undefined ? [] : [`delay=${delay}`])].join(', ')
}

/** The response that a status or an error code asks for. A status that the service does not have comes without a body. */
function responseFor(wanted: string, operation: Operation, catalogue: Catalogue): InjectedResponse | undefined {
  if (answersWith(operation, wanted)) return { error: wanted }
  if (!/^[45]\d\d$/.test(wanted)) return undefined
  const status = Number(wanted)
  const [code] = operation.responses.get(status)?.codes ?? []
  return code === undefined || catalogue.problemWith(code, status) === undefined ? { status } : { error: code, status }
}

/**
 * The preferences `code` and `delay` of a Prefer header (RFC 7240 §2). All others are ignored, and so are impossible
 * values, as the RFC demands. Parameters behind a semicolon count like preferences.
 */
export function readPreference(header: string): Preference {
  const given = new Map<string, string>()
  for (let at = 0; at < header.length; ) {
    PART.lastIndex = at
    OTHER.lastIndex = at
    const part = PART.exec(header)
    const [, name, value = ''] = part ?? []
    // RFC 7240 §2: of several with the same name, the first counts.
    if (name !== undefined && !given.has(name.toLowerCase())) given.set(name.toLowerCase(), unquoted(value))
    if (part === null) OTHER.exec(header)
    at = part === null ? OTHER.lastIndex : PART.lastIndex
  }
  const code = given.get('code')
  const delay = given.get('delay') ?? ''
  const valid = /^\d{1,6}$/.test(delay) && Number(delay) <= LONGEST_DELAY
  return { ...(code && { code: code.toLowerCase() }), ...(valid && { delay: Number(delay) }) }
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value
}
