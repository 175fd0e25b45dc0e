/**
 * The parts of the value of Authorization (RFC 9110 §11.4): the scheme before the first white space, that space, and what
 * follows it. A value of a single word is a scheme without a secret.
 */
export function splitAuthorization(value: string): { scheme: string; space: string; secret: string } {
  const [, scheme = '', space = '', secret = ''] = /^(\S*)(\s*)(.*)$/s.exec(value) ?? []
  return { scheme, space, secret }
}
