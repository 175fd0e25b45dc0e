import { hashKey } from '../../ground/secrets.ts'
import { decodePart } from '../../ground/target.ts'

/** The replacement for a secret. */
export const HIDDEN = '[redacted]'

const KEY = String.raw`key_[0-9A-Za-z]{8}\.[0-9A-Za-z]+`
/** The id of a sandbox is a key. */
const SANDBOX = 'sandbox_[!#$%()*+./0-9:=?@A-Z^_`a-z{|}~-]+'
/** Texts that look like a key, whole or cut off. */
export const SHAPES: RegExp = new RegExp(`${KEY}|${SANDBOX}`, 'g')
const WHOLE = new RegExp(`^(?:${KEY}|${SANDBOX})$`)
/** Messages about a sandbox name its file. */
const LOGGED = new RegExp(`(?<=account-)sandbox_[a-z0-9_-]+(?=\\.json)|${SHAPES.source}`, 'g')

/** Whether a text as a whole looks like a key. */
export function isShaped(text: string): boolean {
  return WHOLE.test(text)
}

/** Hides every text that looks like a key. */
export function redactKeys(text: string): string {
  return text.replaceAll(SHAPES, HIDDEN)
}

/** The name of an account in the log. The id of a sandbox is a key, so a part of its hash replaces it. */
export function nameInLog(accountId: string): string {
  return accountId.startsWith('sandbox_') ? `sandbox:${hashKey(accountId).slice(0, 8)}` : accountId
}

/** A path of the control plane in the log. Its accounts have the same names as in `nameInLog`. */
export function namePathInLog(path: string): string {
  return path.replaceAll(/(?<=\/)sandbox_[^/]*/g, (step) => nameInLog(decodePart(step) ?? step))
}

/** Like `redactKeys`, but sandboxes keep a name, so the log lines about a sandbox can be found. */
export function redactKeysInLog(text: string): string {
  return text.replaceAll(LOGGED, (key) => (key.startsWith('sandbox_') ? nameInLog(key) : HIDDEN))
}
