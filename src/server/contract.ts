import { BodyBudget } from '../exchanges/collected-body.ts'
import type { SeenResponse } from '../exchanges/exchange.ts'
import type { ContractJudge } from './contract-judge.ts'
import { ContractRecord, type ContractReport, type ContractViolation } from './contract-report.ts'
import { type Middleware, type MountedRequest, targetBelow } from './mount.ts'
import { watchBody } from './request-watch.ts'
import { watchResponse } from './response-watch.ts'

export interface ContractOptions {
  /** Told of each violation. If it fails, the application goes on. */
  onViolation?: ((violation: ContractViolation) => unknown) | undefined
  /** Files with OpenAPI Overlays, which are applied to openapi.yaml in this order. */
  overlays?: readonly string[] | undefined
}

/** The middleware, and what it has done so far. */
export type ContractMiddleware = Middleware & {
  /** What was checked, and what was not. */
  report(): ContractReport
  /** Resolves when the contract is compiled; until then, requests wait. Rejects with a `ContractError`. */
  ready(): Promise<void>
}

const LEFT = 'The connection was closed before the application had ended the response.'

/**
 * A middleware that checks each request and each response of an application against openapi.yaml, for those who build
 * the real service. It tells, and changes nothing. Requests outside of the base path of the contract are not checked.
 * Mount it before body parsers, and before what it shall check.
 * @throws TypeError for an option that does not exist
 */
export function contract(options: ContractOptions = {}): ContractMiddleware {
  checkOptions(options)
  const record = new ContractRecord(options.onViolation)
  const budget = new BodyBudget()
  let judge: ContractJudge | undefined
  // The judge is loaded apart, so that to import this module takes no time.
  const loading = import('./contract-judge.ts').then(async ({ openContractJudge }) => {
    judge = await openContractJudge(options.overlays ?? [])
  })
  // A request tells its application of the failure, and so does `ready`.
  loading.catch(() => {})

  const checkContract: Middleware = (request, response, next) => {
    if (judge === undefined) return void loading.then(() => checkContract(request, response, next), next)
    // Only the judge decides in which spellings a path is one of the service.
    const target = targetBelow(request, judge.basePath, true)
    if (target === undefined) record.outside++
    else watch(judge, target, request, response)
    next()
  }

  /** Watches what the application reads and writes, and judges it at the end of the response. */
  function watch(
    { judge, bodyLimit }: ContractJudge,
    target: string,
    request: MountedRequest,
    response: Parameters<Middleware>[1],
  ): void {
    const { method = '', rawHeaders } = request
    record.begin()
    const sent = watchBody(request, bodyLimit, budget)
    watchResponse(response, method === 'HEAD', budget, (answer: SeenResponse | undefined) => {
      record.open--
      const body = sent.seen()
      sent.release()
      if (answer === undefined) return record.miss('response', LEFT)
      try {
        const verdict = judge({ method, target, rawHeaders, body }, answer)
        record.note(verdict)
        if (verdict.readsBody && !body.isKnown) record.miss('request', body.reason)
        if (!answer.body.isKnown) record.miss('response', answer.body.reason)
      } catch (error) {
        // A mistake of this program must not stop the application.
        record.miss('response', `The check failed: ${String(error)}`)
      }
    })
  }

  return Object.assign(checkContract, { report: () => record.report(), ready: () => loading })
}

function checkOptions(options: ContractOptions): void {
  const known = ['onViolation', 'overlays']
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new TypeError(`contract() has no option ${name}; it has ${known.join(', ')}.`)
  }
  const { onViolation, overlays = [] } = options
  if (onViolation !== undefined && typeof onViolation !== 'function') {
    throw new TypeError('The option onViolation of contract() is a function.')
  }
  if (!Array.isArray(overlays) || overlays.some((each) => typeof each !== 'string')) {
    throw new TypeError('The option overlays of contract() is a list of files.')
  }
}
