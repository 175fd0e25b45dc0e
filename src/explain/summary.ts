import { operationOf } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { nameIn } from '../ground/hosts.ts'
import { splitAuthorization } from '../ground/secrets.ts'
import { quoteWord, spelt } from '../ground/show.ts'
import { type Entry, fieldOf, isUnbidden } from '../journal/entry.ts'

/** What a summary tells besides the entry. */
interface SummarySource {
  contract: Contract
  baseUrl: string
  /** The message of each problem. */
  problems: readonly { message: string }[]
  /** Where the body is no JSON, in one sentence. */
  broken: string | undefined
}

/** The exchange, in one or two sentences. */
export function summarise(entry: Entry, { contract, baseUrl, problems, broken }: SummarySource): string {
  const { injected, status, code, operation, failure, decided } = entry
  const [first, ...others] = problems
  if (injected) return summariseInjected(entry, contract)
  if (failure !== undefined) {
    const [, reason] = /^StoreError: (.*)/.exec(failure) ?? []
    const why = reason === undefined ? '' : ` ${reason}.`
    return `The stand-in itself failed, so the response says nothing about the request.${why}`
  }
  if (status === undefined) {
    if (decided !== undefined)
      return `${describeDecision(entry, contract)} The client left before the response was sent.`
    if (first !== undefined) return `The connection was closed without a response: ${first.message}`
    return 'The client left before its request was complete, so no response was sent.'
  }
  if (code === undefined)
    return operation === undefined
      ? 'A browser asked what pages of another origin may send. That needs no key and costs no quota.'
      : `${operation} succeeded.`
  if (isOfBrowser(entry))
    return 'A browser asks for this file by itself. The service has none, and the verdict does not count the request.'
  const host = foreignHostOf(entry)
  if (host !== undefined) return `Refused with ${code}: ${describeForeignHost(host, baseUrl)}`
  const more = others.length === 1 ? 'One more problem' : `${others.length} more problems`
  const then = others.length === 0 ? '' : ` ${more} would remain after this one.`
  const detail = code === 'unauthorized' ? describeCredentials(entry, contract) : broken
  return `Refused with ${code}: ${first?.message ?? ''}${detail === undefined ? '' : ` ${detail}`}${then}`
}

/**
 * The error in a request's key that the response does not reveal: the key is missing, malformed, disabled, or unknown.
 * The sentence contains no part of the key. `undefined` if the key is valid.
 */
function describeCredentials(
  { headers, keyEvidence, key }: Pick<Entry, 'headers' | 'keyEvidence' | 'key'>,
  { settings }: Pick<Contract, 'settings'>,
): string | undefined {
  if (keyEvidence.disabled) return `The key ${key} is disabled.`
  if (keyEvidence.ordinal > 0) return undefined
  const value = fieldOf(headers, 'authorization')
  if (value === undefined) return 'The request has no header `Authorization`.'
  const { scheme, space, secret } = splitAuthorization(value)
  const isReadable = scheme === 'Bearer' || settings.authorizationScheme === 'any-case'
  if (scheme.toLowerCase() !== 'bearer' || secret === '' || !isReadable || space !== ' ' || /\s/.test(secret))
    return 'The header `Authorization` must be `Bearer <API key>`, with a capital B, one space and nothing else.'
  if (/[${}<>]/.test(secret) || /^your/i.test(secret))
    return 'The key looks like a placeholder that was not replaced. It belongs to no account.'
  return 'The key belongs to no account of this server.'
}

/** The origin of a name or an address. No other one is worth an option. */
const ORIGIN = /^http:\/\/(?:[\w.-]+|\[[\da-f:.]+\])$/

/** The Host of a request that was refused because of it: the check against DNS rebinding does not know the name. */
export function foreignHostOf({ problems, headers }: Pick<Entry, 'problems' | 'headers'>): string | undefined {
  return problems[0]?.reason === 'host' ? (fieldOf(headers, 'host') ?? '') : undefined
}

/** What a client can do that was refused because of its Host: use the base URL, or have the name permitted. */
function describeForeignHost(host: string, baseUrl: string): string {
  const origin = `http://${nameIn(host)}`
  const known = `The header \`Host\` is ${spelt(host)}, which is no name of this server (DNS rebinding). On this machine, ${baseUrl} works.`
  if (!ORIGIN.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin) return known
  return `${known} Where this machine has that name, as for an emulator or a container, \`--cors ${quoteWord(origin)}\` permits it.`
}

/** Whether it is the 404 for something that a browser has asked for by itself. */
export function isOfBrowser({ problems, method, path, headers }: Entry): boolean {
  return (
    problems[0]?.code === 'not_found' && isUnbidden({ method, path, authorization: fieldOf(headers, 'authorization') })
  )
}

function summariseInjected(entry: Entry, contract: Contract): string {
  const { injection, decided, status } = entry
  const effect = injection?.effect ?? `The response ${status ?? ''} replaced that of the service.`
  if (injection?.source === 'prefer')
    return `The header Prefer asked for this response. The service did nothing. ${effect}`
  if (injection?.source === 'simulator')
    return `The name of a domain in the request asked for this failure. The service did nothing. ${effect}`
  const rule = `the fault rule ${injection?.id ?? ''}`
  if (decided === undefined)
    return `The service did nothing, because ${rule} acted before the request was read. ${effect}`
  return `${describeDecision(entry, contract)} Then ${rule} ${status === undefined ? 'dropped' : 'changed'} the response. ${effect}`
}

/** The decision of the service, even if the client got another response or none. */
function describeDecision({ decided, operation }: Entry, contract: Contract): string {
  const what = operation ?? 'The request'
  if (decided?.code !== undefined) return `${what} was refused with ${decided.code}.`
  const { method = 'GET' } = operationOf(contract, operation) ?? {}
  return method !== 'GET' ? `${what} succeeded, and what it changed stays changed.` : `${what} succeeded.`
}
