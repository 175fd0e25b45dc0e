import type { Problem } from '../domain/errors.ts'
import type { Credentials } from './exchange.ts'
import type { ReadExchange } from './reading.ts'

/** The form of the key: as in the specification, with the scheme in another case, certainly wrong, or absent. */
export function formOf(credentials: Credentials): 'exact' | 'any-case' | 'wrong' | 'none' | 'unknown' {
  if (credentials.kind !== 'sent') return credentials.kind
  const { scheme, isWord, isInvented = false } = credentials
  if (!isWord || isInvented) return 'wrong'
  if (scheme === 'Bearer') return 'exact'
  return scheme.toLowerCase() === 'bearer' ? 'any-case' : 'wrong'
}

/** Whether the key of a request is certainly valid or invalid. */
export function validityOf({ exchange, outcome, operation }: ReadExchange): 'valid' | 'invalid' | 'unknown' {
  const form = formOf(exchange.request.credentials)
  if (form === 'none' || form === 'wrong') return 'invalid'
  const isRefused = outcome.kind === 'unreadable' || (outcome.kind === 'refusal' && outcome.code === 'unauthorized')
  return form === 'unknown' || isRefused || operation === undefined ? 'unknown' : 'valid'
}

/** Why a key may have been refused. */
export function problemsOfKey(credentials: Credentials, mayChange: boolean): Problem<string>[] {
  const form = formOf(credentials)
  if (form === 'none' || form === 'wrong') return [{ code: 'unauthorized' }]
  const reasons = ['plan', ...(mayChange ? ['domain-cap', 'group-cap', 'member-cap'] : [])]
  return [{ code: 'unauthorized' }, ...reasons.map((reason) => ({ code: 'unauthorized', reason }))]
}
