import { nearestName } from '../ground/edit-distance.ts'
import { isObject, type Json, mapValues, valueAt } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { refuseArgument } from '../library/control-error.ts'
import { EXTENT, writeAnswer } from './answer.ts'
import type { ControlPlane } from './control-plane.ts'

/** Something that an assistant can do, in the terms of the protocol. */
export interface Tool {
  name: string
  title: string
  description: string
  /** A JSON Schema of an object. It has no combinations at its top, which some assistants refuse. */
  inputSchema: Json & { type: 'object'; properties: Json; required: readonly string[] }
  annotations: { readOnlyHint: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint: false }
  /** Resolves to the text of the answer. @throws ControlError */
  call(args: Json): Promise<string>
}

/** The operations that answer with JSON and are no tools: for programs that poll, and for the page of a person. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['getHealth', 'getReadiness', 'getDocument', 'listScenes', 'getOverview'],
  // list_coverage_gaps has the part that matters.
  ...['getCoverage', 'getOverallCoverage'],
])

/** A POST that changes nothing, which its method does not say. */
const ONLY_READS: ReadonlySet<string> = new Set(['verifyRequests'])

/** A tool for each operation of the control plane that answers with JSON. */
export function toolsOf(plane: ControlPlane): Tool[] {
  return Object.values((plane.document['paths'] ?? {}) as Record<string, Json>).flatMap((methods) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      isObject(operation) && isOffered(operation) ? [toolOf(method, operation, plane)] : [],
    ),
  )
}

function isOffered({ operationId: id, responses }: Json): boolean {
  if (typeof id !== 'string' || LEFT_OUT.has(id)) return false
  const successes = Object.entries((responses ?? {}) as Json).filter(([status]) => status.startsWith('2'))
  return successes.every(([, response]) =>
    Object.keys((valueAt(response, '/content') ?? {}) as Json).every((type) => type === 'application/json'),
  )
}

interface Parameter {
  name: string
  in: 'path' | 'query'
  required?: boolean
  description?: string
  schema: Json
}

function toolOf(method: string, operation: Json, plane: ControlPlane): Tool {
  const id = `${operation['operationId']}`
  const readOnlyHint = method === 'get' || ONLY_READS.has(id)
  const parameters = (operation['parameters'] ?? []) as readonly Parameter[]
  const schema = valueAt(operation, '/requestBody/content/application~1json/schema')
  const fields = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : undefined
  const own = parameters.map(({ name, description, schema }) => [argumentOf(name), { ...schema, description }] as const)
  const body = fields ?? (isObject(schema) ? { body: schema } : {})
  const properties = { ...Object.fromEntries(own), ...body, ...(readOnlyHint && EXTENT) }
  const required = [
    ...parameters.flatMap(({ name, required }) => (required === true ? [argumentOf(name)] : [])),
    ...(fields !== undefined && isObject(schema) ? ((schema['required'] ?? []) as string[]) : []),
  ]

  async function call({ part, max_characters, ...rest }: Json): Promise<string> {
    const given: Record<Parameter['in'], Json> = { path: {}, query: {} }
    for (const { name, in: place } of parameters) {
      const value = rest[argumentOf(name)]
      delete rest[argumentOf(name)]
      if (value !== undefined) given[place][name] = typeof value === 'number' ? String(value) : value
    }
    const body = schema === undefined ? undefined : fields === undefined ? rest['body'] : rest
    const answer = await plane.call(id, { parameters: given.path, query: given.query, body })
    return writeAnswer(answer ?? {}, readOnlyHint ? { part, max_characters } : {})
  }

  return {
    name: id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    title: `${operation['summary']}`,
    description: unfold([operation['summary'], operation['description']].filter(Boolean).join('.\n')),
    inputSchema: { type: 'object', properties: mapValues(properties, readable), required },
    annotations: { readOnlyHint, ...(!readOnlyHint && hintsOf(method, operation)), openWorldHint: false },
    call,
  }
}

/** An operation that answers 201 creates something and changes nothing else. */
function hintsOf(method: string, operation: Json): Pick<Tool['annotations'], 'destructiveHint' | 'idempotentHint'> {
  const creates = valueAt(operation, '/responses/201') !== undefined
  return { destructiveHint: !creates, idempotentHint: method === 'put' || method === 'delete' }
}

/** Refuses arguments with other names, and required ones that are missing. @throws ControlError */
export function refuseWrongNames({ inputSchema: { properties, required } }: Tool, args: Json): void {
  const names = Object.keys(properties)
  const unknown = Object.keys(args).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const nearest = nearestName(unknown, names)
    const remedy = nearest === undefined ? `there are ${names.join(', ') || 'none'}.` : `did you mean ${nearest}?`
    throw refuseArgument(unknown, `${show(unknown)} is no argument; ${remedy}`)
  }
  const missing = required.find((name) => args[name] === undefined)
  if (missing !== undefined)
    throw refuseArgument(missing, `${missing} is missing. It is: ${valueAt(properties[missing], '/description')}`)
}

function argumentOf(parameter: string): string {
  return parameter.replaceAll('-', '_')
}

/** A schema without what only the control plane reads; the meanings of its values are in its description. */
function readable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(readable)
  if (!isObject(schema)) return typeof schema === 'string' ? unfold(schema) : schema
  const { $defs: values, ...rest } = schema
  const kept = Object.entries(rest).filter(
    ([key, value]) => !key.startsWith('x-') && !HIDDEN.has(key) && value !== undefined,
  )
  const words = mapValues(Object.fromEntries(kept), readable)
  if (!isObject(values)) return words
  const meanings = Object.entries(values).map(([value, means]) => `\`${value}\`: ${valueAt(means, '/description')}`)
  return { ...words, description: unfold([words['description'] ?? '', ...meanings].join(' ')) }
}

/** What the control plane refuses with a sentence, and what is long to read. */
const HIDDEN: ReadonlySet<string> = new Set(['not', 'propertyNames', 'writeOnly'])

/** The document folds its texts, and an empty line ends a paragraph. */
function unfold(text: string): string {
  return text.trim().replaceAll(/(?<!\n)\n(?![\n-])/g, ' ')
}
