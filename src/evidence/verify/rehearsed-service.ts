import { createAccount } from '../../accounts/creation.ts'
import { loadFixture } from '../../accounts/fixture.ts'
import { decideAdmission, type GateTerms, tellRefund, UNKNOWN_KEY, untouchedQuota } from '../../behaviour/gate.ts'
import { judge } from '../../behaviour/judge.ts'
import type { ServiceContract } from '../../behaviour/operation.ts'
import type { Operation } from '../../contract/api.ts'
import type { Observation } from '../../coverage/observation.ts'
import type { AccountState } from '../../domain/account.ts'
import type { Counting } from '../../domain/counting.ts'
import { countRequest, refundCharge } from '../../domain/counting.ts'
import type { Problem } from '../../domain/errors.ts'
import { PersistentMap } from '../../domain/persistent-map.ts'
import { type Allowance, bucketOf } from '../../domain/quotas.ts'
import { hashKey } from '../../ground/secrets.ts'
import { createBodyReader } from '../../http/body.ts'
import { textOf } from '../../http/content.ts'
import { Replier, type Reply } from '../../http/reply.ts'
import { createRouter, type Route } from '../../http/router.ts'
import { createQueryReader, splitTarget } from '../../http/target.ts'
import { keyEvidenceOf } from '../../journal/entry.ts'
import { bytesOfBody, type ProbeRequest } from './probe.ts'

/** What a service would answer, as far as anything of it depends on the contract. */
export interface RehearsedAnswer {
  status: number
  text: string
  /** Reads the data of a success. */
  data(): unknown
  /** Everything beside status and body that may be different under another contract. */
  fields: Readonly<Record<string, string>>
  observation: Observation
}

const EMPTY = Buffer.alloc(0)
/** How many long bodies are kept. */
const PADDED_BODIES = 10
const SECRET = 'rehearsal'
const HASH = hashKey(SECRET)
/** In the middle of a window of quotas, so that the end of a window is not its length away. */
const NOW = Date.parse('2026-01-15T09:30:00Z')
/** What others have in the account. */
const FIXTURE = {
  domains: ['m.other.example', 'b.other.example'],
  groups: [{ name: 'Other', domains: ['m.other.example'] }],
}
const BEARER = { exact: /^Bearer$/, 'any-case': /^Bearer$/i } as const

/** What does not depend on the account. To make it takes longer than to answer a request. */
interface Parts {
  route(method: string, path: string): Route
  readQuery: ReturnType<typeof createQueryReader>
  bodies: ReturnType<typeof createBodyReader>
  replier: Replier
  terms: GateTerms
}

function partsOf(contract: ServiceContract): Parts {
  const { settings } = contract
  const bucket: GateTerms['bucketOf'] = (key, path) => bucketOf(key.hash, path, settings.quotaScope)
  return {
    route: createRouter(contract, settings),
    readQuery: createQueryReader(settings),
    bodies: createBodyReader(settings),
    replier: new Replier(contract, 'off'),
    terms: { settings, enforceQuotas: false, bucketOf: bucket },
  }
}

/**
 * An account and its service under a contract, without sockets and headers: to find out beforehand what the answers to
 * requests would tell. It asks the same functions as a server: router, gate, reader of bodies, judge, replier.
 */
export class RehearsedService {
  readonly contract: ServiceContract
  readonly #parts: Parts
  #account: AccountState
  #counting: Counting = { quotas: PersistentMap.of(), tallies: PersistentMap.of(), requests: 0 }

  private constructor(contract: ServiceContract, account: AccountState, parts: Parts) {
    this.contract = contract
    this.#account = account
    this.#parts = parts
  }

  /** `original` is the contract with which the account is made. What is in it, no choice makes different. */
  static async open(contract: ServiceContract, original = contract): Promise<RehearsedService> {
    const fixture = await loadFixture(FIXTURE)
    const account = createAccount(fixture, { id: 'rehearsal', real: NOW, apiKey: SECRET }, original)
    return new RehearsedService(contract, account, partsOf(contract))
  }

