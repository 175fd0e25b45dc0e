import type { Operation } from '../contract/api.ts'
import type { Catalogue } from '../contract/catalogue.ts'
import type { Contract } from '../contract/contract.ts'
import { type FaultRule, phaseOf } from '../domain/faults.ts'
import { failuresOf, mayBeSimulated } from '../domain/simulator.ts'
import type { Json } from '../ground/json.ts'
import { ClientGone } from '../http/body.ts'
import { bytesOf, contentOf } from '../http/content.ts'
import type { Replier, Reply } from '../http/reply.ts'
import type { Injection } from '../journal/entry.ts'
import type { Exchange } from '../service/exchange.ts'
import { DRIPPING, pause } from './delivery.ts'
import { readPreference } from './preference.ts'
import { type NamedDomain, sampleProblem } from './sample-problem.ts'
import { answersWith } from './strike.ts'

export interface InjectionDeps {
  contract: Contract
  /** Whether `Prefer: code=…, delay=…` is honoured. */
  prefer: boolean
  /** Whether domains under understudy.test say how they want to be treated. */
  simulator: boolean
}

/** What a request wants for the domain that it names. */
interface Simulation {
  injection: Injection
  named: NamedDomain
}

/** What the request itself prefers to be answered with; it comes before the rules of its account, which are then not asked. */
export function findPreference(
  { request }: Exchange,
  operation: Operation,
  { prefer, contract }: InjectionDeps,
): Injection | undefined {
  const header = prefer ? request.headers['prefer'] : undefined
  return header === undefined ? undefined : preferredBy(String(header), operation, contract.catalogue)
}

/** What a write is answered with because it names a domain that wants it so, and that domain. */
export function findSimulation(
  body: Json,
  operation: Operation,
  { canonicalHostname }: Contract,
): Simulation | undefined {
  for (const field in body) {
    const names = body[field]
    if (!Array.isArray(names)) continue
    for (let index = 0; index < names.length; index++) {
      const given: unknown = names[index]
      if (typeof given !== 'string' || !mayBeSimulated(given)) continue
      const domain = canonicalHostname(given) ?? ''
      const code = failuresOf(domain).find((each) => answersWith(operation, each))
      if (code === undefined) continue
      const injection: Injection = { source: 'simulator', rule: { respond: { error: code } } }
      return { injection, named: { domain, field: `/${field}/${index}` } }
    }
  }
  return undefined
}

function preferredBy(header: string, operation: Operation, catalogue: Catalogue): Injection | undefined {
  const { code, delay } = readPreference(header)
  const respond = code === undefined ? undefined : answerFor(code, operation, catalogue)
  // A success cannot be forced; it is what the service answers, or it is not.
  const genuine = code === String(operation.success.status)
  if (respond === undefined && delay === undefined && !genuine) return undefined
  return {
    source: 'prefer',
    // A rule does something, and be it to wait no time.
    rule: { ...((delay !== undefined || genuine) && { delay_ms: delay ?? 0 }), ...(respond && { respond }) },
    applied: (status) =>
      [
        ...(respond !== undefined || (genuine && status === operation.success.status) ? [`code=${code}`] : []),
        ...(delay === undefined ? [] : [`delay=${delay}`]),
      ].join(', '),
  }
}

/** The answer that a status or an error code asks for; a status that the service does not have comes without a body. */
function answerFor(wanted: string, operation: Operation, catalogue: Catalogue): FaultRule['respond'] {
  if (answersWith(operation, wanted)) return { error: wanted }
  if (!/^[45]\d\d$/.test(wanted)) return undefined
  const status = Number(wanted)
  const [code] = operation.responses.get(status)?.codes ?? []
  return code === undefined || catalogue.problemWith(code, status) === undefined ? { status } : { error: code, status }
}

/** Milliseconds before anything is sent. */
function delayOf(injection: Injection): number {
  return injection.rule.connection === 'drip' ? 0 : (injection.rule.delay_ms ?? 0) + jitterOf(injection)
}

/** Milliseconds over which the body of a dripping answer is spread. */
export function dripOf(injection: Injection): number {
  injection.drip ??= (injection.rule.delay_ms ?? DRIPPING) + jitterOf(injection)
  return injection.drip
}

