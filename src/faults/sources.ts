import { answersWith, type Operation } from '../contract/api.ts'
import type { Catalogue } from '../contract/catalogue.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import type { InjectedResponse, TriggeredFault } from '../domain/faults.ts'
import { LIMITS } from '../domain/limits.ts'
import { failuresOf, mayBeSimulated } from '../domain/simulator.ts'
import { chanceOfFault } from '../ground/chance.ts'
import type { Json } from '../ground/json.ts'
import type { Arrival } from '../ground/message.ts'
import type { HonouredPreference, Injection } from './injection.ts'

export interface InjectionOptions {
  contract: Contract
  /** Whether `Prefer: code=…, delay=…` is honoured. */
  prefer: boolean
  /** Whether the names of domains under understudy.test select their treatment. */
  simulator: boolean
}

/** All sources of injections, in the order in which an exchange meets them. */
export interface InjectionSources {
  /** The header fields of the request. If they ask for an injection, the rules of the account are not checked. */
  ofHeaders(headers: Arrival['headers'], operation: Operation): Injection | undefined
  /** The fault rule that the gate found. */
  ofRule(triggered: TriggeredFault, account: AccountState): Injection
  /** A domain in the body of a request that obeys the contract. This injection replaces any other. */
  ofBody(body: Json, operation: Operation): Injection | undefined
}

export function createInjectionSources({ contract, prefer, simulator }: InjectionOptions): InjectionSources {
  return {
    ofHeaders(headers, operation) {
      const preference = prefer ? headers['prefer'] : undefined
      return preference === undefined
        ? undefined
        : preferredInjection(String(preference), operation, contract.catalogue)
    },
    ofRule({ fault: { id, rule }, ordinal }, account) {
      const [, chance] = chanceOfFault(account, id, ordinal)
      return { source: 'rule', id, rule, chance }
    },
    ofBody(body, operation) {
      return simulator && operation.readsBody ? simulatedInjection(body, operation, contract) : undefined
    },
  }
}

/** The injection that a write asks for because it names a domain under understudy.test, if there is one. */
function simulatedInjection(body: Json, operation: Operation, { canonicalHostname }: Contract): Injection | undefined {
  for (const field in body) {
    const names = body[field]
    if (!Array.isArray(names)) continue
    for (let index = 0; index < names.length; index++) {
      const given: unknown = names[index]
      if (typeof given !== 'string' || !mayBeSimulated(given)) continue
      const domain = canonicalHostname(given) ?? ''
      const error = failuresOf(domain).find((each) => answersWith(operation, each))
      if (error === undefined) continue
      const named = { domain, field: `/${field}/${index}` }
      return { source: 'simulator', id: undefined, rule: { respond: { error } }, domain: named }
    }
  }
  return undefined
}

/**
 * One preference or parameter: a token and perhaps a value, which is a token or a quoted text (RFC 7240 §2). Or text
 * that is no preference, up to the next place where one may begin.
 */
const PART = /\s*([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s,;"]*))?\s*(?:[,;]|$)|[^,;]*(?:[,;]|$)/g

/** The injection that the Prefer header of a request asks for; `undefined` if no preference can be honoured. */
function preferredInjection(header: string, operation: Operation, catalogue: Catalogue): Injection | undefined {
  const { code, delay } = readPreference(header)
  const respond = code === undefined ? undefined : responseFor(code, operation, catalogue)
  // A success cannot be forced, because the service may refuse the request.
  const { status } = operation.success
  const wantsSuccess = code === String(status)
  if (respond === undefined && delay === undefined && !wantsSuccess) return undefined
  return {
    source: 'prefer',
    id: undefined,
    // A rule must have an action, even if that is to wait 0 ms.
    rule: { ...((delay !== undefined || wantsSuccess) && { delay_ms: delay ?? 0 }), ...(respond && { respond }) },
    preference: {
      code: respond === undefined && !wantsSuccess ? undefined : code,
      status: wantsSuccess ? status : undefined,
      delay,
    },
  }
}

/** The value of the field Preference-Applied of a response with this status; empty if no preference was honoured. */
export function appliedPreference({ code, status: required, delay }: HonouredPreference, status: number): string {
  const honoursCode = code !== undefined && (required === undefined || status === required)
  return [...(honoursCode ? [`code=${code}`] : []), ...(delay === undefined ? [] : [`delay=${delay}`])].join(', ')
}

/** The response for a status or an error code. A status that the service does not have comes without a body. */
function responseFor(wanted: string, operation: Operation, catalogue: Catalogue): InjectedResponse | undefined {
  if (answersWith(operation, wanted)) return { error: wanted }
  if (!/^[45]\d\d$/.test(wanted)) return undefined
  const status = Number(wanted)
  const [code] = operation.responses.get(status)?.codes ?? []
  return code === undefined || catalogue.problemWith(code, status) === undefined ? { status } : { error: code, status }
}

/**
 * The preferences `code` and `delay` of a Prefer header (RFC 7240 §2). All others are ignored, and so are impossible
 * values, as the RFC demands. Parameters after a semicolon count like preferences.
 */
export function readPreference(header: string): { code?: string; delay?: number } {
  const given = new Map<string, string>()
  for (const [, name, value = ''] of header.matchAll(PART)) {
    // RFC 7240 §2: the first of several preferences with the same name counts.
    if (name !== undefined && !given.has(name.toLowerCase())) given.set(name.toLowerCase(), unquoted(value))
  }
  const code = given.get('code')
  const delay = given.get('delay') ?? ''
  const valid = /^\d{1,6}$/.test(delay) && Number(delay) <= LIMITS.delay
  return { ...(code && { code: code.toLowerCase() }), ...(valid && { delay: Number(delay) }) }
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value
}
