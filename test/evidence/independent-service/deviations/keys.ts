import type { Parts } from '../parts.ts'
import { broken, type Deviation, leftOpen, permitted, statusFor } from './deviation.ts'

type KeyOf = Parts['keyOf']

function changeKey(change: (right: KeyOf, ...given: Parameters<KeyOf>) => string | undefined) {
  return (parts: Parts) => {
    const right = parts.keyOf.bind(parts)
    parts.keyOf = (...given) => change(right, ...given)
  }
}

function first(keys: ReadonlySet<string>): string | undefined {
  return [...keys][0]
}

/** What can be wrong with the check of the key. */
export const KEYS: readonly Deviation[] = [
  {
    id: 'no-key-needed',
    says: 'A request without a key is answered.',
    ...broken('key-required', 'read'),
    change: changeKey((right, sent, keys) => right(sent, keys) ?? (sent === undefined ? first(keys) : undefined)),
  },
  {
    id: 'any-key',
    says: 'A key that does not exist is accepted.',
    ...broken('key-required', 'keys'),
    change: changeKey(
      (right, sent, keys) => right(sent, keys) ?? (sent?.startsWith('Bearer ') === true ? first(keys) : undefined),
    ),
  },
  {
    id: 'other-scheme',
    says: 'The key is accepted with the scheme Token.',
    ...broken('key-required', 'read'),
    change: changeKey((right, sent, keys) => right(sent?.replace(/^Token /, 'Bearer '), keys)),
  },
  {
    id: 'bare-key',
    says: 'The key is accepted without a scheme.',
    ...broken('key-required', 'read'),
    change: changeKey((right, sent, keys) => right(sent, keys) ?? right(`Bearer ${sent}`, keys)),
  },
  {
    id: 'any-case-scheme',
    says: 'The scheme is compared without regard to case.',
    ...permitted('authorization-scheme', 1, 'read'),
    change: changeKey((right, sent, keys) => right(sent?.replace(/^bearer /i, 'Bearer '), keys)),
  },
  {
    id: 'forbidden',
    says: 'A missing key is answered with 403.',
    ...permitted('status-unauthorized', 1, 'read'),
    change: statusFor('unauthorized', 403),
  },
  {
    id: 'unauthorized-not-found',
    says: 'A missing key is answered with 404.',
    ...leftOpen('/x-errors', 'read'),
    change: statusFor('unauthorized', 404),
  },
]
