import { decimalsOf } from '../domain/dmarc.ts'
import { isObject, type Json } from '../ground/json.ts'

export type Writer = (value: unknown) => string

/** Creates the function that writes JSON of a schema. */
export type WriterCompiler = (schema: unknown) => Writer

/** Writes numbers as short as possible, independent of the schema: `100`, `99.5`. */
export const compileShortWriter: WriterCompiler = () => JSON.stringify

/**
 * A function that writes JSON by the schema. A number whose `multipleOf` is a fraction keeps its decimals: `100.0`, not
 * `100`. It reads the schema when it is first called.
 */
export function compileWriter(schema: unknown): Writer {
  let write: Writer | undefined
  return (value) => {
    write ??= writerFor(schema) ?? JSON.stringify
    return write(value)
  }
}

function writerFor(schema: unknown): Writer | undefined {
  if (!isObject(schema)) return undefined
  const { multipleOf, items, properties } = schema
  if (typeof multipleOf === 'number' && multipleOf < 1) {
    const decimals = decimalsOf(multipleOf)
    return (value) =>
      typeof value === 'number' && Number.isFinite(value) ? value.toFixed(decimals) : JSON.stringify(value)
  }
  if (items !== undefined) {
    const write = writerFor(items)
    return write && ((value) => (Array.isArray(value) ? `[${value.map(write).join(',')}]` : JSON.stringify(value)))
  }
  return isObject(properties) ? objectWriter(properties) : undefined
}

function objectWriter(properties: Json): Writer | undefined {
  const fields = new Map(
    Object.entries(properties).map(([name, schema]) => [
      name,
      { key: `${JSON.stringify(name)}:`, write: writerFor(schema) },
    ]),
  )
  if (![...fields.values()].some(({ write }) => write !== undefined)) return undefined
  return (value) => {
    if (!isObject(value)) return JSON.stringify(value)
    let text = ''
    for (const name in value) {
      const field = value[name]
      if (field === undefined) continue
      const { key = `${JSON.stringify(name)}:`, write = JSON.stringify } = fields.get(name) ?? {}
      text += (text === '' ? '' : ',') + key + write(field)
    }
    return `{${text}}`
  }
}
