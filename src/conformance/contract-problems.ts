import { type Permitted, same } from '../choices/permitted.ts'
import { type Operation, pointerOf, type ResponseContract } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { type PlacedViolation, Walk } from '../contract/joined-schemas.ts'
import type { SeenBody } from '../exchanges/exchange.ts'
import { lacksBody, type ReadExchange } from '../exchanges/reading.ts'
import { pointTo, readJson, stepsOf } from '../ground/json.ts'
import type { Violation } from '../ground/schema.ts'
import { shorten, show } from '../ground/show.ts'
import { redactKeys } from '../journal/redaction/key-shapes.ts'
import type { JudgedDifference, Label } from '../judge/finding.ts'
import { type ContractProblem, findInvalidInput, inBody, whatIsWrong } from './request-problems.ts'

/**
 * Everything in an exchange that the document forbids under every alternative, whatever the account holds. Each aspect
 * is judged separately, so a service may deviate in several ways at once.
 */
export function findContractProblems(reading: ReadExchange, permitted: Permitted): JudgedDifference[] {
  const failure = findFailure(reading)
  const asked = permitted.operationOf(reading.exchange.request.method, reading.path)
  const sent = findInRequest(reading, asked, permitted).map((problem) => ({
    ...problem,
    reason: `The request ${problem.reason} ${failure?.said ?? whatBecameOf(reading)}`,
  }))
  // A failure is no answer to the request, so the form of the response says nothing. The request is as wrong as ever.
  const problems = failure === undefined ? findInResponse(reading, asked, permitted) : []
  const came = problems.map((problem) => {
    const isOpen = isLeftOpen(problem, reading, permitted)
    return { ...problem, isOpen, reason: `The response ${problem.reason}${isOpen ? ` ${LEFT_OPEN}` : ''}` }
  })
  const findings = new Map<string, JudgedDifference & { more: number }>()
  for (const { what, place, reason, isOpen } of [...sent.map((each) => ({ ...each, isOpen: false })), ...came]) {
    const label = isOpen ? 'another choice' : 'contract violation'
    const id = idOf(label, reading, what)
    const known = findings.get(id)
    if (known !== undefined) known.more++
    else {
      const { line, ...finding } = findingOf(reading, permitted.contract, { label, what, message: reason })
      findings.set(id, { ...finding, pointer: place, line: permitted.lineOf(place), more: 0 })
    }
  }
  const failed = failure === undefined ? [] : [findingOf(reading, permitted.contract, failure.finding)]
  const described = [...findings.values()].map(({ more, ...finding }) => ({
    ...finding,
    message: more === 0 ? finding.message : `${finding.message} The same is wrong at ${more} more of its places.`,
  }))
  return [...failed, ...described]
}

/** What is found if the request was not answered as the specification demands, and what it says of the request. */
function findFailure({
  failed,
  response: { status },
}: ReadExchange): { finding: { label: Label; what: string; message: string }; said: string } | undefined {
  if (failed === 'gateway') {
    const said = `A gateway answered with ${status} in place of the service`
    const message = `${said}, so it is not known what the service has done.`
    return { finding: { label: 'cannot tell', what: 'gateway', message }, said: `${said}.` }
  }
  if (failed !== 'service') return undefined
  const said = `The service failed with ${status}.`
  const message = `${said} The specification names no error for that: each request gets a success or one of its error codes.`
  return { finding: { label: 'unexplained', what: 'failed', message }, said }
}

const LEFT_OPEN = 'The specification leaves that open, and no alternative of openapi.yaml is like it.'

/** Whether the specification leaves open what no alternative permits. */
function isLeftOpen(
  { what, place }: ContractProblem,
  { exchange, outcome, response }: ReadExchange,
  permitted: Permitted,
): boolean {
  const { status } = response
  if (outcome.kind === 'success' && what === 'response/status' && place.endsWith('/responses')) return status < 300
  // Without a body, it is not known which error code comes with a status, and each code can have any.
  if (lacksBody(exchange.request.method, response.body) && what === 'response/status') return status >= 400
  // Rate-limit headers accompany responses; which refusals have them is not shown.
  if (outcome.kind === 'refusal' && /^response\/headers\/x-ratelimit-\w+\/required$/.test(what)) return true
  // The specification shows no status for an error code, but the status of a success is never correct for it.
  return permitted.isOpen(place) && (outcome.kind !== 'refusal' || status >= 400)
}

