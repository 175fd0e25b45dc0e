import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { type AccountState, DEFAULT_SEED } from '../domain/account.ts'
import type { ApiKey } from '../domain/keys.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SHAPE = /^key_([0-9A-Za-z]{8})\.[0-9A-Za-z]{48}$/

/** SHA-256 in hex. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** The same key for an account of this seed at every start. */
export function deriveKey(seed: number, accountId: string): string {
  return writeKey((block) => createHash('sha256').update(`dmarc-understudy key ${seed} ${accountId} ${block}`).digest())
}

/** A key that nobody can compute. */
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

/** What is stored of a key instead of its secret. A key of another form has no public part: its hash gives it an id. */
export function identityOf(key: string): Pick<ApiKey, 'id' | 'hash'> {
  const publicPart = SHAPE.exec(key)?.[1]
  return identify(hashKey(key), publicPart === undefined ? undefined : `key_${publicPart}`)
}

export function identify(hash: string, id = `key_${hash.slice(0, 8)}`): Pick<ApiKey, 'id' | 'hash'> {
  return { id, hash }
}

/** A name that no other run of the program has. Nothing that the service does depends on it. */
export function nameInstance(): string {
  return randomUUID()
}

/**
 * A key of the account that is no secret, because anybody can compute it: the name of a sandbox, or, where keys are
 * `derived`, the one that derives from the seed. `undefined` where there is none that is enabled.
 */
export function findPublicKey(
  { id, seed, keys }: Pick<AccountState, 'id' | 'seed' | 'keys'>,
  { derived }: { derived: boolean },
): string | undefined {
  const hashes = new Set(keys.filter(({ disabled }) => !disabled).map(({ hash }) => hash))
  const guesses = [() => id, ...(derived ? [() => deriveKey(seed, id), () => deriveKey(DEFAULT_SEED, id)] : [])]
  for (const guess of guesses) {
    const key = guess()
    if (hashes.has(hashKey(key))) return key
  }
  return undefined
}

/** Whether an enabled key of the account derives from a seed, so that anybody can compute it. */
export function hasDerivedKey({ id, seed, keys, keysCreated }: AccountState): boolean {
  const hashes = new Set(keys.filter(({ disabled }) => !disabled).map(({ hash }) => hash))
  const first = [deriveKey(seed, id), deriveKey(DEFAULT_SEED, id)]
  if (first.some((key) => hashes.has(hashKey(key)))) return true
  for (let ordinal = 1; ordinal <= keysCreated; ordinal++) {
    if (hashes.has(hashKey(deriveLaterKey({ id, seed }, ordinal)))) return true
  }
  return false
}

/** The key that was made for an account as the so-many-th after its creation. */
export function deriveLaterKey({ id, seed }: Pick<AccountState, 'id' | 'seed'>, ordinal: number): string {
  return deriveKey(seed, `${id} ${ordinal}`)
}