  /** The same account at the same moment; what the copy is asked does not change this one. */
  copy(): RehearsedService {
    const copy = new RehearsedService(this.contract, this.#account, this.#parts)
    copy.#counting = { ...this.#counting }
    return copy
  }

  answer(request: ProbeRequest): RehearsedAnswer {
    const { settings } = this.contract
    const { path, query: text } = splitTarget(this.contract.basePath + request.path)
    const route = this.#parts.route(request.method, path)
    const operation = route.ok ? route.operation : undefined
    const gate = this.#enter(request, route)
    const query = this.#parts.readQuery(text)
    const group = typeof query['id'] === 'string' ? this.#account.groups.get(query['id']) : undefined
    const bytes = paddedOnce(request)
    let problem: Problem<string> | undefined
    let reply: Reply
    let body: unknown
    if (settings.cors === 'any-origin' && isPreflight(request)) {
      reply = { status: 204, headers: {}, body: { held: '', size: 0 } }
    } else {
      const refusal = refusalOf(route, settings.routing === 'before-key', gate.refusal)
      if (refusal !== undefined || operation === undefined) {
        const problems = refusal?.problems ?? [{ code: 'not_found' }]
        problem = problems[0]
        reply = this.#parts.replier.refuse(operation, problems as never)
      } else {
        const read = this.#readBody(request, bytes, operation)
        body = read?.ok ? read.value : undefined
        const judgement = judge({ operation, query, body: read }, this.#account, this.contract, NOW)
        if (judgement.ok) {
          this.#account = judgement.state
          const { value } = judgement
          reply =
            value.source === undefined
              ? this.#parts.replier.succeed(operation, value.data)
              : this.#parts.replier.read(operation, value)
        } else {
          problem = judgement.problems[0]
          reply = this.#parts.replier.refuse(operation, judgement.problems)
          if (settings.chargedRequests === 'successful' && gate.principal && gate.allowance) {
            const { bucket = '', hits } = gate
            gate.allowance = tellRefund(
              operation,
              gate.allowance,
              hits && refundCharge(this.#counting, bucket, hits.startedAt),
            )
          }
        }
      }
    }
    const written = textOf(reply.body)
    return {
      status: reply.status,
      text: written,
      data: () => (reply.code === undefined && written !== '' ? JSON.parse(written).data : undefined),
      fields: this.#fieldsOf(request, reply, route, gate),
      observation: {
        operation,
        status: reply.status,
        code: reply.code,
        reason: problem?.reason,
        injected: false,
        query,
        body,
        bodyBytes: bytes.length,
        allowance: gate.allowance,
        now: NOW,
        key: keyEvidenceOf(gate.principal, settings.gracePeriod),
        group,
      },
    }
  }

  #enter({ key, scheme = 'Bearer', method }: ProbeRequest, route: Route) {
    const { settings } = this.contract
    const operation = route.ok ? route.operation : undefined
    const neighbour = route.ok ? undefined : route.neighbour
    const isValid = key === undefined && BEARER[settings.authorizationScheme].test(scheme)
    const request = { keyHash: isValid ? HASH : '', method, operation, neighbour, meetsFaults: false }
    const decision = decideAdmission(request, this.#account, this.#counting, NOW, this.#parts.terms)
    if (decision === UNKNOWN_KEY) {
      return {
        ...UNKNOWN_KEY,
        unspent: untouchedQuota(request, NOW, settings),
        allowance: undefined as Allowance | undefined,
      }
    }
    const needsKey = route.ok || settings.routing === 'after-key' || neighbour !== undefined
    if (needsKey) countRequest(this.#counting, decision, [], NOW, 3_600_000)
    return { ...decision }
  }

  #readBody(request: ProbeRequest, bytes: Buffer, operation: Operation) {
    const fields = mediaFieldsOf(request)
    return this.#parts.bodies.readBytes(bytes, fields, operation)
  }

  /** The header fields that tell something, without those that tell the time. */
  #fieldsOf(
    { method, headers = {} }: ProbeRequest,
    reply: Reply,
    route: Route,
    gate: { allowance: Allowance | undefined; unspent: Allowance | undefined },
  ): Record<string, string> {
    const { settings, requestIds } = this.contract
    const shown =
      settings.quotaHeaders === 'success-or-limited' && reply.code !== undefined
        ? undefined
        : (gate.allowance ?? gate.unspent)
    const reset = shown && (settings.rateLimitReset === 'unix-time' ? shown.resetAt : shown.resetAt - NOW / 1000)
    const sent = Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-request-id')?.[1]
    return {
      'content-type': settings.responseType,
      'x-request-id': settings.clientRequestIds === 'echoed' && sent !== undefined ? sent : requestIds,
      ...(shown && { 'x-ratelimit': `${shown.limit} ${shown.remaining} ${reset}` }),
      ...(!route.ok && route.allow !== undefined && reply.status === 405 && { allow: route.allow }),
      ...(settings.cors === 'any-origin' && { cors: '*' }),
      ...(method === 'HEAD' && { bodyless: 'yes' }),
      ...reply.headers,
    }
  }
}

const padded = new Map<string, Buffer>()

/** The bytes of a body. Those that are a megabyte long are the same under each of a hundred contracts. */
function paddedOnce(request: ProbeRequest): Buffer {
  const { body, padTo } = request
  if (padTo === undefined) return bytesOfBody(request) ?? EMPTY
  const key = `${padTo} ${JSON.stringify(body)}`
  const bytes = padded.get(key) ?? bytesOfBody(request) ?? EMPTY
  if (padded.size < PADDED_BODIES) padded.set(key, bytes)
  return bytes
}

function isPreflight({ method, headers = {} }: ProbeRequest): boolean {
  return method === 'OPTIONS' && headers['Origin'] !== undefined
}

/** The refusal that comes before the operation is asked. */
function refusalOf(
  route: Route,
  isRoutedFirst: boolean,
  refusal: { problems: readonly Problem<string>[] } | undefined,
) {
  const unknown = route.ok ? undefined : route
  return (isRoutedFirst ? unknown : undefined) ?? refusal ?? unknown
}

function mediaFieldsOf({ headers = {}, body }: ProbeRequest): Record<string, string> {
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return body === undefined ? given : { 'content-type': 'application/json', ...given }
}
