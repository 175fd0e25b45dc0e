import { isObject, type Json, valueAt } from '../ground/json.ts'

/** An operation of the control plane's document, without references. */
export interface ControlOperation {
  id: string
  /** In lower case. */
  method: string
  path: string
  content: Json
}

/** The operations of a document without references. */
export function operationsOf(document: Json): ControlOperation[] {
  const paths = isObject(document['paths']) ? document['paths'] : {}
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(isObject(methods) ? methods : {}).flatMap(([method, content]) =>
      isObject(content) && typeof content['operationId'] === 'string'
        ? [{ id: content['operationId'], method, path, content }]
        : [],
    ),
  )
}

const POLLED = 'It is for a program that asks all the time; any tool says whether the server answers.'
const FIGURES = 'It explains figures to a person, and the dashboard shows it.'
const GAPS = 'list_coverage_gaps reads it in pages, because the whole is too long for an assistant.'

/** The operations that answer with JSON and are no tools, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  getHealth: POLLED,
  getReadiness: POLLED,
  getDocument: 'It is the resource src/admin/openapi.yaml.',
  getCoverage: GAPS,
  getOverallCoverage: GAPS,
  listScenes: 'The dashboard plays the story of a demonstration.',
  getOverview: FIGURES,
  getGroupOverview: FIGURES,
}

/**
 * Why an operation is no tool; `undefined` if it is one. An operation is a tool if it answers with JSON, unless
 * `LEFT_OUT` names it. An operation that a later version of the document adds is so a tool at once.
 */
export function whyLeftOut({ id, content }: ControlOperation): string | undefined {
  if (Object.hasOwn(LEFT_OUT, id)) return LEFT_OUT[id]
  const types = Object.entries(isObject(content['responses']) ? content['responses'] : {})
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, response]) => Object.keys((valueAt(response, '/content') ?? {}) as Json))
  const other = types.find((type) => type !== 'application/json')
  return other === undefined ? undefined : `It answers with ${other}, and a tool answers with JSON.`
}
