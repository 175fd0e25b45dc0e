import type { Block, Finding, ReportedRequest } from './report.ts'

/** The name of openapi.yaml in a report. */
export const CONTRACT_FILE = 'openapi.yaml'

/** `POST /domains → 400 unknown_field` */
export function describeRequest({ method, path, status, code }: ReportedRequest): string {
  const answer = [status, code].filter((each) => each !== undefined).join(' ')
  return `${method} ${path}${answer === '' ? '' : ` → ${answer}`}`
}

/** `openapi.yaml:512`; `undefined` for a finding without a pointer. */
export function describePlace({ pointer }: Finding, lineOf: (pointer: string) => number): string | undefined {
  return pointer === undefined ? undefined : `${CONTRACT_FILE}:${lineOf(pointer)}`
}

/** The properties of a finding except its message, as pairs of name and value. */
export function factsOf(finding: Finding, lineOf: (pointer: string) => number): [name: string, value: string][] {
  const { request, pointer, occurrences = 1 } = finding
  const facts: [name: string, value: string | undefined][] = [
    ['Request', request && describeRequest(request)],
    ['Operation', request?.operation],
    ['Contract', pointer === undefined ? undefined : `${describePlace(finding, lineOf)} (${pointer})`],
    ['Request id', request?.requestId],
    ['Account', request?.account],
    ['Seen', occurrences > 1 ? `${occurrences} times` : undefined],
  ]
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
}

/** A finding as several lines of plain text: the message, the facts, the details, the remedy. */
export function describeFinding(finding: Finding, lineOf: (pointer: string) => number): string {
  const { message, request, details = [], remedy } = finding
  const body = request?.body === undefined ? [] : [`Body:\n${indent(request.body)}`]
  return [
    message,
    factsOf(finding, lineOf)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    ...body,
    ...details.map(describeBlock),
    ...(remedy === undefined ? [] : [[remedy.text, ...(remedy.command ? [indent(remedy.command)] : [])].join('\n')]),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

export const EXPECTED_AND_RECEIVED = ['Expected', 'Received'] as const

function describeBlock(block: Block): string {
  switch (block.kind) {
    case 'text':
      return block.text
    case 'list':
      return block.items.map((item) => `- ${item}`).join('\n')
    case 'code':
      return `${block.title === undefined ? '' : `${block.title}:\n`}${indent(block.text)}`
    case 'comparison': {
      const [expected, received] = block.titles ?? EXPECTED_AND_RECEIVED
      return `${expected}:\n${indent(block.expected)}\n${received}:\n${indent(block.received)}`
    }
    case 'table':
      return [block.columns, ...block.rows].map((row) => row.join(' | ')).join('\n')
  }
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ')
}
