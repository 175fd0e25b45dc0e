import type { Settings } from '../domain/settings.ts'
import { splitAuthorization } from '../ground/authorization.ts'
import { type Entry, fieldOf } from '../journal/entry.ts'

/**
 * The error in a request's key that the response does not reveal: the key is missing, malformed, disabled, or unknown.
 * The sentence contains no part of the key. `undefined` if the key is valid.
 */
export function describeCredentials(
  { headers, keyEvidence, key }: Entry,
  { authorizationScheme }: Pick<Settings, 'authorizationScheme'>,
): string | undefined {
  if (keyEvidence.disabled) return `The key ${key} is disabled.`
  if (keyEvidence.ordinal > 0) return undefined
  const value = fieldOf(headers, 'authorization')
  if (value === undefined) return 'The request has no header `Authorization`.'
  const { scheme, space, secret } = splitAuthorization(value)
  const form = 'must be `Bearer <API key>`'
  if (value === '') return `The header \`Authorization\` is empty; it ${form}.`
  if (scheme.toLowerCase() !== 'bearer') {
    const problem = secret === '' ? 'has no scheme' : 'has another scheme'
    return `The header \`Authorization\` ${problem}; it ${form}.`
  }
  if (secret === '') return 'The header `Authorization` has no key after `Bearer`.'
  if (scheme !== 'Bearer' && authorizationScheme === 'exact')
    return 'The scheme of the header `Authorization` is not written `Bearer`, with a capital B and small letters.'
  if (space !== ' ' || /\s/.test(secret))
    return 'The header `Authorization` has more spaces than the one between `Bearer` and the key.'
  if (/[${}<>]/.test(secret) || /^your/i.test(secret))
    return 'The key looks like a placeholder that was not replaced. It belongs to no account.'
  return 'The key belongs to no account of this server.'
}
