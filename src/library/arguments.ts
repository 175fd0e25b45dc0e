import type { ControlRequest } from '../admin/control.ts'
import { isObject } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { refuseArgument } from './control-error.ts'

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

/** A copy through JSON, as over HTTP. Neither side can change an object of the other. */
export function copyArgument(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value) ?? 'null')
}

/** The fields of an options object; none for `undefined`. @throws ControlError for any other value. */
export function readFields(value: unknown): Record<string, unknown> {
  if (value === undefined) return {}
  if (isObject(value)) return { ...value }
  throw refuseArgument('', `An object was expected here, which ${show(value)} is not.`)
}
