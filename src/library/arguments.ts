import type { ControlRequest } from '../admin/control.ts'
import { show } from '../ground/show.ts'
import { ControlError, refuseArgument } from './control-error.ts'

/** The arguments of a call. JavaScript can pass any value in each place. */
export interface CallArguments {
  /** The values of the path parameters, which are texts. */
  parameters?: Readonly<Record<string, unknown>>
  /** An object of texts, numbers and booleans. */
  query?: object | undefined
  body?: unknown
}

/** A request to the control plane, of copies, as over HTTP. @throws ControlError for arguments that cannot be sent */
export function readArguments({ parameters = {}, query, body }: CallArguments): ControlRequest {
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value !== 'string')
      throw refuseArgument(name, `\`${name}\` must be a text, which ${show(value)} is not.`)
  }
  const given = Object.entries(readFields(query)).filter(([, each]) => each !== undefined)
  for (const [name, each] of given) {
    if (typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean') continue
    throw refuseArgument(name, `\`${name}\` must be a text, a number, true or false, which ${show(each)} is not.`)
  }
  return {
    parameters: parameters as Record<string, string>,
    query: Object.fromEntries(given.map(([name, each]) => [name, String(each)])),
    ...(body !== undefined && { body: copyArgument(body) }),
  }
}

/** A copy through JSON, as over HTTP. Neither side can change an object of the other. @throws ControlError */
export function copyArgument(value: unknown): unknown {
  return asJson(() => JSON.parse(JSON.stringify(value, refuseUnsaid) ?? 'null'))
}

/** JSON omits functions and symbols silently. */
function refuseUnsaid(_: string, value: unknown): unknown {
  if (typeof value !== 'function' && typeof value !== 'symbol') return value
  throw new ControlError('invalid_json', `The argument must be JSON, which ${show(value)} is not.`)
}

/** The fields of an options object; none for `undefined`. @throws ControlError for any other value. */
export function readFields(value: unknown): Record<string, unknown> {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuseArgument('', `An object was expected here, which ${show(value)} is not.`)
  }
  return asJson(() => ({ ...value }))
}

/** The result of `read`. An object may have a field that throws when it is read. @throws ControlError */
function asJson<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof ControlError) throw error
    const [reason = ''] = String(error instanceof Error ? error.message : error).split('\n')
    throw new ControlError('invalid_json', `The argument must be JSON: ${reason}.`)
  }
}
