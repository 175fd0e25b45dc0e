/** Header fields that hold secrets; of those with a scheme, it stays. */
const SECRET_FIELDS = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key'])
const KEY = /key_[0-9A-Za-z]{8}\.[0-9A-Za-z]{48}/g
const HIDDEN = '[redacted]'

/** A function that hides, in any text of the exchange, the secrets that its request carried and whatever looks like a key. */
export function redactorFor(headers: readonly string[], keyId: string | undefined): (text: string) => string {
  const secrets: string[] = []
  for (let index = 0; index < headers.length; index += 2) {
    if (!SECRET_FIELDS.has(headers[index]?.toLowerCase() ?? '')) continue
    const value = headers[index + 1] ?? ''
    const secret = /^\S+\s+(.+)$/.exec(value)?.[1] ?? value
    // One letter of a secret is none, and hiding it would eat the text.
    if (secret.length > 3) secrets.push(secret)
  }
  const hidden = keyId === undefined ? HIDDEN : `${keyId}.${HIDDEN}`
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, hidden), text).replaceAll(KEY, HIDDEN)
}

/** The value of a header field as it may be shown. */
export function redactField(name: string, value: string, redact: (text: string) => string): string {
  if (!SECRET_FIELDS.has(name.toLowerCase())) return redact(value)
  const [, scheme, secret] = /^(\S+)\s+(.+)$/.exec(value) ?? []
  if (scheme === undefined || secret === undefined) return HIDDEN
  const shown = redact(secret)
  return `${scheme} ${shown === secret ? HIDDEN : shown}`
}
