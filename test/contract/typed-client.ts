// What somebody writes for a client with the types that openapi-typescript makes of both documents. It is checked by a
// test, in a folder with these types, and never run. Each `@ts-expect-error` says what the types must not allow.

import tolerantDocument from 'dmarc-understudy/openapi.tolerant.yaml'
import document from 'dmarc-understudy/openapi.yaml'
import type { components, operations } from './strict.ts'
import type { components as tolerantComponents, operations as tolerantOperations } from './tolerant.ts'

type Schemas = components['schemas']
type TolerantSchemas = tolerantComponents['schemas']
type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never
type AnswerOf<Operation extends keyof operations> = JsonOf<
  operations[Operation]['responses'][keyof operations[Operation]['responses']]
>
type TolerantAnswerOf<Operation extends keyof tolerantOperations> = JsonOf<
  tolerantOperations[Operation]['responses'][keyof tolerantOperations[Operation]['responses']]
>

export const documents: readonly unknown[] = [document, tolerantDocument]

export async function ask<Operation extends keyof operations>(path: string): Promise<AnswerOf<Operation>> {
  const response = await fetch(new URL(path, 'http://127.0.0.1:4010'))
  return (await response.json()) as AnswerOf<Operation>
}

export async function listPolicies(): Promise<Schemas['Policy'][]> {
  const answer = await ask<'listDmarc'>('/api/v1/dmarc')
  // @ts-expect-error A refusal has no data.
  answer.data
  // `success` tells a refusal from the records.
  if (!answer.success) throw new Error(codeOf(answer))
  return answer.data.map(({ p }) => p)
}

export function codeOf({ error }: Schemas['Failure']): Schemas['ErrorCode'] {
  return error.code
}

export async function readGroups(): Promise<Schemas['DomainGroup'][]> {
  const answer = await ask<'listDomainGroups'>('/api/v1/domaingroups')
  if (!answer.success) return []
  return 'groups' in answer.data ? answer.data.groups : [answer.data.group]
}

/** A list of domains is an array and no set. */
export const domains: Schemas['Domains'] = ['example.com', 'example.com']
export const query: operations['updateDomainGroup']['parameters']['query'] = { id: '4fTq81Zb' }
export const all: operations['listDomainGroups']['parameters']['query'] = {}
export const changes: Schemas['DomainGroupChanges'][] = [{ name: 'Campaigns' }, { add_domains: ['example.com'] }]

// @ts-expect-error There are three policies.
export const closed: Schemas['Policy'] = 'monitor'
// @ts-expect-error null is no name.
export const unnamed: Schemas['DomainGroupChanges'] = { name: null }
// @ts-expect-error Without an id it is unknown which group is meant.
export const anyGroup: operations['deleteDomainGroup']['parameters']['query'] = {}

/** A value, a status and a missing field that the service may have one day. */
export const open: TolerantSchemas['Policy'] = 'monitor'
export const laterCode: TolerantSchemas['ErrorCode'] = 'too_many_groups'
export const share = ({ pct = 100 }: TolerantSchemas['DmarcRecord']): number => pct
export type LaterRefusal = JsonOf<tolerantOperations['addDomains']['responses']['default']>
export function readLater(answer: TolerantAnswerOf<'addDomains'> | LaterRefusal): string {
  return answer.success ? answer.data.message : answer.error.code
}