/** A finding about an exchange. `what` is the end of its id. */
export function findingOf(
  reading: ReadExchange,
  { basePath }: Pick<Contract, 'basePath'>,
  { what, message, ...more }: Partial<JudgedDifference> & { label: Label; what: string; message: string },
): JudgedDifference {
  const { exchange, response, path, query } = reading
  const below = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path
  return {
    id: idOf(more.label, reading, what),
    request_id: exchange.id,
    method: exchange.request.method,
    path: redactKeys(below + (query === undefined ? '' : `?${query}`)),
    status: response.status,
    ...quote('asked', exchange.request.body),
    ...quote('answered', response.body),
    ...more,
    message: redactKeys(message),
  }
}

/** How many bytes of a body a finding quotes. */
const QUOTED = 400

function quote(field: 'asked' | 'answered', body: SeenBody): Pick<JudgedDifference, typeof field> {
  if (!body.isKnown || body.bytes.length === 0) return {}
  return { [field]: shorten(redactKeys(body.bytes.subarray(0, QUOTED).toString()), QUOTED - 1) }
}

function idOf(label: Label, { operation, route, response }: ReadExchange, what: string): string {
  const neighbour = !route.ok && route.neighbour !== undefined ? route.neighbour.path.slice(1) : 'unknown-path'
  return `${label.replaceAll(' ', '-')}/${operation?.id ?? neighbour}/${response.status}/${what}`
}

function findInRequest(
  reading: ReadExchange,
  operation: Operation | undefined,
  permitted: Permitted,
): ContractProblem[] {
  const { exchange, path, query, route } = reading
  if (operation !== undefined) return findInvalidInput(exchange.request, query, operation, permitted)
  const { basePath } = permitted.contract
  if (route.ok || !path.startsWith(`${basePath}/`) || isPermittedPreflight(reading, permitted)) return []
  if (route.neighbour === undefined) {
    return [{ what: 'request/path', place: '/paths', reason: 'asks for a path that the document does not have.' }]
  }
  const place = pointTo('/paths', route.neighbour.path)
  const reason = `has the method ${show(exchange.request.method)}, which ${route.neighbour.path} does not have; it has ${route.allow}.`
  return [{ what: 'request/method', place, reason }]
}

function whatBecameOf({ outcome, response: { status } }: ReadExchange): string {
  if (outcome.kind === 'refusal') return `The service refused it with ${status} ${show(outcome.code)}.`
  return outcome.kind === 'success' ? `The service accepted it with ${status}.` : `The service answered ${status}.`
}

/** Whether the request is a CORS preflight that the service may answer. */
export function isPermittedPreflight({ exchange, route }: ReadExchange, permitted: Permitted): boolean {
  const { method, headers } = exchange.request
  if (method !== 'OPTIONS' || route.ok || route.neighbour === undefined) return false
  const isPreflight = headers['origin'] !== undefined && headers['access-control-request-method'] !== undefined
  return isPreflight && [...permitted.contracts].some(({ settings }) => settings.cors !== 'none')
}

function findInResponse(
  reading: ReadExchange,
  operation: Operation | undefined,
  permitted: Permitted,
): ContractProblem[] {
  const { route, response } = reading
  if (operation !== undefined) {
    if (reading.exchange.request.method === 'HEAD') return findInHead(reading, operation, permitted)
    const content = findInContent(reading, operation, permitted)
    // Under our choice the path does not exist, and the document gives such a refusal no header field but the id.
    if (isRefusedOutside(reading, permitted)) return [...content, ...findInRequestId(reading, permitted)]
    return [...content, ...findInHeaders(reading, operation, permitted)]
  }
  // The document says nothing about a path that it does not have.
  if (route.ok || route.neighbour === undefined) return []
  if (isPermittedPreflight(reading, permitted) && response.status === 204) return []
  return findInRefusedMethod(reading, route.neighbour, permitted)
}

