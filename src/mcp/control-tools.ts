import type { ControlRequest } from '../admin/control.ts'
import { isObject, type Json, mapValues, valueAt } from '../ground/json.ts'
import { CHARACTERS, writeAnswer } from './answer.ts'
import { EXTENT_PROPERTIES, readExtent, readScalar } from './arguments.ts'
import { type ControlOperation, operationsOf, whyLeftOut } from './offers.ts'
import { writePage } from './page.ts'
import type { AssistantTool } from './tool.ts'

/** Sends a request to the control plane, and resolves to the data of its answer. @throws ControlError */
export type AskOperation = (operationId: string, request: ControlRequest) => Promise<unknown>

interface ToolParameter {
  /** As the document names it, and as the tool names it. */
  name: string
  argument: string
  in: 'path' | 'query'
  required: boolean
  schema: Json
}

/** A POST that changes nothing, which its method does not say. */
const ONLY_READS: ReadonlySet<string> = new Set(['verifyRequests'])

const OF_REQUESTS = ['/requests/*/request/headers', '/requests/*/response/headers']
/** What is long and seldom wanted, by operation. */
const ASIDE: Readonly<Record<string, readonly string[]>> = {
  listRequests: OF_REQUESTS,
  listAllRequests: OF_REQUESTS,
  explainRequest: ['/reproduction', '/correction/request', '/correction/requests', '/exchange'],
}

/** How many items of a list are asked for without a limit. */
const USUAL_ITEMS = 20

/** A tool for each operation that `offers.ts` does not leave out. `document` has no references. */
export function controlToolsOf(document: Json, ask: AskOperation): AssistantTool[] {
  return operationsOf(document)
    .filter((operation) => whyLeftOut(operation) === undefined)
    .map((operation) => toolOf(operation, ask))
}

/** `createAccount` → `create_account`, as most names of tools are written. */
function nameTool(operationId: string): string {
  return operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_')
}

function toolOf(operation: ControlOperation, ask: AskOperation): AssistantTool {
  const { id, method, content } = operation
  const isRead = method === 'get' || ONLY_READS.has(id)
  const parameters = parametersOf(content)
  const body = bodyOf(content)
  const properties = {
    ...Object.fromEntries(parameters.map(({ argument, schema }) => [argument, schema])),
    ...body.properties,
    ...(isRead && EXTENT_PROPERTIES),
  }
  const required = [...parameters.filter((each) => each.required).map(({ argument }) => argument), ...body.required]

  function requestOf(args: Json): ControlRequest {
    const valuesIn = (place: ToolParameter['in']) =>
      Object.fromEntries(
        parameters
          .filter(({ in: where, argument }) => where === place && args[argument] !== undefined)
          .map(({ name, argument }) => [name, readScalar(argument, args[argument])]),
      )
    return { parameters: valuesIn('path'), query: valuesIn('query'), ...body.read(args) }
  }

  return {
    name: nameTool(id),
    title: `${content['summary']}`,
    description: describe(content, body.rules),
    inputSchema: { type: 'object', properties, additionalProperties: false, ...(required.length > 0 && { required }) },
    annotations: hintsOf(operation, isRead),
    async call(args) {
      const extent = isRead ? readExtent(args) : { part: '', characters: CHARACTERS.usual }
      const request = requestOf(args)
      if (parameters.some(({ name }) => name === 'limit')) {
        const { limit = String(USUAL_ITEMS) } = request.query ?? {}
        const read = (size: string) => ask(id, { ...request, query: { ...request.query, limit: size } })
        return writePage(read, { limit, isGiven: args['limit'] !== undefined }, extent, ASIDE[id])
      }
      return writeAnswer(await ask(id, request), extent, { aside: ASIDE[id] ?? [], ...(isRead && { again: {} }) })
    },
  }
}

function describe({ summary, description }: Json, rules: readonly string[]): string {
  const words = [summary, description, ...rules].filter((each) => typeof each === 'string' && each !== '')
  return words.map((each) => unfold(`${each}`).replace(/([^.])$/, '$1.')).join('\n')
}

