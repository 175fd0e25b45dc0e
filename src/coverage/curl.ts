import type { PlannedRequest } from '../behaviour/planned-request.ts'
import { quoteWord } from '../ground/shell-word.ts'

/** The base URLs of the service and of the control plane. */
export interface ServerUrls {
  baseUrl: string
  adminUrl: string
}

/**
 * The command that sends a request, for a POSIX shell. It contains the account's key if that is not secret. Any other
 * valid key comes from the variable `API_KEY`.
 */
export function writeCurl(
  request: PlannedRequest,
  { baseUrl, adminUrl }: ServerUrls,
  publicKey: string | undefined,
): string {
  const { plane, method, path, key = 'valid', headers = {}, body, padTo, times = 1 } = request
  const isService = plane === 'service'
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  const words = writeHead(method, (isService ? baseUrl : adminUrl) + path, body !== undefined, [
    ...(isService && key === 'valid' ? [writeKey(publicKey)] : []),
    ...(isService && key === 'wrong' ? [quoteWord('Authorization: Bearer no-such-key')] : []),
    ...(body !== undefined && !typed ? [quoteWord('Content-Type: application/json')] : []),
    ...Object.entries(headers).map(([name, value]) => quoteWord(`${name}: ${value}`)),
  ])
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  // `-d` would take a leading @ for a file, and `--data-raw` does not.
  if (text !== undefined && padTo === undefined) words.push('--data-raw', quoteWord(text))
  if (text !== undefined && padTo !== undefined) {
    words.unshift('printf', quoteWord(`%-${padTo}s`), quoteWord(text), '|')
    words.push('--data-binary', '@-')
  }
  const command = words.join(' ')
  return times === 1 ? command : `for i in $(seq ${times}); do ${command}; done`
}

/** The words of a command without its body. The header fields are quoted already. */
export function writeHead(method: string, url: string, hasBody: boolean, fields: readonly string[]): string[] {
  const words = ['curl', '-sS']
  if (method === 'HEAD') words.push('-I')
  // With a body, curl would send POST by default.
  else if (method !== 'GET' || hasBody) words.push('-X', quoteWord(method))
  // By default, curl expands braces and brackets to several URLs, and removes dot segments from the path.
  if (/[{}[\]]/.test(url)) words.push('-g')
  if (/\/\.\.?(?:[/?]|$)/.test(url)) words.push('--path-as-is')
  return [...words, ...fields.flatMap((field) => ['-H', field]), quoteWord(url)]
}

/** The header field with a key. The shell replaces the variable within double quotes. */
export function writeKey(publicKey: string | undefined): string {
  return publicKey === undefined ? '"Authorization: Bearer $API_KEY"' : quoteWord(`Authorization: Bearer ${publicKey}`)
}