/** Whether the service refused a path or method that the document does not have under our choice. */
function isRefusedOutside({ route, outcome, response }: ReadExchange, permitted: Permitted): boolean {
  return !route.ok && outcome.kind === 'refusal' && permitted.isRefusedOutside(outcome.code, response.status)
}

/** The response to a method that a path does not have. */
function findInRefusedMethod(reading: ReadExchange, { path }: Operation, permitted: Permitted): ContractProblem[] {
  const { outcome, response, exchange } = reading
  const { method } = exchange.request
  const place = pointTo('/paths', path)
  const identified = findInRequestId(reading, permitted)
  if (method === 'HEAD') return identified
  if (outcome.kind === 'refusal') {
    const { code } = outcome
    const envelope = permitted.checkFailure()(outcome.envelope).map(inResponse)
    if (permitted.isRefusedOutside(code, response.status) || envelope.length > 0) return [...envelope, ...identified]
    const reason = `refuses ${method} ${path} with ${response.status} ${show(code)}, which the document does not allow.`
    const isPossible = [...permitted.statusesOf(code)].some((status) => permitted.isRefusedOutside(code, status))
    const errors = '/components/x-errors'
    // Another status of a possible code is left open.
    return [{ what: 'response/code', place: isPossible ? pointTo(errors, code) : errors, reason }, ...identified]
  }
  if (outcome.kind === 'unreadable' && response.status >= 400) return [...unreadable(reading, place), ...identified]
  const reason = `answers ${method} ${path} with ${response.status}, but the document has no such operation.`
  return [{ what: 'response/status', place, reason }, ...identified]
}

function findInHead(reading: ReadExchange, operation: Operation, permitted: Permitted): ContractProblem[] {
  const { response } = reading
  const place = pointerOf(operation)
  const problems: ContractProblem[] = []
  if (response.body.isKnown && response.body.bytes.length > 0) {
    problems.push({ what: 'response/body', place, reason: 'to HEAD has a body, which RFC 9110 §9.3.2 forbids.' })
  }
  if (!permitted.isStatusOf(operation, response.status) && !mayRefuseOutside(response.status, permitted))
    problems.push(undocumentedStatus(reading, operation))
  return [...problems, ...findInHeaders(reading, operation, permitted)]
}

/** Whether a service may refuse a path or a method with this status. */
function mayRefuseOutside(status: number, permitted: Permitted): boolean {
  return permitted.contract.catalogue.codes.some((code) => permitted.isRefusedOutside(code, status))
}

/** Problems of the status and the body. */
function findInContent(reading: ReadExchange, operation: Operation, permitted: Permitted): ContractProblem[] {
  const { outcome, response } = reading
  const { status } = response
  switch (outcome.kind) {
    case 'success': {
      const problems = permitted.checkSuccess(operation)(outcome.envelope).map(inResponse)
      if (permitted.successStatuses(operation).has(status)) return problems
      return [undocumentedStatus(reading, operation), ...problems]
    }
    case 'refusal': {
      const problems = permitted.checkFailure()(outcome.envelope).map(inResponse)
      const { code } = outcome
      // Under our choice, the path may not exist, or the method may be wrong.
      const isUnread =
        permitted.isRefusedUnread(code, status) || (!reading.route.ok && permitted.isRefusedOutside(code, status))
      if (isUnread || !permitted.contract.catalogue.has(code)) return problems
      const place = `${pointerOf(operation)}/responses`
      if (!permitted.codesOf(operation).has(code)) {
        const reason = `has the code ${show(code)}, with which ${operation.id} never answers.`
        return [{ what: `response/code/${code}`, place, reason }, ...problems]
      }
      const statuses = permitted.statusesOf(code)
      if (statuses.has(status)) return problems
      const reason = `has the code ${show(code)} with the status ${status}, but the document has it with ${[...statuses].join(' or ')}.`
      return [{ what: `response/code/${code}`, place: pointTo('/components/x-errors', code), reason }, ...problems]
    }
    case 'unreadable': {
      const isDocumented =
        permitted.isStatusOf(operation, status) || (!reading.route.ok && mayRefuseOutside(status, permitted))
      const undocumented = isDocumented ? [] : [undocumentedStatus(reading, operation)]
      if (!response.body.isKnown) return undocumented
      const isSuccess = permitted.successStatuses(operation).has(status)
      const check = isSuccess ? permitted.checkSuccess(operation) : permitted.checkFailure()
      const body = readJson(response.body.bytes.toString())
      const problems = body === undefined ? [] : check(body).map(inResponse)
      const place = isSuccess ? placeOfResponse(operation, operation.success, permitted) : '/components/schemas/Failure'
      return [...undocumented, ...(problems.length > 0 ? problems : unreadable(reading, place))]
    }
  }
}