/** The document folds its texts, and an empty line ends a paragraph. */
function unfold(text: string): string {
  return text.trim().replaceAll(/(?<!\n)\n(?![\n-])/g, ' ')
}

/** An operation that answers 201 creates something and changes nothing else. */
function hintsOf({ method, content }: ControlOperation, readOnlyHint: boolean): AssistantTool['annotations'] {
  if (readOnlyHint) return { readOnlyHint, openWorldHint: false }
  const creates = valueAt(content, '/responses/201') !== undefined
  return {
    readOnlyHint,
    destructiveHint: !creates,
    idempotentHint: method === 'put' || method === 'delete',
    openWorldHint: false,
  }
}

function parametersOf(content: Json): ToolParameter[] {
  const parameters = Array.isArray(content['parameters']) ? content['parameters'] : []
  return parameters.map(({ name, in: place, required = false, description, schema }) => ({
    name,
    argument: name.replaceAll('-', '_'),
    in: place,
    required,
    schema: { ...naturalSchema(schema), ...(description !== undefined && { description: unfold(description) }) },
  }))
}

/** What a query writes as text is a number or a boolean for an assistant. */
function naturalSchema(schema: Json): Json {
  const { pattern, enum: values } = schema
  if (Array.isArray(values) && values.join() === 'true,false') return { type: 'boolean' }
  const isNumber = typeof pattern === 'string' && ['7', '50', '200'].some((text) => new RegExp(pattern).test(text))
  return isNumber
    ? { type: 'integer', ...(schema['title'] !== undefined && { title: schema['title'] }) }
    : (readable(schema) as Json)
}

interface BodyArguments {
  properties: Json
  required: readonly string[]
  /** What the arguments together must be. */
  rules: readonly string[]
  read(args: Json): Pick<ControlRequest, 'body'>
}

/** The fields of a body are arguments. A body whose fields the document does not name is one argument. */
function bodyOf(content: Json): BodyArguments {
  const schema = valueAt(content, '/requestBody/content/application~1json/schema')
  if (!isObject(schema)) return { properties: {}, required: [], rules: [], read: () => ({}) }
  const isRequired = valueAt(content, '/requestBody/required') === true
  const { properties, required } = schema
  if (!isObject(properties)) {
    const read = ({ body }: Json) => (body === undefined ? {} : { body })
    return { properties: { body: readable(schema) }, required: isRequired ? ['body'] : [], rules: [], read }
  }
  const names = Object.keys(properties)
  return {
    properties: mapValues(properties, readable),
    required: Array.isArray(required) ? required : [],
    rules: rulesOf(schema),
    read: (args) => ({
      body: Object.fromEntries(names.filter((name) => args[name] !== undefined).map((name) => [name, args[name]])),
    }),
  }
}

/** The combinations at the top of a schema in words: clients refuse them there. */
function rulesOf({ anyOf, not, minProperties, description }: Json): string[] {
  const alternatives = Array.isArray(anyOf) ? anyOf.flatMap(({ required }) => required ?? []) : []
  return [
    ...(typeof description === 'string' ? [description] : []),
    ...(alternatives.length > 0 ? [`At least one of ${alternatives.join(', ')} is needed.`] : []),
    ...(minProperties === 1 ? ['At least one field is needed.'] : []),
    ...(isObject(not) && typeof not['title'] === 'string' ? [`Refused otherwise: ${not['title']}`] : []),
  ]
}

/** A schema without what only the control plane reads. */
function readable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(readable)
  if (!isObject(schema)) return schema
  const kept = Object.entries(schema).filter(([key]) => !key.startsWith('x-') && !CHECKED_THERE.has(key))
  const words = mapValues(Object.fromEntries(kept), (each) =>
    typeof each === 'string' ? unfold(each) : readable(each),
  )
  // What the values mean.
  const values = schema['$defs']
  if (!isObject(values)) return words
  const explained = Object.entries(values).map(([value, means]) => `\`${value}\`: ${valueAt(means, '/description')}`)
  return { ...words, description: [words['description'], ...explained].join(' ') }
}

/** What the control plane refuses with a sentence, and what is long to read. */
const CHECKED_THERE: ReadonlySet<string> = new Set(['not', 'propertyNames', 'writeOnly', '$defs'])
