import type { Credentials } from './exchange.ts'

/** The form of the key: as in the specification, with the scheme in another case, certainly wrong, or absent. */
export function formOf(credentials: Credentials): 'exact' | 'any-case' | 'wrong' | 'none' | 'unknown' {
  if (credentials.kind !== 'sent') return credentials.kind
  const { scheme, isWord, isInvented = false } = credentials
  if (!isWord || isInvented) return 'wrong'
  if (scheme === 'Bearer') return 'exact'
  return scheme.toLowerCase() === 'bearer' ? 'any-case' : 'wrong'
}