function undocumentedStatus({ response: { status } }: ReadExchange, operation: Operation): ContractProblem {
  const place = `${pointerOf(operation)}/responses`
  return { what: 'response/status', place, reason: `has the status ${status}, which ${operation.id} does not have.` }
}

function unreadable({ outcome, response }: ReadExchange, place: string): ContractProblem[] {
  if (!response.body.isKnown || outcome.kind !== 'unreadable') return []
  if (response.body.bytes.length === 0) return [{ what: 'response/body', place, reason: 'has no body.' }]
  const text = response.body.bytes.toString()
  const reason = `has a body that is ${readJson(text) === undefined ? 'not JSON' : 'not the envelope of the service'}: ${show(text)}.`
  return [{ what: 'response/body', place, reason }]
}

function inResponse(violation: PlacedViolation): ContractProblem {
  return inBody('response', violation)
}

/** Problems of the header fields. If a recording has no header field at all, the recorder has left them out. */
function findInHeaders(reading: ReadExchange, operation: Operation, permitted: Permitted): ContractProblem[] {
  const { headers } = reading.response
  if (Object.keys(headers).length === 0) return []
  const violations = new Map<string, Violation & { response: ResponseContract }>()
  const note = (found: readonly Violation[], response: ResponseContract) => {
    for (const each of found) violations.set(`${each.pointer}/${each.keyword}`, { ...each, response })
  }
  const answered = responsesFor(reading, operation, permitted.contract)[0]
  if (answered !== undefined) {
    const found = answered.checkHeaders(headers)
    const possible = found.length === 0 ? [] : possibleResponses(reading, operation, permitted)
    const persistent = found.filter(({ pointer, keyword }) =>
      possible.every((responses) => {
        const isViolated = (response: ResponseContract) =>
          response.checkHeaders(headers).some((each) => each.pointer === pointer && each.keyword === keyword)
        return responses.length > 0 && responses.every(isViolated)
      }),
    )
    note(persistent, answered)
  }
  // A response with one of the quota fields must have all of them, each in its form.
  const { success } = operation
  const quotaFields = ['limit', 'remaining', 'reset'].map((name) => `x-ratelimit-${name}`)
  const present = quotaFields.filter((name) => headers[name] !== undefined)
  const aboutQuota = success
    .checkHeaders(headers)
    .filter(
      ({ pointer, keyword }) =>
        quotaFields.includes(pointer.slice(1)) && (keyword !== 'required' || present.length > 0),
    )
  note(aboutQuota, success)
  const problems = [...violations.values()]
    .filter(({ pointer }) => pointer !== '/x-request-id')
    .map(({ pointer, keyword, reason, response }) => ({
      what: whatIsWrong('response/headers', pointer, keyword),
      place: placeOfHeader(operation, response, pointer.slice(1), keyword, permitted),
      reason: `has a wrong header: ${nameOfHeader(pointer.slice(1))} ${reason}.`,
    }))
  const [limit, remaining] = [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]
  if (present.length === 3 && aboutQuota.length === 0 && Number(remaining) > Number(limit)) {
    const place = placeOfHeader(operation, success, 'x-ratelimit-remaining', 'maximum', permitted)
    const reason = `has a wrong header: X-RateLimit-Remaining is ${remaining}, more than the limit of ${limit}.`
    problems.push({ what: 'response/headers/x-ratelimit-remaining/maximum', place, reason })
  }
  return [...problems, ...findInType(reading, operation, permitted), ...findInRequestId(reading, permitted)]
}

/**
 * What the document says of the response, under each alternative that applies. An alternative that leaves the statuses
 * of the code unchanged always applies. One that changes them applies only if it gives this status.
 */
