import type { SeenResponse } from '../exchange.ts'
import type { Answer } from './conversation.ts'

/** Why a target is not worth another request. The sentence is for a person. */
export class TargetError extends Error {
  override name = 'TargetError'
}

/**
 * Looks at the answer to a first request to a path. @throws TargetError for what no service of this kind would answer, and
 * for a key that it does not take.
 */
export function refuseTarget({ response, code }: Answer): void {
  const { status, headers } = response
  if (status >= 300 && status < 400) {
    const to = headers['location'] === undefined ? '' : ` to ${headers['location'].slice(0, 200)}`
    throw new TargetError(`the service redirects${to} (${status}); give the URL that it redirects to as --base-url`)
  }
  if (code === 'rate_limited' || status === 429) {
    throw new TargetError(`the quota is used up already (${status}); come back ${comeBack(headers)}`)
  }
  if (isPage(response)) {
    throw new TargetError(
      `the service answers with a web page (${status}); the base URL of its API is needed, which ends with /api/v1`,
    )
  }
  if (status === 401 || status === 403) {
    const said = code === undefined ? `${status}` : `${status} ${code}`
    throw new TargetError(
      `the service refuses the key (${said}); it is wrong or disabled, or its plan has no API access`,
    )
  }
}

/**
 * @throws TargetError where no path of the service is there, or nothing works at all. Whatever else a service answers can be
 * judged, however wrong it is.
 */
export function refuseSilence(answers: readonly Answer[]): void {
  const statuses = answers.map(({ response: { status } }) => status)
  if (statuses.length === 0) return
  if (statuses.every((status) => status === 404)) {
    throw new TargetError('the service answers 404 to every path; the base URL is wrong, it ends with /api/v1')
  }
  if (statuses.every((status) => status >= 500)) {
    throw new TargetError(`the service answers ${statuses.join(', ')} to every first request; nothing can be checked`)
  }
}

/** Whether a response is for a browser. */
function isPage({ headers, body }: SeenResponse): boolean {
  if (/^text\/html\b/i.test(headers['content-type'] ?? '')) return true
  return body.isKnown && /^\s*<(?:!doctype|html)\b/i.test(body.bytes.subarray(0, 200).toString())
}

/** A time further away is no reset; windows take an hour. In seconds. */
const LONGEST_QUOTA = 31 * 86_400

function comeBack(headers: SeenResponse['headers']): string {
  const reset = Number(headers['x-ratelimit-reset'] ?? headers['retry-after'] ?? Number.NaN)
  if (!Number.isFinite(reset)) return 'within the hour'
  const date = Date.parse(headers['date'] ?? '')
  const seconds = reset > 1_000_000_000 ? reset - (Number.isNaN(date) ? reset : Math.floor(date / 1000)) : reset
  if (seconds <= 0 || seconds > LONGEST_QUOTA) return 'within the hour'
  const instant = reset > 1_000_000_000 ? ` (${new Date(reset * 1000).toISOString().replace('.000Z', 'Z')})` : ''
  return `in ${inWords(seconds)}${instant}, or give --wait`
}

/** `90 s`, `12 min`. */
export function inWords(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
