import { OrderedMap } from 'immutable'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { OperationId } from '../behaviour/operations/operations.ts'
import type { PlannedRequest } from '../behaviour/planned-request.ts'
import { type Operation, operationOf, pointerOf } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { Open } from '../contract/names.ts'
import { isRefusedBy } from '../contract/rules.ts'
import { bodyText, type ServerUrls, writeCurl } from '../coverage/curl.ts'
import { RuleEvidence } from '../coverage/evidence.ts'
import { observationOf } from '../coverage/observation.ts'
import type { AccountState, MonitoredDomain } from '../domain/account.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { Fixture, FixtureDomain } from '../domain/fixture.ts'
import { readJson, valueAt } from '../ground/json.ts'
import { queryOf, readQuery } from '../ground/target.ts'
import { describeEntry, describeQuota, type ProblemReport, type RequestReport } from '../journal/description.ts'
import { bytesOf, type Entry, fieldOf, isUnread, textOf } from '../journal/entry.ts'
import { type Redact, withoutBrackets } from '../journal/redaction/redaction.ts'
import { isUnbidden } from '../journal/unbidden.ts'
import { type ChangesReport, describeChanges, type FoundChanges } from './changes.ts'
import { correctRequest, type RefusedRequest } from './correction.ts'
import { describeCredentials } from './credentials.ts'
import { decisiveSettings } from './decisive-settings.ts'
import { describeForeignHost, foreignHostOf } from './foreign-host.ts'
import { findJsonPosition, type JsonPosition } from './json-position.ts'
import { pageAddress } from './page-address.ts'
import { describeReceived } from './received-value.ts'
import { type ReproductionReport, reproduce } from './reproduction.ts'
import { partFor } from './set-up.ts'

/** All causes of one response. The control plane's document describes every field. */
export interface ExplanationReport extends ChangesReport, ReproductionReport {
  request_id: string
  account: string | null
  operation: Open<OperationId> | null
  status: number | null
  code: Open<ErrorCode> | null
  summary: string
  documented: boolean
  assumptions: { id: string; spec: string }[]
  rules: { id: string; says: string }[]
  problems: ProblemReport[]
  /** The place at which the body is no JSON. */
  position: JsonPosition | null
  quota: RequestReport['quota']
  clock: string
  fault: RequestReport['fault']
  failure: string | null
  correction: {
    changes: string[]
    before: string[]
    curl: string
    /** The corrected request in the form of the received one. */
    request: { method: string; path: string; body: string | null }
    requests: object[]
  } | null
  /** The address of the request in the dashboard. */
  page: string | null
  exchange: RequestReport
}

/** The account as a request found it, and its changes by the request. */
export interface KnownPast {
  /** The account just before the request; absent if it is not kept or not needed. */
  state: AccountState | undefined
  changes: FoundChanges
}

export interface ExplanationSource {
  /** The present account. */
  account: AccountState
  contract: ServiceContract
  urls: ServerUrls
  /** Hides the secrets of the server in what the state of the account says. The entry has no secrets. */
  redact: Redact
  /** A key of the account that is not secret, if it has one. */
  publicKey: string | undefined
  past: KnownPast
  /** Writes an account, or a part of it, in the form of a fixture. */
  writeState(state: AccountState): Fixture
  writeDomain(domain: MonitoredDomain): FixtureDomain
}

/** Finds all causes of the response to a request. */
export function explainEntry(entry: Entry, source: ExplanationSource): ExplanationReport {
  const { account, contract, urls, redact, publicKey, past, writeState, writeDomain } = source
  const problems = entry.problems.map((each) => describeReceived(each, entry.body, contract.catalogue))
  const isNoJson = entry.problems.some(({ code }) => code === 'invalid_json')
  const position = isNoJson ? findJsonPosition(entry.body) : undefined
  const assumptions = assumptionsBehind(entry, source)
  const refused = entry.code !== undefined && entry.code !== 'internal_error' && !entry.injected && !isOfBrowser(entry)
  // A fault may have hidden from the client the error in its request.
  const correctable = refused || entry.violatesContract
  const described = describeEntry(entry, contract.catalogue)
  return {
    request_id: entry.requestId,
    account: entry.account ?? null,
    operation: entry.operation ?? null,
    status: entry.status ?? null,
    code: entry.code ?? null,
    summary: summarise(entry, problems, position, source),
    documented:
      entry.status !== undefined && entry.operation !== undefined && assumptions.length === 0 && !entry.injected,
    assumptions,
    rules: rulesBehind(entry, contract),
    problems,
    position: position ?? null,
    quota: describeQuota(entry.allowance),
    clock: described.at,
    fault: described.fault,
    failure: entry.failure ?? null,
    correction: correctable ? correct(entry, source) : null,
    ...describeChanges(past.changes, writeDomain, redact),
    ...reproduce(entry, { state: past.state, present: account, contract, redact, writeState }, urls, publicKey),
    page: pageAddress(entry.requestId, entry.account, urls) ?? null,
    exchange: { ...described, problems },
  }
}

