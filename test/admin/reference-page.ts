import { isObject, type Json } from '../../src/ground/json.ts'
import { ACCOUNT, type Call, KEY, NOW, type Step } from './reference-session.ts'

/** A step, and what the server answered. */
export interface Played {
  step: Step
  status: number
  /** The parsed body of JSON, else the text. */
  answer: unknown
}

const WIDTH = 116
/** Values that differ in each run, with each client, or with each version of the contract. */
const VARYING = new Set(['instance', 'version', 'duration_ms', 'total', 'percent', 'headers', 'exchange'])
/** Refusals that every route has, and that the head of the page describes. */
const COMMON = ['InvalidQuery', 'Unauthorized', 'Forbidden', 'InternalError', 'Unavailable']

const HEAD = `# Reference of the control plane

<!-- Written by test/admin/reference.test.ts from src/admin/openapi.yaml and the answers of a server; change these. -->

Each route with an example and its answer. The examples work one after the other, from the first to the last. A server
that is started like this gives the same answers:

\`\`\`sh
npx dmarc-understudy serve --fixture empty --now ${NOW} --frozen
\`\`\`

\`…\` stands for what is left out here because it is long, or because it differs in each run.
[control-plane.md](control-plane.md) has an overview, and says what a reset forgets.

A refusal is \`{"success": false, "error": {"code": …, "message": …, "problems": […]}}\`. Any route can answer with one of
these. Each route lists the others that it has.

REFUSALS

\`\`\`sh
API=http://127.0.0.1:4010/api/v1
ADMIN=http://127.0.0.1:4010/__admin
JSON='Content-Type: application/json'
\`\`\`
`

/** The page: the operations by tag, each with what the document says of it and its played example. */
export function writePage(document: Json, played: readonly Played[]): string {
  const operations = operationsOf(document)
  const tags = (document['tags'] as { name: string }[]).map(({ name }) => name)
  const sections = tags.map((tag) => {
    const own = played.filter(({ step }) => operations.get(step.operation)?.tag === tag)
    return `\n## ${tag}\n${own.map((each) => writeOperation(document, operations.get(each.step.operation), each)).join('')}`
  })
  return HEAD.replace('REFUSALS', () => commonRefusalsOf(document)) + sections.join('')
}

interface Described {
  tag: string
  method: string
  path: string
  operation: Json
}

/** The operations of the document, whose references are resolved, by their id. */
export function operationsOf(document: Json): Map<string, Described> {
  const found = new Map<string, Described>()
  for (const [path, item] of Object.entries(document['paths'] as Json)) {
    for (const [method, operation] of Object.entries(item as Record<string, Json>)) {
      const { operationId, tags } = operation as { operationId: string; tags: string[] }
      found.set(operationId, { tag: tags[0] ?? '', method: method.toUpperCase(), path, operation })
    }
  }
  return found
}

function writeOperation(document: Json, described: Described | undefined, { step, status, answer }: Played): string {
  if (described === undefined) throw new Error(`The document has no operation ${step.operation}.`)
  const { method, path, operation } = described
  const { summary, description } = operation as { summary: string; description?: string }
  const parts = [
    `### ${method} ${path}`,
    `${summary}.${description === undefined ? '' : `\n\n${description.trim()}`}`,
    parametersOf(operation),
    bodyOf(operation),
    refusalsOf(operation, document),
    `\`\`\`sh\n${[...(step.before ?? []), callOf(step, described)].map((call) => writeCall(call, step)).join('\n')}\n\`\`\``,
    `It answers ${status}${step.streams === true ? ', and sends this when a request comes' : ''}:`,
    typeof answer === 'string'
      ? `\`\`\`txt\n${answer}\n\`\`\``
      : `\`\`\`jsonc\n${write(answer, 0, step.depth ?? 7)}\n\`\`\``,
  ]
  return `\n${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function parametersOf(operation: Json): string {
  const parameters = (operation['parameters'] ?? []) as { name: string; in: string; required?: boolean; schema: Json }[]
  const rows = parameters
    .filter(({ name }) => name !== 'account')
    .map((parameter) => [code(parameter.name), parameter.in, needOf(parameter.required), saying(parameter)])
  return rows.length === 0 ? '' : table(['parameter', 'in', 'is', 'says'], rows)
}

function bodyOf(operation: Json): string {
  const body = operation['requestBody'] as { required: boolean; content: Record<string, { schema: Json }> } | undefined
  const schema = body?.content['application/json']?.schema
  if (schema === undefined) return ''
  const required = new Set((schema['required'] ?? []) as string[])
  const rows = Object.entries((schema['properties'] ?? {}) as Record<string, Json>).map(([name, field]) => [
    code(name),
    typeOf(field),
    needOf(required.has(name)),
    saying({ schema: field }),
  ])
  const intro = [
    body?.required === true ? '' : 'The body may be left out.',
    rows.length === 0 ? `The body: ${String(schema['description'])}` : '',
  ]
  const said = intro.filter((sentence) => sentence !== '').join(' ')
  const parts = [said, rows.length === 0 ? '' : table(['field', 'type', 'is', 'says'], rows)]
  return parts.filter((part) => part !== '').join('\n\n')
}

function commonRefusalsOf(document: Json): string {
  const rows = commonResponsesOf(document).map((response) => [
    codesOf(response).map(code).join(', '),
    saying({ schema: response }),
  ])
  return table(['code', 'when'], rows)
}

function commonResponsesOf(document: Json): Json[] {
  const { responses } = document['components'] as { responses: Record<string, Json> }
  return COMMON.flatMap((name): Json[] => (responses[name] === undefined ? [] : [responses[name]]))
}

function refusalsOf(operation: Json, document: Json): string {
  const known = new Set(commonResponsesOf(document).map((response) => response['description']))
  const refusals = Object.entries(operation['responses'] as Record<string, Json>)
    .filter(([, response]) => codesOf(response).length > 0 && !known.has(response['description']))
    .map(([status, response]) => `${status} ${codesOf(response).map(code).join(', ')}`)
  return refusals.length === 0 ? '' : `Refusals: ${refusals.join('; ')}.`
}

function codesOf(response: Json): readonly string[] {
  return (response['x-codes'] ?? []) as string[]
}

function typeOf({ type, enum: choices, items }: Json): string {
  if (Array.isArray(choices)) return choices.map((each) => code(String(each))).join(', ')
  if (type === undefined) return 'any'
  if (type === 'array' && isObject(items)) return `array of ${typeOf(items)}`
  return [type].flat().join(' or ')
}

/** What the document says of a value, else between which limits it is. */
function saying({ description, schema }: { description?: unknown; schema: Json }): string {
  const words = description ?? schema['description'] ?? schema['title'] ?? limitsOf(schema)
  const sentence = String(words).trim().replaceAll(/\s+/g, ' ')
  return sentence === ''
    ? ''
    : `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}${/[.)]$/.test(sentence) ? '' : '.'}`
}

function limitsOf({ minimum, maximum, maxLength, items, maxItems }: Json): string {
  if (isObject(items)) return maxItems === undefined ? '' : `At most ${maxItems} entries`
  if (maxLength !== undefined) return `At most ${maxLength} characters`
  if (minimum === undefined) return ''
  return maximum === undefined ? `At least ${minimum}` : `${minimum} to ${maximum}`
}

function needOf(required: boolean | undefined): string {
  return required === true ? 'required' : 'optional'
}

function code(text: string): string {
  return `\`${text}\``
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [head, head.map(() => '---'), ...rows].map(line).join('\n')
}

