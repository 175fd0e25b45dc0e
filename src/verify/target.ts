import type { SeenResponse } from '../exchanges/exchange.ts'
import { shorten } from '../ground/show.ts'
import { RealDate } from '../ground/timers.ts'
import { readReset } from './budget.ts'
import { isOverQuota, isPage, type ProbeAnswer } from './conversation.ts'

/** Why the run must not send another request to the target, as a sentence for the user. */
export class TargetError extends Error {
  override name = 'TargetError'
}

/**
 * Checks the answer to a first request to a path, whose quota has a window of so many seconds. @throws TargetError for a
 * redirect, a used-up quota, a web page or a refused key.
 */
export function refuseTarget(answer: ProbeAnswer, window: number): void {
  const { response, code } = answer
  const { status, headers } = response
  if (status >= 300 && status < 400) {
    const to = headers['location'] === undefined ? '' : ` to ${headers['location'].slice(0, 200)}`
    throw new TargetError(`the service redirects${to} (${status}); give the URL that it redirects to as --base-url`)
  }
  if (isOverQuota(answer)) {
    throw new TargetError(`the quota is used up already (${status}); come back ${comeBack(headers, window)}`)
  }
  if (isPage(response)) {
    const came = `${status} and a web page${titleOf(response)}`
    throw new TargetError(
      status >= 500
        ? `a gateway answers in place of the service, with ${came}; nothing can be checked`
        : `the service answers with ${came}; the base URL of its API is needed, which ends with /api/v1`,
    )
  }
  if (status === 401 || status === 403) {
    const said = code === undefined ? `${status}` : `${status} ${code}`
    throw new TargetError(
      `the service refuses the key (${said}); it is wrong or disabled, or its plan has no API access`,
    )
  }
}

/** The title of a web page, or else its beginning. */
function titleOf({ body }: SeenResponse): string {
  const text = body.isKnown ? body.bytes.toString() : ''
  const shown = shorten((/<title[^>]*>([^<]*)/i.exec(text)?.[1] ?? text).replace(/\s+/g, ' ').trim(), 80)
  return shown === '' ? '' : `, "${shown}"`
}

/**
 * @throws TargetError if no path of the service exists, or every request fails. All other answers can be judged,
 * however wrong they are.
 */
export function refuseSilence(answers: readonly ProbeAnswer[]): void {
  const statuses = answers.map(({ response: { status } }) => status)
  if (statuses.every((status) => status === 404)) {
    throw new TargetError('the service answers 404 to every path; the base URL is wrong, it ends with /api/v1')
  }
  if (statuses.every((status) => status >= 500)) {
    throw new TargetError(`the service answers ${statuses.join(', ')} to every first request; nothing can be checked`)
  }
}

/** In seconds. If a service tells a longer time, it is no time that anybody waits for. */
const LONGEST_WAIT = 31 * 86_400

function comeBack(headers: SeenResponse['headers'], window: number): string {
  const { seconds = 0, instant } = readReset(headers) ?? readReset(headers, 'retry-after') ?? {}
  if (seconds <= 0 || seconds > LONGEST_WAIT) return window === 0 ? 'later' : `within ${inWords(window)}`
  const at = instant === undefined ? '' : ` (${new RealDate(instant * 1000).toISOString().replace('.000Z', 'Z')})`
  return `in ${inWords(seconds)}${at}, or give --wait`
}

/** `90 s`, `12 min`. */
export function inWords(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
