import type { SeenResponse } from '../exchanges/exchange.ts'
import { inWords } from './budget.ts'
import { isOverQuota, isPage, type ProbeAnswer } from './conversation.ts'

/** Why the run must not send another request to the target, as a sentence for the user. */
export class TargetError extends Error {
  override name = 'TargetError'
}

/**
 * Checks the answer to a first request to a path, whose quota is renewed after so many milliseconds. @throws TargetError
 * for a redirect, a used-up quota, a web page or a refused key.
 */
export function refuseTarget(answer: ProbeAnswer, untilReset: number): void {
  const reason = findReason(answer, untilReset)
  if (reason !== undefined) throw new TargetError(reason)
}

function findReason({ response, code }: ProbeAnswer, untilReset: number): string | undefined {
  const { status, headers } = response
  const said = [status, code].filter(Boolean).join(' ')
  if (status >= 300 && status < 400) {
    const to = headers['location'] === undefined ? '' : ` to ${headers['location'].slice(0, 200)}`
    return `the service redirects${to} (${said}); give the URL that it redirects to as --base-url`
  }
  if (isOverQuota({ response, code })) {
    return `the quota is used up already (${said}); come back in ${inWords(untilReset / 1000)}, or give --wait`
  }
  if (isPage(response) && status >= 500) {
    return `a gateway answers in place of the service, with ${said} and a web page; nothing can be checked`
  }
  if (isPage(response)) {
    return `the service answers with ${said} and a web page; the base URL of its API is needed, which ends with /api/v1`
  }
  if (status !== 401 && status !== 403) return undefined
  return `the service refuses the key (${said}); it is wrong or disabled, or its plan has no API access`
}

/**
 * @throws TargetError if no path of the service exists, or every request fails. All other answers can be judged,
 * however wrong they are.
 */
export function refuseSilence(responses: readonly SeenResponse[]): void {
  const statuses = responses.map(({ status }) => status)
  if (statuses.every((status) => status === 404)) {
    throw new TargetError('the service answers 404 to every path; the base URL is wrong, it ends with /api/v1')
  }
  if (statuses.every((status) => status >= 500)) {
    throw new TargetError(`the service answers ${statuses.join(', ')} to every first request; nothing can be checked`)
  }
}
