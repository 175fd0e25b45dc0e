import { withoutNulls } from '../behaviour/conformity.ts'
import { type Permitted, same } from '../choices/permitted.ts'
import { type Operation, pointerOf } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { PlacedViolation } from '../contract/joined-schemas.ts'
import type { Problem } from '../domain/errors.ts'
import { type NameSettings, nameProblems, storedName } from '../domain/group-names.ts'
import type { Settings } from '../domain/settings.ts'
import type { SeenRequest } from '../exchanges/exchange.ts'
import { combinationsOf } from '../ground/combinations.ts'
import { isObject, type Json, pointTo, writeJson } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { type BodySettings, createBodyReader } from '../http/body.ts'
import { createDecoder, USUAL_TYPE } from '../http/charset.ts'
import { createQueryReader, type QuerySettings } from '../http/target.ts'

/** What the document forbids in a request or a response. */
export interface ContractProblem {
  /** What is wrong, as the end of an id: `request/domains/*\/format`. */
  what: string
  /** JSON pointer into openapi.yaml. */
  place: string
  /** A sentence without its subject, which is the request or the response. */
  reason: string
}

/** Problems of the query and the body that no combination of alternatives permits. */
export function findInvalidInput(
  { headers, body }: Pick<SeenRequest, 'headers' | 'body'>,
  query: string | undefined,
  operation: Operation,
  permitted: Permitted,
): ContractProblem[] {
  const problems = findInQuery(query, operation, permitted)
  if (!body.isKnown || !operation.readsBody) return problems
  return [...problems, ...findInBody(body.bytes, headers, operation, permitted)]
}

/** How requests are read under each combination of alternatives, ours first. It is made once for each document. */
interface Readers {
  queries: readonly ReturnType<typeof createQueryReader>[]
  bodies: readonly ((bytes: Buffer, headers: SeenFields, operation: Operation) => ParsedBody)[]
  names: readonly NameSettings[]
  dropsNulls: boolean
  /** Whether every contract refuses a parameter that it does not declare. */
  refusesUnknown: boolean
}

type SeenFields = SeenRequest['headers']
type ParsedBody = { ok: true; value: unknown } | { ok: false; problem: Problem<string> }

const readersFor = memoizeWeakly((permitted: Permitted): Readers => {
  const { contracts } = permitted
  const bodyLimit = Math.max(...contracts.map(({ settings }) => settings.bodyLimit))
  return {
    queries: combine<QuerySettings>(contracts, ['emptyParameters', 'repeatedParameters']).map(createQueryReader),
    bodies: combine<BodySettings>(contracts, [
      ...(['contentType', 'requestCharset', 'byteOrderMark', 'duplicateFields'] as const),
    ]).map((settings) => readerFor({ ...permitted.contract.settings, ...settings, bodyLimit })),
    names: combine<NameSettings>(contracts, [
      ...(['spaceAroundNames', 'controlCharacters', 'loneSurrogates', 'invisibleInNames', 'nameLengthUnit'] as const),
    ]),
    dropsNulls: contracts.some(({ settings }) => settings.nullFields === 'absent'),
    refusesUnknown: contracts.every(({ settings }) => settings.unknownQueryParameters === 'refused'),
  }
})

function findInQuery(text: string | undefined, operation: Operation, permitted: Permitted): ContractProblem[] {
  const { contracts } = permitted
  const { queries: readers, refusesUnknown } = readersFor(permitted)
  const [readOurs, ...others] = readers
  const query = readOurs?.(text) ?? {}
  const problems = operation.checkQuery(query)
  if (problems.length === 0 && !refusesUnknown) return []
  const queries = problems.length === 0 ? [] : [query, ...others.map((read) => read(text))]
  const isPermitted = (problem: Problem<string>) =>
    contracts.some((contract) =>
      queries.some((each) => {
        const found = (same(contract, operation) ?? operation).checkQuery(each)
        return found.every(({ field, reason }) => field !== problem.field || reason !== problem.reason)
      }),
    )
  const unknown = refusesUnknown ? Object.keys(query).filter((name) => !operation.parameters.has(name)) : []
  return [
    ...problems.filter((problem) => !isPermitted(problem)),
    ...unknown.map((field): Problem<string> => ({ code: 'unknown_field', reason: 'query', field })),
  ].map((problem) => ({
    what: `request/query/${problem.field || 'parameter'}/${problem.reason ?? problem.code}`,
    place: `${pointerOf(operation)}/parameters`,
    reason: `is refused: ${permitted.contract.catalogue.answer(problem).message}`,
  }))
}

