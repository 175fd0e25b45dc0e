import { type Log, SILENT } from '../../ground/log.ts'
import { redactKeysInLog } from './key-shapes.ts'
import { type Redact, redactorForAll } from './redaction.ts'
import type { Secrets } from './secrets.ts'

/** Values that are nested more deeply in the fields of a line are left out. */
const DEPTH = 10

/**
 * A log whose warnings and errors show no secrets in any field. Information lines are not checked, because there is one
 * for every request. Their callers pass only fields without secrets.
 */
export function redactLog(log: Log, secrets: Secrets): Log {
  if (log === SILENT) return log
  const redactRest = redactorForAll(secrets)
  const redact: Redact = (text) => redactRest(redactKeysInLog(text))
  return {
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(redactDeeply(fields, redact), redact(message)),
    error: (fields, message) => log.error(redactDeeply(fields, redact), redact(message)),
  }
}

/**
 * A value without secrets: the value itself if it has none, if not, a copy. The copy of an error is an error of the
 * same class. An object that is neither an error nor plain is left out, because it may refer to any other object.
 */
export function redactDeeply<Value>(value: Value, redact: Redact): Value {
  return redactPart(value, redact, 0) as Value
}

function redactPart(value: unknown, redact: Redact, depth: number): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEPTH) return undefined
  const redactNext = (part: unknown) => redactPart(part, redact, depth + 1)
  if (Array.isArray(value)) {
    const items = value.map(redactNext)
    return items.every((item, index) => item === value[index]) ? value : items
  }
  const prototype: object | null = Object.getPrototypeOf(value)
  if (!(value instanceof Error) && prototype !== Object.prototype && prototype !== null) return undefined
  let isSame = true
  const properties = Object.entries(Object.getOwnPropertyDescriptors(value)).map(([name, { enumerable = false }]) => {
    const part = (value as Record<string, unknown>)[name]
    const shown = { name: redact(name), part: redactNext(part) }
    isSame &&= shown.name === name && shown.part === part
    return [shown.name, { value: shown.part, enumerable, writable: true, configurable: true }] as const
  })
  return isSame ? value : Object.create(prototype, Object.fromEntries(properties))
}
