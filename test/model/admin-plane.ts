import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { ADMIN_CODES } from '../../src/admin/codes.ts'
import type { Api } from '../../src/contract/api.ts'
import { compileApi } from '../../src/contract/api-compiler.ts'
import { readDocument, resolveDocument } from '../../src/contract/document.ts'
import { compilerFor } from '../../src/contract/schema-compiler.ts'
import { type Received, sendRequest } from '../support/request.ts'
import type { Account } from './account.ts'
import type { Real } from './exchange.ts'
import type { Model } from './model.ts'

const DOCUMENT = fileURLToPath(new URL('../../src/admin/openapi.yaml', import.meta.url))
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/
const DURATION = /^P(\d+[DW])?(T(\d+H)?(\d+M)?(\d+S)?)?$/

let api: Promise<Api> | undefined

/** The control plane's document, validated anew, which the server does not do. */
function loadDocument(): Promise<Api> {
  api ??= readDocument({ path: DOCUMENT, codes: ADMIN_CODES, validated: false })
    .then((text) => resolveDocument(text))
    .then(async (document) =>
      compileApi(document, await compilerFor(document, { 'date-time': INSTANT, duration: DURATION })),
    )
  return api
}

/** Asks the control plane for an operation of its document and holds the answer to it. */
export async function ask(
  operationId: string,
  parameters: Readonly<Record<string, string>>,
  body: unknown,
  { service }: Real,
): Promise<Received> {
  const { operations } = await loadDocument()
  const operation = operations.find(({ id }) => id === operationId)
  if (operation === undefined) throw new Error(`The control plane has no operation ${operationId}.`)
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(parameters[name] ?? ''))
  const answer = await sendRequest(operation.method, `${new URL(service.baseUrl).origin}/__admin${path}`, body)
  const departures = operation.responses.get(answer.status)?.check(answer.body)
  if (departures?.length === 0) return answer
  expect.fail(
    `${operation.method} ${path} → ${answer.status} ${answer.text.slice(0, 300)} ${JSON.stringify(departures)}`,
  )
}

/** Asks for the ids of groups that were created without an answer that tells them. */
export async function learnGroups(account: Account | undefined, model: Model, real: Real): Promise<void> {
  if (account?.groups.some(({ id }) => id === '') !== true) return
  const { body } = await ask('exportState', { account: account.id }, undefined, real)
  const groups: { id: string; name: string }[] = body.data.groups
  expect(groups.map(({ name }) => name)).toEqual(account.groups.map(({ name }) => name))
  for (const [index, group] of account.groups.entries()) {
    if (group.id === '') account.nameGroup(group, groups[index]?.id ?? '', model.groupIds)
  }
}
