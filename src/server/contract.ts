import { BodyBudget } from '../exchanges/collected-body.ts'
import type { SeenResponse } from '../exchanges/exchange.ts'
import type { ContractJudge, ContractViolation } from './contract-judge.ts'
import { type Middleware, type MountedRequest, targetBelow } from './middleware.ts'
import { watchBody } from './request-watch.ts'
import { watchResponse } from './response-watch.ts'

export interface ContractOptions {
  /** Told of each violation. If it fails, the application goes on. */
  onViolation?: ((violation: ContractViolation) => unknown) | undefined
  /** Files with OpenAPI Overlays, which are applied to openapi.yaml in this order. */
  overlays?: readonly string[] | undefined
}

/** What `contract(…)` has checked so far, and what it has not. */
export interface ContractReport {
  /** Requests below the base path of the contract. Those to other paths are not checked. */
  exchanges: number
  /** Of requests, and of responses. */
  violations: { request: number; response: number }
  /** The parts that were not checked, and why. */
  notChecked: { part: 'request' | 'response'; reason: string; count: number }[]
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
  const { onViolation, overlays = [] } = options
  const budget = new BodyBudget()
  const notChecked = new Map<string, ContractReport['notChecked'][number]>()
  const violations = { request: 0, response: 0 }
  let exchanges = 0
  let judge: ContractJudge | undefined
  // The judge is loaded apart, so that to import this module takes no time.
  const loading = import('./contract-judge.ts').then(async ({ openContractJudge }) => {
    judge = await openContractJudge(overlays)
  })
  // A request tells its application of the failure, and so does `ready`.
  loading.catch(() => {})

  const checkContract: Middleware = (request, response, next) => {
    if (judge === undefined) return void loading.then(() => checkContract(request, response, next), next)
    // Only the judge decides in which spellings a path is one of the service.
    const target = targetBelow(request, judge.basePath, true)
    if (target !== undefined) watch(judge, target, request, response)
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
    exchanges++
    const sent = watchBody(request, bodyLimit, budget)
    watchResponse(response, method === 'HEAD', budget, (answer: SeenResponse | undefined) => {
      const body = sent.seen()
      sent.release()
      if (answer === undefined) return miss('response', LEFT)
      try {
        const verdict = judge({ method, target, rawHeaders, body }, answer)
        for (const violation of verdict.violations) tell(violation)
        if (verdict.readsBody && !body.isKnown) miss('request', body.reason)
        if (!answer.body.isKnown) miss('response', answer.body.reason)
      } catch (error) {
        // A mistake of this program must not stop the application.
        miss('response', `The check failed: ${String(error)}`)
      }
    })
  }

  /** Tells the listener. An error of the listener is a warning of the process, so that the application goes on. */
  function tell(violation: ContractViolation): void {
    violations[violation.part]++
    const warn = (error: unknown) => process.emitWarning(`onViolation of contract() failed: ${String(error)}`)
    try {
      const told = onViolation?.(violation)
      if (told instanceof Promise) told.catch(warn)
    } catch (error) {
      warn(error)
    }
  }

  function miss(part: 'request' | 'response', reason: string): void {
    const key = `${part} ${reason}`
    notChecked.set(key, { part, reason, count: (notChecked.get(key)?.count ?? 0) + 1 })
  }

  const report = () => ({ exchanges, violations: { ...violations }, notChecked: [...notChecked.values()] })
  return Object.assign(checkContract, { report, ready: () => loading })
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