function jitterOf({ rule, draw }: Injection): number {
  return Math.round((rule.jitter_ms ?? 0) * (draw?.() ?? 0))
}

/** Holds a request, or its answer, back for as long as its rule demands. @throws ClientGone */
export async function holdBack(
  { request: { socket } }: Exchange,
  injection: Injection,
  stopping: AbortSignal,
): Promise<void> {
  const delay = delayOf(injection)
  if (delay === 0) return
  note(injection, `The answer was held back for ${delay} ms.`)
  await pause(delay, socket, stopping)
  if (socket.destroyed) throw new ClientGone()
}

/** The answer that was asked for in place of the service's, if one was; `named` is the domain that it is about. */
export function injectReply(
  exchange: Exchange,
  injection: Injection,
  replier: Replier,
  contract: Contract,
  named?: NamedDomain,
): Reply | undefined {
  const { respond } = injection.rule
  if (respond === undefined) return undefined
  exchange.problems = []
  if ('error' in respond) {
    const way = respond.status === undefined ? undefined : contract.catalogue.problemWith(respond.error, respond.status)
    const problem = sampleProblem(exchange, way ?? { code: respond.error }, contract, named)
    if (respond.error === 'rate_limited' && exchange.allowance) {
      exchange.allowance = { ...exchange.allowance, allowed: false, remaining: 0 }
    }
    note(injection, `The error ${respond.error} was answered in place of the service's own answer.`)
    // Nothing is wrong with the request, whatever the answer says.
    const { problem: _, ...reply } = replier.refuse(exchange.operation, [problem])
    return { ...reply, injected: true }
  }
  const { status, headers = {}, body } = respond
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
  const typed = text === '' || names.includes('content-type') ? headers : { 'Content-Type': type, ...headers }
  note(injection, `The status ${status} was answered in place of the service's own answer.`)
  return { status, headers: typed, body: contentOf(text), injected: true, foreign: true }
}

/** Spoils a genuine answer as its rule demands; one that has nothing to spoil stays as it is. */
export async function spoilReply(exchange: Exchange, injection: Injection, reply: Reply): Promise<Reply> {
  const { corrupt, connection } = injection.rule
  const bodiless = exchange.request.method === 'HEAD'
  if (connection === 'truncate') {
    note(
      injection,
      bodiless ? 'There was no body to truncate.' : 'Half of the body was sent, and the connection closed.',
    )
    return bodiless ? reply : { ...reply, injected: true }
  }
  if (connection === 'drip' && !bodiless) note(injection, `The body came in drops, over ${dripOf(injection)} ms.`)
  const response = exchange.operation?.responses.get(reply.status)
  if (corrupt === undefined || response === undefined) return reply
  const draw = injection.draw ?? (() => 0)
  const { corruptBody } = await import('./corruption/corruption.ts')
  const spoilt = bodiless ? undefined : corruptBody(corrupt, bytesOf(reply.body), response, draw)
  note(injection, spoilt?.change ?? `The answer has nothing that ${corrupt} could spoil.`)
  return spoilt === undefined
    ? reply
    : { ...reply, body: { held: spoilt.body, size: spoilt.body.length }, injected: true }
}

/** What becomes of an answer whose connection is cut in its place. */
export const CUTS = {
  reset: 'The connection was reset in place of an answer.',
  hang: 'No answer was sent; the connection was left open.',
  empty: 'The connection was closed in place of an answer.',
} as const

/** How the connection is cut in place of an answer, if it is. */
export function cutOf({ rule: { connection } }: Injection): keyof typeof CUTS | undefined {
  return connection === 'truncate' || connection === 'drip' ? undefined : connection
}

/** Notes what became of the answer, for the journal. */
export function note(injection: Injection, effect: string): void {
  injection.effect = injection.effect === undefined ? effect : `${injection.effect} ${effect}`
}

/** Whether a rule acts on the answer or in its place. */
export function actsAfter({ rule }: Injection): boolean {
  return phaseOf(rule) === 'after'
}
