import { judge } from '../behaviour/judge.ts'
import type { ConformingRequest, ServiceContract } from '../behaviour/operation.ts'
import { Rehearsal } from '../behaviour/rehearsal.ts'
import type { Operation } from '../contract/api.ts'
import { tooLarge } from '../contract/body.ts'
import type { AccountState } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { nearestName } from '../ground/edit-distance.ts'
import type { Json } from '../ground/json.ts'
import { firstValues, type Parameters } from '../ground/target.ts'
import { correctBody } from './body-correction.ts'
import { BodyDraft } from './body-draft.ts'
import { type RecoveredBody, recoverBody } from './body-recovery.ts'
import { correctQuery } from './query-correction.ts'

/** A query and a body that the operation accepts. */
export interface AcceptedContent {
  rehearsal: Rehearsal
  parameters: Parameters
  /** Empty if the operation reads no body. */
  body: Json
  changes: readonly string[]
}

interface RequestDraft {
  operation: Operation
  parameters: Parameters
  /** The segment after the path of the operation. */
  rest: string | undefined
  headers: Readonly<Record<string, string>>
  body: Buffer | undefined
}

/** This is more than any request needs. Each pass corrects one kind of problem. */
const PASSES = 24

/** The query and the body, with as much as possible of the sent ones; `undefined` if they cannot be corrected. */
export function correctContent(
  sent: RequestDraft,
  account: AccountState,
  contract: ServiceContract,
): AcceptedContent | undefined {
  const { operation, parameters: given, rest } = sent
  const rehearsal = new Rehearsal(contract, account, undefined, { spares: true })
  const recovered = bodyIn(sent, contract.settings)
  const clues = [rest, recovered.body?.['id']].filter((clue): clue is string => typeof clue === 'string')
  const { parameters, changes } = correctQuery(given, clues, operation, rehearsal)
  const query = firstValues(parameters)
  const draft = new BodyDraft(recovered.body ?? {})

  for (let pass = 0; pass < PASSES; pass++) {
    const { body } = draft
    const problems = findProblems({ operation, query, body }, rehearsal)
    if (problems.length === 0) {
      return { rehearsal, parameters, body, changes: [...recovered.changes, ...changes, ...draft.changes] }
    }
    if (!correctBody(draft, problems, { operation, query, rehearsal })) return undefined
  }
  return undefined
}

/** The reasons for which the service would refuse the request. */
function findProblems(
  { operation, query, body }: ConformingRequest,
  { contract, state, now }: Rehearsal,
): readonly Problem<string>[] {
  const { bodyLimit } = contract.settings
  const received = { operation, query, body: operation.readsBody ? { ok: true as const, value: body } : undefined }
  const judgement = judge(received, state, contract, now)
  if (!judgement.ok) return judgement.problems
  return Buffer.byteLength(JSON.stringify(body)) > bodyLimit ? [tooLarge(bodyLimit)] : []
}

/**
 * The query and the body of an example, without any sent content. @throws Error if the example is refused, which is a
 * bug.
 */
export function exampleContent(
  operation: Operation,
  account: AccountState,
  contract: ServiceContract,
): AcceptedContent {
  const headers = { 'content-type': 'application/json' }
  const empty = operation.readsBody ? Buffer.from('{}') : undefined
  const sent = { operation, parameters: [], rest: undefined, headers, body: empty }
  const example = correctContent(sent, account, contract)
  if (example === undefined) throw new Error(`${operation.id} refuses the example of a request.`)
  return { ...example, changes: ['The request is an example, because too little of what was sent could be kept.'] }
}

function bodyIn({ operation, parameters, rest, headers, body }: RequestDraft, settings: Settings): RecoveredBody {
  const hasBytes = body !== undefined && body.length > 0
  if (!operation.readsBody) {
    return { body: undefined, changes: hasBytes ? ['The body was left out, because none is read.'] : [] }
  }
  const domains = hasBytes ? [] : domainsIn(parameters, rest, operation)
  if (domains.length > 0) return { body: { domains }, changes: ['The body names what stood in the target.'] }
  return recoverBody(body, headers, operation, settings)
}

/** Domains in the query or in the path. Clients that cannot send a body with DELETE put them there. */
function domainsIn(parameters: Parameters, rest: string | undefined, { bodySchema }: Operation): string[] {
  const required = (bodySchema?.['required'] ?? []) as string[]
  if (!required.includes('domains')) return []
  const named = parameters.filter(([name]) => nearestName(name, ['domains']) !== undefined).map(([, value]) => value)
  return [...(rest === undefined ? [] : [rest]), ...named]
}
