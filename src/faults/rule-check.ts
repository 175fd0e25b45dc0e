import { refusalFor } from '../behaviour/judge.ts'
import { codesOf, type Operation, operationOf } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { type ControlLimits, loadControlApi, readLimits } from '../contract/control-api.ts'
import type { Problem } from '../domain/errors.ts'
import type { FaultMatch, FaultRule, InjectedResponse } from '../domain/faults.ts'
import { parseDuration } from '../domain/iso-8601.ts'
import { explainUnknown } from '../ground/edit-distance.ts'
import { isDeeperThan, writeJson } from '../ground/json.ts'
import { actsOnBody } from './kinds.ts'

/** A check of rules that come from a file, like those that come over HTTP. */
export interface RuleCheck {
  limits: ControlLimits
  /** Why the rule is refused: a JSON pointer, which begins with `place`, and a sentence. */
  findProblem(rule: FaultRule, place: string): { pointer: string; message: string } | undefined
}

/** The document of the control plane has the schema of a rule, the limits, and the sentences of refusals. */
export async function loadRuleCheck(contract: Contract): Promise<RuleCheck> {
  const api = await loadControlApi()
  const limits = readLimits(api)

  function firstProblem(rule: FaultRule): Problem<string> | undefined {
    if (isDeeperThan(limits.nestingLimit, rule)) return invalid('', undefined, 'too-deep')
    const misshapen = refusalFor(operationOf(api, 'addFault')?.checkBody(rule) ?? [], api.catalogue)
    return misshapen?.problems[0] ?? findRuleProblem(rule, contract, limits)
  }

  return {
    limits,
    findProblem(rule, place) {
      const problem = firstProblem(rule)
      if (problem === undefined) return undefined
      const pointer = place + (problem.field ?? '')
      return { pointer, message: api.catalogue.answer({ ...problem, field: pointer }).message }
    },
  }
}

type RuleProblem = Problem<'invalid_value'>

/**
 * Checks the constraints of a fault rule that a schema cannot express. The contract must have requests that the rule
 * matches and errors that it names. The body must not be too large.
 */
export function findRuleProblem(
  rule: FaultRule,
  contract: Contract,
  { answerLimit }: Pick<ControlLimits, 'answerLimit'>,
): RuleProblem | undefined {
  const { match = {}, respond, expires_after: life } = rule
  const unknown = checkNames(match, contract)
  if (unknown) return unknown
  const matching = contract.operations.filter((operation) => canMatch(match, operation))
  if (matching.length === 0) return invalid('/match', match, 'nothing', { expected: describeChoice(match, contract) })
  if (match.method === 'HEAD' && actsOnBody(rule)) return invalid('/match/method', 'HEAD', 'bodiless')
  if (life !== undefined && parseDuration(life) === 0) return invalid('/expires_after', life, 'no-time')
  if (respond === undefined) return undefined
  return 'error' in respond ? checkError(respond, matching, contract) : checkSize(respond, answerLimit)
}

function checkNames({ operation, path }: FaultMatch, { operations, routes }: Contract): RuleProblem | undefined {
  const ids = operations.map(({ id }) => id)
  if (operation !== undefined && !ids.includes(operation)) return unknownName('/match/operation', operation, ids)
  if (path !== undefined && !routes.has(path)) return unknownName('/match/path', path, [...routes.keys()])
  return undefined
}

/** Whether the rule can match a request to the operation. */
function canMatch({ operation, method, path }: FaultMatch, { id, ...own }: Operation): boolean {
  const methods = own.method === 'GET' ? ['GET', 'HEAD'] : [own.method]
  return (
    (operation === undefined || operation === id) &&
    (path === undefined || path === own.path) &&
    (method === undefined || methods.includes(method))
  )
}

/** The method and path of the operation, or if there is none, the methods of the path, as a clause. */
function describeChoice({ operation, path }: FaultMatch, { operations, routes }: Contract): string {
  const named = operations.find(({ id }) => id === operation)
  if (named !== undefined) return `${named.id} is ${named.method} ${named.path}`
  const methods = routes.get(path ?? '')?.keys() ?? operations.map(({ method }) => method)
  return `${path ?? 'the service'} has ${[...new Set(methods)].join(', ')}`
}

function checkError(
  { error, status }: Extract<InjectedResponse, { error: string }>,
  matching: readonly Operation[],
  { catalogue, operations }: Contract,
): RuleProblem | undefined {
  const known = codesOf(operations)
  if (!catalogue.has(error) || !known.has(error)) {
    return unknownName('/respond/error', error, [...known])
  }
  const codes = codesOf(matching)
  if (!codes.has(error)) {
    const about = { operation: matching.map(({ id }) => id).join(', '), allowed: [...codes].join(', ') }
    return invalid('/respond/error', error, 'never', about)
  }
  const statuses = matching.flatMap(({ responses }) => [...responses.values()].filter((each) => each.codes.has(error)))
  const allowed = new Set(statuses.map((response) => response.status))
  if (status === undefined || allowed.has(status)) return undefined
  return invalid('/respond/status', status, 'choice', { allowed: [...allowed].join(', ') })
}

function checkSize({ body }: Extract<InjectedResponse, { status: number }>, limit: number): RuleProblem | undefined {
  const size = body === undefined ? 0 : sizeOf(body)
  if (size === undefined) return invalid('/respond/body', undefined, 'too-deep')
  return size > limit ? invalid('/respond/body', undefined, 'too-long', { limit, count: size }) : undefined
}

/** The bytes of a body as it is sent; `undefined` if it is nested too deeply for JSON. */
function sizeOf(body: unknown): number | undefined {
  const text = typeof body === 'string' ? body : writeJson(body)
  return text === undefined ? undefined : Buffer.byteLength(text)
}

function unknownName(field: string, value: string, names: readonly string[]): RuleProblem {
  const { reason, about } = explainUnknown(value, names)
  return invalid(field, value, reason, about)
}

function invalid(field: string, value: unknown, reason: string, about: Problem['about'] = {}): RuleProblem {
  return { code: 'invalid_value', reason, field, value, about }
}