function possibleResponses(reading: ReadExchange, operation: Operation, permitted: Permitted): ResponseContract[][] {
  const { outcome, response } = reading
  const code = outcome.kind === 'refusal' && permitted.contract.catalogue.has(outcome.code) ? outcome.code : undefined
  const statuses = ({ catalogue }: Contract) => (code === undefined ? '' : [...catalogue.statusesOf(code)].join())
  const usual = statuses(permitted.contract)
  const all = permitted.variants.map(({ contract }) => ({
    isUsual: statuses(contract) === usual,
    responses: responsesFor(reading, same(contract, operation) ?? operation, contract),
  }))
  const telling = all.filter(
    ({ isUsual, responses }) => isUsual || responses.some(({ status }) => status === response.status),
  )
  return telling.map(({ responses }) => responses)
}

/** The documented responses that this one may be. */
function responsesFor(
  { outcome, response, exchange }: ReadExchange,
  operation: Operation,
  { catalogue }: Contract,
): ResponseContract[] {
  const { status } = response
  const isHead = exchange.request.method === 'HEAD'
  if (outcome.kind === 'success' || (isHead && status < 300)) return [operation.success]
  if (outcome.kind !== 'refusal' || !catalogue.has(outcome.code)) return []
  const { code } = outcome
  const all = [...operation.responses.values()].filter(({ codes }) => codes.has(code))
  const exact = all.filter((each) => each.status === status)
  return exact.length > 0 ? exact : all
}

function findInType(
  { exchange, response, outcome }: ReadExchange,
  operation: Operation,
  permitted: Permitted,
): ContractProblem[] {
  const type = response.headers['content-type']
  const isEmpty = !response.body.isKnown || response.body.bytes.length === 0
  if (type === undefined && (isEmpty || exchange.request.method === 'HEAD')) return []
  const [media = ''] = (type ?? '').split(';')
  if (media.trim().toLowerCase() === 'application/json') return []
  const expected = outcome.kind === 'refusal' ? undefined : operation.success
  return [
    {
      what: 'response/headers/content-type',
      place: `${expected === undefined ? `${pointerOf(operation)}/responses` : placeOfResponse(operation, expected, permitted)}`,
      reason: type === undefined ? 'has no Content-Type.' : `has the Content-Type ${show(type)}, not application/json.`,
    },
  ]
}

const REQUEST_ID = '/components/headers/X-Request-Id'

function findInRequestId({ response: { headers } }: ReadExchange, permitted: Permitted): ContractProblem[] {
  if (Object.keys(headers).length === 0) return []
  const id = headers['x-request-id']
  if (id === undefined) {
    return [{ what: 'response/headers/x-request-id/required', place: REQUEST_ID, reason: 'has no X-Request-Id.' }]
  }
  const isPermitted = permitted.contracts.some(({ operations }) =>
    operations[0]?.success.checkHeaders(headers).every(({ pointer }) => pointer !== '/x-request-id'),
  )
  if (isPermitted) return []
  const reason = `has an X-Request-Id whose form the document does not permit: ${show(id)}.`
  return [{ what: 'response/headers/x-request-id/format', place: `${REQUEST_ID}/schema`, reason }]
}

function placeOfResponse(operation: Operation, { status }: ResponseContract, permitted: Permitted): string {
  return walkTo(permitted.contract, pointTo(`${pointerOf(operation)}/responses`, status), 'content')
}

function placeOfHeader(
  operation: Operation,
  { status }: ResponseContract,
  name: string,
  keyword: string,
  permitted: Permitted,
): string {
  const response = pointTo(`${pointerOf(operation)}/responses`, status)
  const steps = ['headers', nameOfHeader(name), ...(keyword === 'required' ? [] : ['schema', keyword])]
  return walkTo(permitted.contract, response, ...steps)
}

function walkTo({ document }: Contract, pointer: string, ...steps: string[]): string {
  const walk = new Walk(document.source)
  for (const step of [...stepsOf(pointer), ...steps]) if (!walk.enter(step)) break
  return walk.place
}

/** The name of the field as the document spells it. */
function nameOfHeader(name: string): string {
  return NAMES.get(name) ?? name
}

const NAMES = new Map(
  [
    ...['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
    ...['WWW-Authenticate', 'Retry-After'],
  ].map((name) => [name.toLowerCase(), name]),
)