function findInBody(bytes: Buffer, headers: SeenFields, operation: Operation, permitted: Permitted): ContractProblem[] {
  const values = new Set<string>()
  let unread: Problem<string> | undefined
  let fewest: ContractProblem[] | undefined
  for (const read of readersFor(permitted).bodies) {
    const body = read(bytes, headers, operation)
    if (!body.ok) {
      unread ??= body.problem
      continue
    }
    const text = fewest === undefined ? undefined : writeJson(body.value)
    if (text !== undefined && values.has(text)) continue
    const problems = findInValue(body.value, operation, permitted)
    if (problems.length === 0) return []
    const judged = text ?? writeJson(body.value)
    if (judged !== undefined) values.add(judged)
    if (fewest === undefined || problems.length < fewest.length) fewest = problems
  }
  if (fewest !== undefined) return fewest
  const problem = unread ?? { code: 'invalid_request_body' }
  return [
    {
      what: `request/body/${problem.reason ?? problem.code}`,
      place: `${pointerOf(operation)}/requestBody`,
      reason: `has a body that cannot be read: ${permitted.contract.catalogue.answer(problem).message}`,
    },
  ]
}

function readerFor(settings: BodySettings): Readers['bodies'][number] {
  const reader = createBodyReader(settings)
  const decode = createDecoder(settings)
  return (bytes, headers, operation) => {
    const type = headers['content-type']
    const fields = { 'content-type': type, 'content-encoding': headers['content-encoding'] }
    // A problem of the media type or the size does not depend on the text. A usual body has none.
    const isUsual =
      type === USUAL_TYPE && fields['content-encoding'] === undefined && bytes.length <= settings.bodyLimit
    const refused = isUsual ? undefined : reader.readText('{}', Math.max(1, bytes.length), fields, operation)
    if (refused !== undefined && !refused.ok) return { ok: false, problem: refused.problems[0] }
    const text = decode(bytes, type)
    if (text === undefined) return { ok: false, problem: { code: 'invalid_json' } }
    const read = reader.readText(text, bytes.length, fields, operation)
    if (read === undefined) return { ok: true, value: {} }
    return read.ok ? { ok: true, value: read.value } : { ok: false, problem: read.problems[0] }
  }
}

/** The problems of a JSON body under the combination of alternatives that reports the fewest. */
function findInValue(sent: unknown, operation: Operation, permitted: Permitted): ContractProblem[] {
  const { names, dropsNulls } = readersFor(permitted)
  const hasNulls = isObject(sent) && Object.values(sent).includes(null)
  const values = dropsNulls && hasNulls ? [sent, withoutNulls(sent)] : [sent]
  let fewest: ContractProblem[] | undefined
  for (const value of values) {
    for (const named of namedIn(value, names, permitted.contract.nameLimit)) {
      const problems = permitted
        .checkBody(operation)(named.value)
        .map((each) => inBody('request/body', each))
      if (named.problem !== undefined) problems.push(named.problem)
      if (problems.length === 0) return []
      if (fewest === undefined || problems.length < fewest.length) fewest = problems
    }
  }
  return fewest ?? []
}

/** The body with each name that the service may store for the group. */
function namedIn(
  value: unknown,
  allSettings: readonly NameSettings[],
  limit: number,
): { value: unknown; problem?: ContractProblem }[] {
  const sent = isObject(value) && Object.hasOwn(value, 'name') ? value['name'] : undefined
  if (typeof sent !== 'string') return [{ value }]
  const names = new Map<string, ContractProblem | undefined>()
  for (const settings of allSettings) {
    const name = storedName(sent, settings)
    const [problem] = nameProblems(name, settings, limit)
    if (names.has(name) && (problem !== undefined || names.get(name) === undefined)) continue
    names.set(
      name,
      problem && {
        what: `request/body/name/${problem.reason}`,
        place: '/components/schemas/DomainGroupName',
        reason: 'has a `name` that no group can have.',
      },
    )
  }
  return [...names].map(([name, problem]) => ({ value: { ...(value as Json), name }, ...(problem && { problem }) }))
}

/** A violation in a body. `where` is the beginning of the id: `request/body`. */
export function inBody(where: string, { pointer, keyword, reason, place }: PlacedViolation): ContractProblem {
  const field = pointer === '' ? 'its body' : `\`${pointer}\` of its body`
  return { what: whatIsWrong(where, pointer, keyword), place, reason: `breaks the schema: ${field} ${reason}.` }
}

/** The id has no list indexes: the same mistake at another index is the same mistake. */
export function whatIsWrong(where: string, pointer: string, keyword: string): string {
  return pointTo(where + pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*'), keyword)
}

/** Every combination of the values that these settings have in the contracts. The first is that of our contract. */
function combine<Some extends Partial<Settings>>(
  contracts: readonly Contract[],
  names: readonly (keyof Some & keyof Settings)[],
): Some[] {
  const values = names.map((name) => [...new Set(contracts.map(({ settings }) => settings[name]))])
  return combinationsOf<unknown>(values).map(
    (chosen) => Object.fromEntries(chosen.map((value, index) => [names[index], value])) as Some,
  )
}
