import { hashKey } from '../ground/secrets.ts'

/** In place of a secret. */
export const HIDDEN = '[redacted]'

const KEY = String.raw`key_[0-9A-Za-z]{8}\.[0-9A-Za-z]+`
/** The id of a sandbox is a key. */
const SANDBOX = 'sandbox_[!#$%()*+./0-9:=?@A-Z^_`a-z{|}~-]+'
/** `sandbox_` in base64, for each place of its first byte in a group of three, and everything behind it. */
const ENCODED_SANDBOX = '(?:c2FuZGJveF|NhbmRib3hf|zYW5kYm94X)[0-9A-Za-z+/_-]*'
/** Anything that looks like a key, whole or cut off. */
const SHAPES = new RegExp(`${KEY}|${SANDBOX}|${ENCODED_SANDBOX}`, 'g')
const WHOLE = new RegExp(`^(?:${KEY}|${SANDBOX})$`)
/** The file of a sandbox is named in messages about it. */
const LOGGED = new RegExp(`(?<=account-)sandbox_[a-z0-9_-]+(?=\\.json)|${SHAPES.source}`, 'g')

/** Whether a secret can be told by its form alone. */
export function looksLikeKey(secret: string): boolean {
  return WHOLE.test(secret)
}

/** Whether a secret needs no place in a list of secrets. Behind `sandbox_`, there may be any character. */
export function hasKeyForm(secret: string): boolean {
  return secret.startsWith('sandbox_') || looksLikeKey(secret)
}

/** Tells `note` of everything that looks like a key. */
export function findKeys(text: string, note: (start: number, end: number) => void): void {
  SHAPES.lastIndex = 0
  for (let found = SHAPES.exec(text); found !== null; found = SHAPES.exec(text)) note(found.index, SHAPES.lastIndex)
}

/** Hides everything that looks like a key. */
export function redactKeys(text: string): string {
  return text.replaceAll(SHAPES, HIDDEN)
}

/** An account as the log names it: the id of a sandbox is a key, so a part of its hash stands for it. */
export function nameInLog(accountId: string): string {
  return accountId.startsWith('sandbox_') ? `sandbox:${hashKey(accountId).slice(0, 8)}` : accountId
}

/** A path of the control plane as the log shows it, in which accounts are named in the same way. */
export function namePathInLog(path: string): string {
  return path.replaceAll(/(?<=\/)sandbox_[^/]*/g, (step) => nameInLog(decode(step)))
}

/** The same as `redactKeys`, but sandboxes are named so that the lines of the log about one of them can be found. */
export function redactKeysInLog(text: string): string {
  return text.replaceAll(LOGGED, (key) => (key.startsWith('sandbox_') ? nameInLog(key) : HIDDEN))
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}
