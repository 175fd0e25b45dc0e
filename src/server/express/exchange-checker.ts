import type { ServerResponse } from 'node:http'
import { BodyBudget } from '../../exchanges/collected-body.ts'
import type { SeenBody, SeenResponse } from '../../exchanges/exchange.ts'
import type { Response } from '../../ground/delivery.ts'
import { type ArrivedRequest, type ContractJudge, type ExchangeVerdict, openContractJudge } from './contract-judge.ts'
import type { ContractRecord } from './contract-report.ts'
import { type MountedRequest, targetBelow } from './mount.ts'
import { fixed, readAhead, type WatchedBody, watchBody } from './request-body.ts'
import { holdResponse, sendInstead } from './response-hold.ts'
import { watchResponse } from './response-watch.ts'

/** What happens besides telling: whether unlawful requests are refused, and unlawful responses replaced. */
interface Consequences {
  refuses: boolean
  holds: boolean
}

const LEFT = 'The connection was closed before the application had ended the response.'
const LEFT_EARLY = 'The client left before its request was complete.'

/** Compiles the contract with the overlays in these files. @throws ContractError */
export async function openExchangeChecker(
  overlays: readonly string[],
  consequences: Consequences,
  record: ContractRecord,
): Promise<ExchangeChecker> {
  return new ExchangeChecker(await openContractJudge(overlays), consequences, record)
}

/** Checks the exchanges of an application, one by one. */
export class ExchangeChecker {
  readonly #judge: ContractJudge
  readonly #consequences: Consequences
  readonly #record: ContractRecord
  readonly #budget = new BodyBudget()

  constructor(judge: ContractJudge, consequences: Consequences, record: ContractRecord) {
    this.#judge = judge
    this.#consequences = consequences
    this.#record = record
  }

  /** Checks a request that may be one of the service, and gives it to the application, unless it is refused. */
  take(request: MountedRequest, response: ServerResponse, next: (error?: unknown) => void): void {
    const { contract, bodyLimit } = this.#judge
    // Only the judge decides in which spellings a path is one of the service.
    const target = targetBelow(request, contract.basePath, true)
    if (target === undefined) {
      this.#record.outside++
      next()
      return
    }
    this.#record.exchanges++
    this.#record.open++
    if (!this.#consequences.refuses) {
      const body = watchBody(request, bodyLimit, this.#budget)
      this.#follow(request, response, target, body)
      next()
      return
    }
    const proceed = (body: SeenBody | undefined): void => {
      if (body === undefined) {
        this.#miss('request', LEFT_EARLY)
        return
      }
      if (this.#isRefused(request, response, receivedOf(request, target, body))) return
      this.#follow(request, response, target, fixed(body))
      next()
    }
    const body = readAhead(request, bodyLimit)
    if (body instanceof Promise) body.then(proceed, next)
    else proceed(body)
  }

  /** Judges the response when it is there. */
  #follow(request: MountedRequest, response: ServerResponse, target: string, sent: WatchedBody): void {
    const bodiless = request.method === 'HEAD'
    const judge = (answer: SeenResponse): ExchangeVerdict | undefined => {
      this.#record.open--
      const body = sent.seen()
      sent.release()
      const verdict = this.#try(() => this.#judge.judge(receivedOf(request, target, body), answer))
      if (verdict === undefined) return undefined
      for (const violation of verdict.violations) this.#record.tell(violation)
      for (const id of verdict.otherChoices) this.#record.noteChoice(id)
      if (verdict.readsBody && !body.isKnown) this.#record.miss('request', body.reason)
      if (!answer.body.isKnown) this.#record.miss('response', answer.body.reason)
      return verdict
    }
    const broken = () => {
      sent.release()
      this.#miss('response', LEFT)
    }
    if (this.#consequences.holds) {
      const decide = (answer: SeenResponse) => this.#replace(judge(answer), answer)
      holdResponse(response, bodiless, this.#budget, { decide, passOn: judge, broken })
    } else watchResponse(response, bodiless, this.#budget, { ended: judge, broken })
  }

  /** The response in place of an unlawful one. A failure of the application that is told as such stays. */
  #replace(verdict: ExchangeVerdict | undefined, { headers }: SeenResponse): Response | undefined {
    const isUnlawful = verdict?.violations.some(({ part }) => part === 'response') ?? false
    if (!isUnlawful || verdict?.isFailure === true) return undefined
    return withRequestId(this.#judge.fail(), headers['x-request-id'], this.#judge)
  }

  #isRefused(request: MountedRequest, response: ServerResponse, received: ArrivedRequest): boolean {
    const refused = this.#try(() => this.#judge.refuseRequest(received))
    if (refused === undefined) return false
    this.#record.open--
    for (const violation of refused.violations) this.#record.tell(violation)
    const id = response.getHeader('X-Request-Id')
    const own = withRequestId(refused.response, typeof id === 'string' ? id : undefined, this.#judge)
    sendInstead(response, own, request.method === 'HEAD')
    return true
  }

  #miss(part: 'request' | 'response', reason: string): void {
    this.#record.open--
    this.#record.miss(part, reason)
  }

  /** A mistake of this program must not stop the application. */
  #try<Value>(act: () => Value): Value | undefined {
    try {
      return act()
    } catch (error) {
      this.#record.miss('response', `The check failed: ${String(error)}`)
      return undefined
    }
  }
}

/** A response with the id that the application gave to the request, if a response may have it. */
function withRequestId(response: Response, id: string | undefined, judge: ContractJudge): Response {
  if (id === undefined || !judge.isRequestId(id)) return response
  const { headers } = response
  const at = headers.indexOf('X-Request-Id') + 1
  return { ...response, headers: headers.map((each, index) => (index === at ? id : each)) }
}

function receivedOf({ method = '', rawHeaders }: MountedRequest, target: string, body: SeenBody): ArrivedRequest {
  return { method, target, rawHeaders, body }
}
