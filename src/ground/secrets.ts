import { hash, randomBytes, randomUUID } from 'node:crypto'
import { type AccountState, type ApiKey, DEFAULT_SEED } from '../domain/account.ts'
import { LIMITS } from '../domain/limits.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SHAPE = /^key_([0-9A-Za-z]{8})\.[0-9A-Za-z]{48}$/

/** SHA-256 of a text in hex. Two processes compare texts by it. */
export function digestOf(text: string): string {
  return hash('sha256', text)
}

/** What is stored of a key. */
export function hashKey(key: string): string {
  return digestOf(key)
}

/** Derives a key, which is the same for an account with this seed at every start. */
export function deriveKey(seed: number, accountId: string): string {
  return writeKey((block) => hash('sha256', `dmarc-understudy key ${seed} ${accountId} ${block}`, 'buffer'))
}

/** A random key, which cannot be computed. */
export function drawKey(): string {
  return writeKey(() => randomBytes(64))
}

/** `key_`, 8 public characters, a dot, and 48 secret ones. */
function writeKey(readBlock: (block: number) => Buffer): string {
  let letters = ''
  for (let block = 0; letters.length < 56; block++) {
    const bytes = readBlock(block)
    // 248 is the largest multiple of 62 in a byte. Larger numbers would make the first letters more frequent.
    for (const byte of bytes) if (byte < 248) letters += ALPHABET[byte % 62]
  }
  return `key_${letters.slice(0, 8)}.${letters.slice(8, 56)}`
}

/** The stored data of a key instead of its secret. A key of another form has no public part: its hash gives the id. */
export function identityOf(key: string): Pick<ApiKey, 'id' | 'hash'> {
  const publicPart = SHAPE.exec(key)?.[1]
  return identify(hashKey(key), publicPart === undefined ? undefined : `key_${publicPart}`)
}

export function identify(hash: string, id = `key_${hash.slice(0, 8)}`): Pick<ApiKey, 'id' | 'hash'> {
  return { id, hash }
}

/** A name for this run of the program only. The behaviour of the service does not depend on it. */
export function nameInstance(): string {
  return randomUUID()
}

/**
 * A key of the account that is no secret, because any client can compute it: the name of a sandbox, or the key derived
 * from the seed if keys are `derived`. `undefined` if there is no such enabled key.
 */
export function findPublicKey(
  { id, seed, keys }: Pick<AccountState, 'id' | 'seed' | 'keys'>,
  { derived }: { derived: boolean },
): string | undefined {
  const hashes = new Set(keys.filter(({ disabled }) => !disabled).map(({ hash }) => hash))
  const guesses = derived ? [id, deriveKey(seed, id), deriveKey(DEFAULT_SEED, id)] : [id]
  return guesses.find((key) => hashes.has(hashKey(key)))
}

/**
 * Whether an enabled key of the account derives from a seed, so that any client can compute it. If the account has made
 * very many keys, only the last ones are compared.
 */
export function hasDerivedKey({ id, seed, keys, keysCreated }: AccountState): boolean {
  const hashes = new Set(keys.filter(({ disabled }) => !disabled).map(({ hash }) => hash))
  const first = [deriveKey(seed, id), deriveKey(DEFAULT_SEED, id)]
  if (first.some((key) => hashes.has(hashKey(key)))) return true
  for (let ordinal = keysCreated; ordinal > Math.max(0, keysCreated - LIMITS.derivedKeys); ordinal--) {
    if (hashes.has(hashKey(deriveLaterKey({ id, seed }, ordinal)))) return true
  }
  return false
}

/** Derives the key that was made for an account as number `ordinal` after its creation. */
export function deriveLaterKey({ id, seed }: Pick<AccountState, 'id' | 'seed'>, ordinal: number): string {
  return deriveKey(seed, `${id} ${ordinal}`)
}

/**
 * The parts of the value of Authorization (RFC 9110 §11.4): the scheme before the first white space, that space, and what
 * follows it. A value of a single word is a scheme without a secret.
 */
export function splitAuthorization(value: string): { scheme: string; space: string; secret: string } {
  const [, scheme = '', space = '', secret = ''] = /^(\S*)(\s*)(.*)$/s.exec(value) ?? []
  return { scheme, space, secret }
}
