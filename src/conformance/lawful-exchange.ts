import type { Permitted } from '../choices/permitted.ts'
import type { Operation } from '../contract/api.ts'
import type { SeenBody, SeenResponse } from '../exchanges/exchange.ts'
import { DEEPEST_RESPONSE } from '../exchanges/reading.ts'
import { isObject, readJson } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { isDeeperThan } from '../ground/nesting.ts'
import { runAtOnce } from '../ground/work.ts'
import { splitTarget } from '../http/target.ts'
import { findInvalidInput } from './request-problems.ts'

/** A request as it was received, with its key. In `rawHeaders`, names and values alternate. */
export interface ArrivedRequest {
  method: string
  target: string
  rawHeaders: readonly string[]
  body: SeenBody
}

/**
 * Tells most lawful exchanges from all others, in a fraction of the time that `judgeSingle` takes. Where it says no,
 * only `judgeSingle` knows. Where it says yes, `judgeSingle` finds nothing.
 */
export interface LawfulCheck {
  /** The operation of a request that certainly keeps the contract. */
  operationOf(request: ArrivedRequest): Operation | undefined
  /** Whether a response to such a request is certainly a lawful success. */
  isSuccess(operation: Operation, response: SeenResponse): boolean
}

const USUAL_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i
const USUAL_KEY = /^Bearer [!-~]+$/

export function createLawfulCheck(permitted: Permitted): LawfulCheck {
  const { basePath, routes, operations } = permitted.contract
  const successOf = memoizeWeakly((operation: Operation) => ({
    check: permitted.checkSuccess(operation),
    statuses: permitted.successStatuses(operation),
  }))

  function hasLawfulHeader(operation: Operation, headers: SeenResponse['headers']): boolean {
    if (!USUAL_TYPE.test(headers['content-type'] ?? '') || headers['x-request-id'] === undefined) return false
    if (Number(headers['x-ratelimit-remaining']) > Number(headers['x-ratelimit-limit'])) return false
    if (operation.success.checkHeaders(headers).length > 0) return false
    // The form of the id is that of the first operation.
    return operations[0] === operation || operations[0]?.success.checkHeaders(headers).length === 0
  }

  return {
    operationOf({ method, target, rawHeaders, body }) {
      const { path, query } = splitTarget(target)
      const operation = path.startsWith(basePath) ? routes.get(path.slice(basePath.length))?.get(method) : undefined
      const headers = operation && usualFields(rawHeaders)
      if (operation === undefined || headers === undefined) return undefined
      return findInvalidInput({ headers, body }, query, operation, permitted).length === 0 ? operation : undefined
    },

    isSuccess(operation, { status, headers, body }) {
      const { check, statuses } = successOf(operation)
      if (!body.isKnown || !statuses.has(status) || !hasLawfulHeader(operation, headers)) return false
      const envelope = readJson(body.bytes.toString())
      if (!isObject(envelope) || envelope['success'] !== true || envelope['data'] === undefined) return false
      return check(envelope).length === 0 && !runAtOnce(isDeeperThan(DEEPEST_RESPONSE, envelope))
    },
  }
}

/** The fields that say how a body is read, if they and the key are as usual. */
function usualFields(rawHeaders: readonly string[]): Record<string, string> | undefined {
  let key: string | undefined
  let type: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // Only the length is read of most names.
    if (name.length !== 12 && name.length !== 13 && name.length !== 16) continue
    const value = rawHeaders[index + 1] ?? ''
    switch (name.toLowerCase()) {
      case 'authorization':
        if (key !== undefined || !USUAL_KEY.test(value)) return undefined
        key = value
        break
      case 'content-type':
        if (type !== undefined || !USUAL_TYPE.test(value)) return undefined
        type = value
        break
      case 'content-encoding':
        return undefined
    }
  }
  return key === undefined ? undefined : type === undefined ? {} : { 'content-type': type }
}