function correct(
  entry: Entry,
  { account, contract, urls, publicKey }: ExplanationSource,
): ExplanationReport['correction'] {
  const correction = correctRequest(received(entry), problemsOf(entry, account), account, contract)
  const before = correction.before.map(forUrl)
  const request = forUrl(correction.request)
  const { method, path, body } = request
  return {
    changes: [...correction.changes],
    before: before.map((each) => writeCurl(each, urls, publicKey)),
    curl: writeCurl(request, urls, publicKey),
    request: { method, path: contract.basePath + path, body: bodyText(body) ?? null },
    requests: [...before, request],
  }
}

/** The problems of a request. Of one with a foreign Host, the key was not checked. */
function problemsOf(entry: Entry, { keys }: AccountState): Entry['problems'] {
  const isValid = keys.some(({ id, disabled }) => id === entry.key && !disabled)
  return foreignHostOf(entry) === undefined || isValid ? entry.problems : [...entry.problems, { code: 'unauthorized' }]
}

/** What stands for a secret must not be a pattern of curl. */
function forUrl(request: PlannedRequest): PlannedRequest {
  return { ...request, path: withoutBrackets(request.path) }
}

/** The request from the journal. If a long body was cut, the correction uses its beginning. */
function received({ method, target, headers, body }: Entry): RefusedRequest {
  const fields: Record<string, string> = {}
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] ?? '').toLowerCase()
    if (name !== 'authorization' && name !== '__proto__') fields[name] = headers[index + 1] ?? ''
  }
  return { method, target, headers: fields, body: body === undefined || isUnread(body) ? undefined : bytesOf(body) }
}

/** The exchange, in one or two sentences. */
function summarise(
  entry: Entry,
  problems: readonly { message: string }[],
  position: JsonPosition | undefined,
  { contract, urls }: ExplanationSource,
): string {
  const { injected, status, code, operation, failure, decided } = entry
  if (injected) return summariseInjected(entry, contract)
  if (failure !== undefined) {
    const [, reason] = /^StoreError: (.*)/.exec(failure) ?? []
    const why = reason === undefined ? '' : ` ${reason}.`
    return `The stand-in itself failed, so the response says nothing about the request.${why}`
  }
  if (status === undefined) {
    const [problem] = problems
    if (decided === undefined && problem !== undefined)
      return `The connection was closed without a response: ${problem.message}`
    if (decided === undefined) return 'The client left before its request was complete, so no response was sent.'
    return `${describeDecision(entry, contract)} The client left before the response was sent.`
  }
  if (code === undefined && operation === undefined)
    return 'A browser asked what pages of another origin may send. That needs no key and costs no quota.'
  if (code === undefined) return `${operation} succeeded.`
  if (isOfBrowser(entry))
    return 'A browser asks for this file by itself. The service has none, and the verdict does not count the request.'
  const [first, ...others] = problems
  const more = others.length === 0 ? '' : others.length === 1 ? ' One more problem' : ` ${others.length} more problems`
  const then = more === '' ? '' : `${more} would remain after this one.`
  const host = foreignHostOf(entry)
  if (host !== undefined) return `Refused with ${code}: ${describeForeignHost(host, urls.baseUrl)}`
  const detail = code === 'unauthorized' ? describeCredentials(entry, contract.settings) : position?.says
  return `Refused with ${code}: ${first?.message ?? ''}${detail === undefined ? '' : ` ${detail}`}${then}`
}

/** Whether it is the 404 for something that a browser has asked for by itself. */
function isOfBrowser({ problems, method, path, headers }: Entry): boolean {
  return (
    problems[0]?.code === 'not_found' && isUnbidden({ method, path, authorization: fieldOf(headers, 'authorization') })
  )
}

