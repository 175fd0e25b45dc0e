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
export function refuseTarget({ response, code }: ProbeAnswer, untilReset: number): void {
  const { status, headers } = response
  const said = [status, code].filter(Boolean).join(' ')
  if (status >= 300 && status < 400) {
    const to = headers['location'] === undefined ? '' : ` to ${headers['location'].slice(0, 200)}`
    throw new TargetError(`the service redirects${to} (${said}); if its API is there, give that base URL`)
  }
  if (isOverQuota({ response, code })) {
    const soon = inWords(untilReset / 1000)
    throw new TargetError(`the quota is used up already (${said}); come back in ${soon}, or give --wait`)
  }
  if (isPage(response)) {
    throw new TargetError(
      status >= 500
        ? `a gateway answers in place of the service, with ${said} and a web page; nothing can be checked`
        : `the service answers with ${said} and a web page; the base URL of its API is needed, which ends with /api/v1`,
    )
  }
  if (status === 401 || status === 403) {
    throw new TargetError(
      `the service refuses the key (${said}); it is wrong or disabled, or its plan has no API access`,
    )
  }
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
