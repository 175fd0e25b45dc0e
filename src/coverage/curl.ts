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
  const words = ['curl', '-sS']
  if (method === 'HEAD') words.push('-I')
  else if (method !== 'GET') words.push('-X', quoteWord(method))
  if (plane === 'service' && key === 'valid') {
    // The shell replaces the variable within double quotes.
    words.push(
      '-H',
      publicKey === undefined ? '"Authorization: Bearer $API_KEY"' : quoteWord(`Authorization: Bearer ${publicKey}`),
    )
  }
  if (plane === 'service' && key === 'wrong') words.push('-H', quoteWord('Authorization: Bearer no-such-key'))
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  if (body !== undefined && !typed) words.push('-H', quoteWord('Content-Type: application/json'))
  for (const [name, value] of Object.entries(headers)) words.push('-H', quoteWord(`${name}: ${value}`))
  words.push(quoteWord((plane === 'service' ? baseUrl : adminUrl) + path))
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
