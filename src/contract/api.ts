import type { Problem } from '../domain/errors.ts'
import type { Quota } from '../domain/quotas.ts'
import { type Json, pointTo } from '../ground/json.ts'
import type { Violation } from '../ground/schema.ts'
import type { Catalogue } from './catalogue.ts'
import type { ApiDocument } from './document.ts'
import type { Rule } from './rules.ts'

/** Writes a value as JSON. */
export type Writer = (value: unknown) => string

/** An OpenAPI document whose operations have compiled validators. */
export interface Api {
  document: ApiDocument
  /** The path of the server URL, such as `/api/v1`. The paths of all operations are relative to it. */
  basePath: string
  catalogue: Catalogue
  operations: readonly Operation[]
  /** Relative to the base path: by path, then by method in upper case. */
  routes: ReadonlyMap<string, ReadonlyMap<string, Operation>>
  /** Checks the envelope of a refusal that belongs to no operation. */
  checkFailure(body: unknown): readonly Violation[]
}

export interface Operation {
  id: string
  /** In upper case. */
  method: string
  path: string
  quota: Quota | undefined
  /** The rules of its security schemes, then those of its path, then its own. */
  rules: readonly Rule[]
  readsBody: boolean
  /** Whether the body of a request is optional. */
  bodyOptional: boolean
  /** The schema of the body without references; absent if no body is read. */
  bodySchema: Json | undefined
  /** All problems of a query. An undeclared parameter is not a problem here. */
  checkQuery(query: Json): readonly Problem<string>[]
  /** The schemas of its query parameters without references, by name. */
  parameters: ReadonlyMap<string, Json>
  /** The problems of a body. If there are very many, some are left out, but each kind of problem occurs. */
  checkBody(body: unknown): readonly Problem<string>[]
  success: ResponseContract
  /** By status. */
  responses: ReadonlyMap<number, ResponseContract>
}

/** The document's description of one response of an operation. */
export interface ResponseContract {
  status: number
  /** The possible error codes; empty for a success. */
  codes: ReadonlySet<string>
  /** The `default`s in the schema of `data`, for fields that the operation does not set. */
  defaults: Json | undefined
  /** The only fields of `data`, if the specification leaves them open: others of the operation are left out. */
  fields: ReadonlySet<string> | undefined
  /** The headers with a fixed value in the document. */
  constantHeaders: Readonly<Record<string, string>>
  retryAfter: boolean
  /** Whether it has the quota headers. */
  showsQuota: boolean
  /** The schema of the body without references. */
  schema: Json
  check(body: unknown): readonly Violation[]
  /** The declared header fields. A service may send others. */
  headers: Readonly<Record<string, { required?: boolean; schema: Json }>>
  write: Writer
  /** Writes the value of `data` alone. */
  writeData: Writer
}

/** The operation with an id. */
export function operationOf({ operations }: Pick<Api, 'operations'>, id: string | undefined): Operation | undefined {
  return id === undefined ? undefined : operations.find((each) => each.id === id)
}

/** The error codes that the contract permits these operations to answer with. */
export function codesOf(operations: readonly Operation[]): Set<string> {
  return new Set(operations.flatMap(({ responses }) => [...responses.values()].flatMap(({ codes }) => [...codes])))
}

/** Whether the contract permits an operation to answer with a code. */
export function answersWith({ responses }: Operation, code: string): boolean {
  for (const { codes } of responses.values()) if (codes.has(code)) return true
  return false
}

/** The longest quota window of the operations, in seconds. */
export function longestWindow({ operations }: Pick<Api, 'operations'>): number {
  return Math.max(0, ...operations.map(({ quota }) => quota?.window ?? 0))
}

/** JSON pointer to an operation of the document. The method may be in upper case. */
export function pointerOf({ path, method }: Pick<Operation, 'path' | 'method'>): string {
  return pointTo(pointTo('/paths', path), method.toLowerCase())
}