/** The call of a step itself, with the parameters of its path. */
export function callOf(
  { path: values = {}, query, body }: Step,
  { method, path }: Pick<Described, 'method' | 'path'>,
): Call {
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => values[name] ?? ACCOUNT)
  return { plane: 'admin', method, path: query === undefined ? filled : `${filled}?${query}`, body }
}

/** The call as a command of the shell. */
function writeCall({ plane, method, path, body, keeps }: Call, { filter, streams }: Step): string {
  // The shell puts in the value of a variable only outside of the quotes.
  const json = body === undefined ? [] : ['-H "$JSON" -d', `'${writeJson(body).replace('$REQUEST_ID', "'$&'")}'`]
  const usual = body === undefined ? 'GET' : 'POST'
  const url = `${plane === 'admin' ? '$ADMIN' : '$API'}${path}`
  const words = [
    'curl',
    ...(keeps === undefined ? [] : ['-s -o body.json -w', "'%header{x-request-id}'"]),
    ...(streams === true && plane === 'admin' ? ['-N'] : []),
    ...(plane === 'service' ? ['-H', `'Authorization: Bearer ${KEY}'`] : []),
    ...(method === usual ? [] : ['-X', method]),
    ...json,
    /[?&]/.test(url) ? `"${url}"` : url,
    ...(filter === undefined || plane === 'service' ? [] : ['|', filter.command]),
  ]
  const line = words.join(' ')
  const command = line.length > WIDTH ? `${words.slice(0, -1).join(' ')} \\\n     ${words.at(-1)}` : line
  return keeps === undefined ? command : `${keeps}=$(${command})`
}

/** JSON in one line, as a person writes it. */
export function writeJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeJson).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}: ${writeJson(field)}`)
  return `{${fields.join(', ')}}`
}

/** An answer, shortened so that a reader sees where: of a list, one object or four other values; of a text, one line. */
function write(value: unknown, indent: number, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 140 ? `${value.slice(0, 139)}…` : value)
  if (!Array.isArray(value) && !isObject(value)) return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (depth === 0 && JSON.stringify(value).length > 60) return `${open}…${close}`
  const inside = indent + 2
  const parts = Array.isArray(value)
    ? writeItems(value, inside, depth - 1)
    : Object.entries(value).map(
        ([name, field]) =>
          `${JSON.stringify(name)}: ${VARYING.has(name) ? '…' : write(field, inside, Math.max(0, depth - 1))}`,
      )
  const line = `${open}${parts.join(', ')}${close}`
  if (!line.includes('\n') && line.length + indent <= WIDTH - 20) return line
  const margin = ' '.repeat(inside)
  return `${open}\n${parts.map((part) => margin + part).join(',\n')}\n${' '.repeat(indent)}${close}`
}

function writeItems(items: readonly unknown[], indent: number, depth: number): string[] {
  const shown = items.slice(0, items.some(isObject) ? 1 : 4).map((each) => write(each, indent, Math.max(0, depth)))
  return shown.length < items.length ? [...shown, '…'] : shown
}
