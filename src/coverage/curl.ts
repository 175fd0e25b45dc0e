import type { PlannedRequest } from '../behaviour/planned-request.ts'
import { quoteWord } from '../ground/show.ts'

/** The base URLs of the service and of the control plane. */
export interface ServerUrls {
  baseUrl: string
  adminUrl: string
  /** Whether there is a dashboard at `adminUrl`. */
  hasPage?: boolean | undefined
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
  const { plane, method, path, key = 'valid', headers = {}, body, padTo } = request
  const isOfService = plane === 'service'
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return composeCurl({
    method,
    url: (isOfService ? baseUrl : adminUrl) + path,
    key: isOfService && key === 'valid' ? { secret: publicKey } : undefined,
    fields: [
      ...(body !== undefined && !typed ? ['Content-Type: application/json'] : []),
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ],
    body: bodyText(body),
    padTo,
  })
}

/** The body of a planned request as it is sent. */
export function bodyText(body: unknown): string | undefined {
  return body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
}

/** A request as curl sends it. */
interface CurlRequest {
  method: string
  url: string
  /** A key that is secret comes from the variable `API_KEY`. */
  key: { secret: string | undefined } | undefined
  /** Header fields such as `Accept: text/plain`. */
  fields: readonly string[]
  body: string | Buffer | undefined
  /** The length to which the body is padded with spaces. */
  padTo?: number | undefined
}

export function composeCurl({ method, url, key, fields, body, padTo }: CurlRequest): string {
  const words = ['curl', '-sS']
  if (method === 'HEAD' && body === undefined) words.push('-I')
  else if (method !== 'GET' || body !== undefined) words.push('-X', quoteWord(method))
  // By default, curl expands braces and brackets to several URLs, and removes dot segments from the path.
  if (/[{}[\]]/.test(url)) words.push('-g')
  if (/\/\.\.?(?:[/?]|$)/.test(url)) words.push('--path-as-is')
  // The shell replaces the variable within double quotes.
  if (key !== undefined) {
    const field = 'Authorization: Bearer '
    words.push('-H', key.secret === undefined ? `"${field}$API_KEY"` : quoteWord(field + key.secret))
  }
  words.push(...fields.flatMap((field) => ['-H', quoteWord(field)]), quoteWord(url))
  const command = words.join(' ')
  if (body === undefined) return command
  // No command-line argument can contain a NUL.
  if (typeof body !== 'string' || body.includes('\0')) {
    const bytes = quoteWord(Buffer.from(body).toString('base64'))
    return `printf %s ${bytes} | base64 -d | ${command} --data-binary @-`
  }
  // `-d` would take a leading @ for a file, and `--data-raw` does not.
  if (padTo === undefined) return `${command} --data-raw ${quoteWord(body)}`
  return `printf ${quoteWord(`%-${padTo}s`)} ${quoteWord(body)} | ${command} --data-binary @-`
}
