import { ContractRecord, type ContractReport, type ContractViolation } from './contract-report.ts'
import type { ExchangeChecker } from './exchange-checker.ts'
import type { Middleware } from './mount.ts'

export interface ContractOptions {
  /** Told of each violation. If it fails, the application goes on. */
  onViolation?: ((violation: ContractViolation) => unknown) | undefined
  /** Files with OpenAPI Overlays, which are applied to openapi.yaml in this order. */
  overlays?: readonly string[] | undefined
  /**
   * What happens to a request that breaks the contract: the application gets it (`tell`, the default), or it is answered
   * as the stand-in would answer it (`refuse`). With `refuse`, the body is read before the application gets the request.
   */
  requests?: 'tell' | 'refuse' | undefined
  /**
   * What happens to a response that breaks the contract: it is sent (`tell`, the default), or 500 `internal_error` is
   * sent in its place (`error`). With `error`, no response is sent before the application has ended it.
   */
  responses?: 'tell' | 'error' | undefined
}

/** The middleware, and what it has done so far. */
export type ContractMiddleware = Middleware & {
  /** What was checked, and what was not. */
  report(): ContractReport
  /** Resolves when the contract is compiled; until then, requests wait. Rejects with a `ContractError`. */
  ready(): Promise<void>
}

const CHOICES = { requests: ['tell', 'refuse'], responses: ['tell', 'error'] } as const

/**
 * A middleware that checks each request and each response of an application against openapi.yaml, for those who build
 * the real service. It never changes a lawful response. Requests outside of the base path of the contract are not
 * checked. Mount it before body parsers, and before what it shall check.
 * @throws TypeError for an option that does not exist
 */
export function contract(options: ContractOptions = {}): ContractMiddleware {
  checkOptions(options)
  const record = new ContractRecord(options.onViolation)
  let checker: ExchangeChecker | undefined
  const loading = load(options, record).then((loaded) => {
    checker = loaded
  })
  // A request tells its application of the failure, and so does `ready`.
  loading.catch(() => {})

  const checkContract: Middleware = (request, response, next) => {
    if (checker !== undefined) checker.take(request, response, next)
    else loading.then(() => checkContract(request, response, next), next)
  }
  return Object.assign(checkContract, { report: () => record.report(), ready: () => loading })
}

/** The judge is loaded apart, so that to import this module takes no time. */
async function load({ overlays = [], requests, responses }: ContractOptions, record: ContractRecord) {
  const { openExchangeChecker } = await import('./exchange-checker.ts')
  return openExchangeChecker(overlays, { refuses: requests === 'refuse', holds: responses === 'error' }, record)
}

function checkOptions(options: ContractOptions): void {
  const known = ['onViolation', 'overlays', 'requests', 'responses']
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new TypeError(`contract() has no option ${name}; it has ${known.join(', ')}.`)
  }
  for (const name of ['requests', 'responses'] as const) {
    const given = options[name]
    const choices: readonly string[] = CHOICES[name]
    if (given === undefined || choices.includes(given)) continue
    throw new TypeError(`The option ${name} of contract() is ${choices.join(' or ')}, not ${String(given)}.`)
  }
  const { onViolation, overlays = [] } = options
  if (onViolation !== undefined && typeof onViolation !== 'function') {
    throw new TypeError('The option onViolation of contract() is a function.')
  }
  if (!Array.isArray(overlays) || overlays.some((each) => typeof each !== 'string')) {
    throw new TypeError('The option overlays of contract() is a list of files.')
  }
}