function summariseInjected(entry: Entry, contract: Contract): string {
  const { injection, decided, status } = entry
  const effect = injection?.effect ?? `The response ${status ?? ''} replaced that of the service.`
  if (injection?.source === 'prefer')
    return `The header Prefer asked for this response. The service did nothing. ${effect}`
  if (injection?.source === 'simulator')
    return `The name of a domain in the request asked for this failure. The service did nothing. ${effect}`
  const rule = `the fault rule ${injection?.id ?? ''}`
  if (decided === undefined)
    return `The service did nothing, because ${rule} acted before the request was read. ${effect}`
  return `${describeDecision(entry, contract)} Then ${rule} ${status === undefined ? 'dropped' : 'changed'} the response. ${effect}`
}

/** The decision of the service, even if the client got another response or none. */
function describeDecision({ decided, operation }: Entry, contract: Contract): string {
  const what = operation ?? 'The request'
  if (decided?.code !== undefined) return `${what} was refused with ${decided.code}.`
  const { method = 'GET' } = operationOf(contract, operation) ?? {}
  return method !== 'GET' ? `${what} succeeded, and what it changed stays changed.` : `${what} succeeded.`
}

/** The rules that demand the refusal of the request, or that its success shows. */
function rulesBehind(entry: Entry, contract: Contract): { id: string; says: string }[] {
  const { code, problems, injected, status } = entry
  const operation = operationOf(contract, entry.operation)
  if (injected || operation === undefined || status === undefined) return []
  const evidence = evidenceOf(entry, operation, status, contract)
  const behind = operation.rules.filter((rule) => {
    if (rule.unobservable !== undefined || !rule.matches(evidence)) return false
    return code === undefined ? rule.refuses.length === 0 : isRefusedBy(rule, code, problems[0]?.reason)
  })
  return behind.map(({ id, says }) => ({ id, says }))
}

/** The evidence that the journal still has. The number of such requests on that day is unknown. */
function evidenceOf(entry: Entry, operation: Operation, status: number, contract: Contract): RuleEvidence {
  const query = readQuery(queryOf(entry.target))
  const body = operation.readsBody && entry.body !== undefined ? readJson(textOf(entry.body)) : undefined
  return new RuleEvidence(observationOf(entry, status, { operation, query, body, group: entry.group }), contract, 0)
}

/**
 * The assumptions behind the response: those at its code in the catalogue, or at the responses of the operation, and
 * those about the settings on which it rests.
 */
function assumptionsBehind(entry: Entry, source: ExplanationSource): ExplanationReport['assumptions'] {
  const { code, problems, injected, status } = entry
  const { contract } = source
  const operation = operationOf(contract, entry.operation)
  const { document } = contract
  if (injected || status === undefined) return []
  // The catalogue may answer with another code than the one that has the reason.
  const refusal = `/x-errors/${problems[0]?.code ?? code}`
  const given = problems[0]?.reason
  const reason = (valueAt(document.source, `${refusal}/reasons/${given}/as`) as string | undefined) ?? given
  const place = operation && `${pointerOf(operation)}/responses`
  const reasonHasStatus =
    reason !== undefined && valueAt(document.source, `${refusal}/reasons/${reason}/status`) !== undefined
  const ofSuccess = place === undefined ? [] : [place]
  const holders = code === undefined ? ofSuccess : [reasonHasStatus ? `${refusal}/reasons/${reason}` : refusal]
  const settings = decisiveSettings(entry, statesFor(entry, source), contract)
  holders.push(...settings.map((name) => `/x-settings/${name}`))
  return document.extensions
    .filter(({ key, holder }) => key === 'x-assumption' && holders.includes(holder))
    .map(({ value }) => value as { id: string; spec: string })
    .map(({ id, spec }) => ({ id, spec }))
}

/** States of the account that the answer may have come from: what is kept of it, and an account with nothing in it. */
function statesFor(entry: Entry, { account, contract, past }: ExplanationSource): AccountState[] {
  const none = OrderedMap<never, never>()
  const empty = { ...account, domains: none, groups: none, groupNames: none }
  // What the contract always forbids does not depend on the account.
  if (entry.violatesContract) return [empty]
  const state = past.state ?? account
  const { part } = partFor(entry, state, contract)
  return [part, state, empty]
}
