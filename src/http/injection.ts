import type { Operation } from '../contract/api.ts'
import type { Catalogue } from '../contract/catalogue.ts'
import type { Json } from '../contract/json.ts'
import type { Problem } from '../domain/errors.ts'
import { type FaultRule, phaseOf } from '../domain/faults.ts'
import { failureOf, isSimulated } from '../domain/simulator.ts'
import type { Injection } from '../journal/entry.ts'
import { fraction, scramble, wordsOf } from '../seeding/chance.ts'
import type { Replier, Reply } from '../wire/reply.ts'
import { corruptBody } from './corruption/corruption.ts'
import type { Exchange } from './exchange.ts'
import type { Caller, GateDeps } from './gate.ts'
import { readPreference } from './preference.ts'

export interface InjectionDeps extends GateDeps {
  /** Whether `Prefer: code=…, delay=…` is honoured. */
  prefer: boolean
  /** Whether domains under understudy.test say how they want to be treated. */
  simulator: boolean
}

/** What is to happen to an admitted request beside, or in place of, what the service would do. */
export async function findInjection(
  { request }: Exchange,
  caller: Caller,
  operation: Operation,
  { store, prefer, contract }: InjectionDeps,
): Promise<Injection | undefined> {
  const header = prefer ? request.headers['prefer'] : undefined
  const preferred = header === undefined ? undefined : preferredBy(String(header), operation, contract.catalogue)
  if (preferred !== undefined) return preferred
  const { account, key, now } = caller
  if (account.faults.length === 0) return undefined
  const target = {
    operation: operation.id,
    method: request.method ?? '',
    path: operation.path,
    key: key.id,
    answersWith: (code: string) => answersWith(operation, code),
  }
  const wordsFor = (id: string, ordinal: number) => wordsOf(`${account.seed} ${account.id} ${id} ${ordinal}`)
  const draw = (fault: { id: string }, ordinal: number) => fraction(wordsFor(fault.id, ordinal)[0])
  const strike = await store.strike(account.id, target, now, draw)
  if (strike === undefined) return undefined
  const { id, rule } = strike.fault
  const [, second] = wordsFor(id, strike.ordinal)
  let draws = 0
  return { source: 'rule', id, rule, draw: () => fraction(scramble(second + ++draws)) }
}

/** What a write is answered with because it names a domain that wants it so. */
export function findSimulation(body: Json, operation: Operation): Injection | undefined {
  for (const field of Object.values(body)) {
    for (const name of Array.isArray(field) ? field : []) {
      if (typeof name !== 'string' || !isSimulated(name)) continue
      const code = failureOf(name)
      if (code !== undefined && answersWith(operation, code))
        return { source: 'simulator', rule: { respond: { error: code } } }
    }
  }
  return undefined
}

function preferredBy(header: string, operation: Operation, catalogue: Catalogue): Injection | undefined {
  const { code, delay } = readPreference(header)
  const respond = code === undefined ? undefined : answerFor(code, operation, catalogue)
  const rule: FaultRule = { ...(delay !== undefined && { delay_ms: delay }), ...(respond && { respond }) }
  const genuine = code === String(operation.success.status)
  const applied = [
    ...(respond !== undefined || genuine ? [`code=${code}`] : []),
    ...(delay === undefined ? [] : [`delay=${delay}`]),
  ]
  return applied.length === 0 ? undefined : { source: 'prefer', rule, applied: applied.join(', ') }
}

/** The answer that a status or an error code asks for; a status that the service does not have comes without a body. */
function answerFor(wanted: string, operation: Operation, catalogue: Catalogue): FaultRule['respond'] {
  if (answersWith(operation, wanted)) return { error: wanted }
  if (!/^[45]\d\d$/.test(wanted)) return undefined
  const status = Number(wanted)
  const [code] = operation.responses.get(status)?.codes ?? []
  return code === undefined || catalogue.problemWith(code, status) === undefined ? { status } : { error: code, status }
}

function answersWith({ responses }: Operation, code: string): boolean {
  for (const { codes } of responses.values()) if (codes.has(code)) return true
  return false
}

/** Milliseconds before anything is sent. */
export function delayOf({ rule, draw }: Injection): number {
  return (rule.delay_ms ?? 0) + Math.round((rule.jitter_ms ?? 0) * (draw?.() ?? 0))
}

/** The answer that was asked for in place of the service's, if one was. */
export function injectReply(exchange: Exchange, { rule }: Injection, replier: Replier): Reply | undefined {
  const { respond } = rule
  if (respond === undefined) return undefined
  exchange.problems = []
  if ('error' in respond) {
    const problem = { ...sampleProblem(exchange, respond.error), ...wayTo(respond, replier.catalogue) }
    if (respond.error === 'rate_limited' && exchange.allowance) {
      exchange.allowance = { ...exchange.allowance, allowed: false, remaining: 0 }
    }
    return { ...replier.refuse(exchange.operation, [problem]), injected: true }
  }
  const { status, headers = {}, body } = respond
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body === 'string' || body === undefined ? 'text/plain; charset=utf-8' : 'application/json'
  return { status, headers: { 'Content-Type': type, ...headers }, body: Buffer.from(text), injected: true }
}

/** Spoils a genuine answer as its rule demands; one that has nothing to spoil stays as it is. */
export function corruptReply(exchange: Exchange, injection: Injection, reply: Reply): Reply {
  const { corrupt } = injection.rule
  const response = exchange.operation?.responses.get(reply.status)
  if (corrupt === undefined || response === undefined) return reply
  const spoilt = corruptBody(corrupt, reply.body, response, injection.draw ?? (() => 0))
  injection.effect = spoilt?.change ?? `The answer has nothing that ${corrupt} could spoil.`
  return spoilt === undefined ? reply : { ...reply, body: spoilt.body, injected: true }
}

/** Whether a rule acts on the answer or in its place. */
export function actsAfter({ rule }: Injection): boolean {
  return phaseOf(rule) === 'after'
}

function wayTo(respond: { error: string; status?: number }, catalogue: Catalogue): Partial<Problem<string>> {
  return respond.status === undefined ? {} : (catalogue.problemWith(respond.error, respond.status) ?? {})
}

/** A problem that never was, with whatever the words of any code may ask for. */
function sampleProblem({ operation, query, allowance, request, caller }: Exchange, code: string): Problem<string> {
  const inQuery = code === 'missing_id' || code === 'not_found'
  const until = new Date((allowance?.resetAt ?? 0) * 1000).toISOString().replace('.000Z', 'Z')
  return {
    code,
    field: inQuery ? 'id' : /name/.test(code) ? '/name' : '/domains/0',
    value: inQuery ? (query['id'] ?? '') : 'example.com',
    about: {
      ...{ domain: 'example.com', features: 'another feature', type: 'array', given: 'string', count: 0 },
      limit: allowance?.limit ?? 0,
      path: operation?.path ?? '',
      method: request.method ?? '',
      allowed: request.method ?? '',
      plan: caller?.account.plan ?? '',
      lowest: caller?.account.plan ?? '',
      until,
    },
  }
}
