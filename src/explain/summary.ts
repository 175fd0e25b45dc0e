import { operationOf } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { splitAuthorization } from '../ground/authorization.ts'
import { type Entry, fieldOf } from '../journal/entry.ts'
import { isUnbidden } from '../journal/unbidden.ts'
import { describeForeignHost, foreignHostOf } from './foreign-host.ts'

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
