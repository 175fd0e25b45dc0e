import type { Contract } from '../contract/contract.ts'
import type { Replier, Reply } from '../contract/reply.ts'
import type { AccountState } from '../domain/account.ts'
import { changeClock } from '../domain/clock.ts'
import { type Ending, nextEnding } from '../domain/endings.ts'
import { accept } from '../domain/errors.ts'
import type { InjectedResponse } from '../domain/faults.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { type Allowance, bucketOf, setWindow, whatIsLeft } from '../domain/quotas.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import { bytesOf, contentOf, type Loss, type Transmission } from '../ground/message.ts'
import type { Clock } from '../ground/timers.ts'
import type { Account, Store } from '../store/store.ts'
import { type Corruption, corruptBody } from './corruption.ts'
import { type Draw, drawsOf, type Injection, type InjectionTarget } from './injection.ts'
import { actsOnBody, kindOf } from './kinds.ts'
import { sampleProblem } from './sample-problem.ts'

export interface ApplicationDeps {
  contract: Contract
  store: Pick<Store, 'update' | 'transact'>
  clock: Clock
  replier: Replier
  /** See `Arrival.wait`. */
  stopping: AbortSignal
}

/** What an injection changes of an exchange. What it leaves out stays as it is. */
export interface Applied {
  /** What happened to the response, in sentences for the journal. */
  effect?: string | undefined
  /** The response; `undefined` if none is sent. */
  reply?: Reply | undefined
  allowance?: Allowance | undefined
  /** What happens to the connection instead of a response. */
  lost?: Loss['lost']
  /** How the body is sent, if not as usual. */
  transmission?: Transmission
  /** Whether the service has nothing to decide any more. */
  isDecided?: true
}

const ENDED = 'The account was reset or deleted while the answer was held back, so none was sent.'

/**
 * Applies an injection: before the body of the request is read, or to the service's own response `genuine` once that
 * exists. It may also change the counters of the account in the store.
 */
export async function applyInjection(
  injection: Injection,
  target: InjectionTarget,
  genuine: Reply | undefined,
  deps: ApplicationDeps,
): Promise<Applied> {
  const { rule } = injection
  const { request, ending } = target
  const { action } = kindOf(rule)
  const draw = drawsOf(injection)
  const takes = action.type === 'send' ? action.milliseconds : undefined
  const milliseconds = (rule.delay_ms ?? takes ?? 0) + Math.round((rule.jitter_ms ?? 0) * draw())
  const act = () => applyKind({ injection, target, genuine, milliseconds, draw }, deps)
  if (milliseconds === 0 || takes !== undefined) return act()
  const delayed = `The answer was held back for ${milliseconds} ms.`
  await request.wait(milliseconds, deps.stopping, ending)
  if (request.isAbandoned) return { effect: delayed, reply: undefined, isDecided: true }
  // It would change the new beginning, and an answer from before means nothing any more.
  if (ending?.aborted) return cut('close', ENDED)
  const applied = await act()
  return { ...applied, effect: applied.effect === undefined ? delayed : `${delayed} ${applied.effect}` }
}

interface FaultApplication {
  injection: Injection
  target: InjectionTarget
  genuine: Reply | undefined
  /** How long the injection delays the response or extends its transmission. */
  milliseconds: number
  draw: Draw
}

function applyKind(application: FaultApplication, deps: ApplicationDeps): Awaitable<Applied> {
  const { injection, target, genuine, milliseconds, draw } = application
  const { rule } = injection
  const { action } = kindOf(rule)
  if (actsOnBody(rule) && target.request.method === 'HEAD') return { effect: 'There was no body to change.' }
  switch (action.type) {
    case 'delay':
    case 'foreign': // It acts on the account, and not on the response.
      return {}
    case 'respond':
      return rule.respond === undefined ? {} : injectResponse(rule.respond, injection, target, deps)
    case 'cut':
      return cut(action.lost, action.effect)
    case 'send':
      return action.way === 'half' ? sendHalf(genuine) : sendSlowly(milliseconds, target)
    case 'corrupt':
      return genuine === undefined ? {} : corruptReply(action.kind, draw, target, genuine)
    case 'use-up':
      return refuseUntilReset(injection, target, deps)
    case 'pass':
      return passEnding(action.ending, target, deps)
  }
}

function cut(lost: Loss['lost'], effect: string): Applied {
  return { effect, reply: undefined, lost, isDecided: true }
}

function sendHalf(genuine: Reply | undefined): Applied {
  const effect = 'Half of the body was sent, and the connection was closed.'
  return { effect, reply: genuine && { ...genuine, injected: true }, transmission: { way: 'half' } }
}

function sendSlowly(milliseconds: number, { ending }: InjectionTarget): Applied {
  const effect = `The body was sent in small pieces, over ${milliseconds} ms.`
  return { effect, transmission: { way: 'slowly', milliseconds, until: ending } }
}

/** The response that a rule, a preference or a domain name asks for, instead of the service's own. */
function injectResponse(
  respond: InjectedResponse,
  injection: Injection,
  target: InjectionTarget,
  { contract, replier }: ApplicationDeps,
): Applied {
  const { allowance, operation } = target
  if (!('error' in respond)) {
    const effect = `The status ${respond.status} was answered in place of the service's own answer.`
    return { effect, reply: foreignReply(respond), isDecided: true }
  }
  const { error, status } = respond
  const problem = (status === undefined ? undefined : contract.catalogue.problemWith(error, status)) ?? { code: error }
  const sample = sampleProblem(target, problem, contract, injection.domain)
  return {
    reply: { ...replier.refuse(operation, [sample]), injected: true },
    isDecided: true,
    effect: `The error ${error} was answered in place of the service's own answer.`,
    allowance: error === 'rate_limited' && allowance ? { ...allowance, allowed: false, remaining: 0 } : allowance,
  }
}

/**
 * Uses up the quota of the path, and refuses the request for that reason. A whole window follows, so that the time until the
 * reset does not depend on the time of the request.
 */
async function refuseUntilReset(
  injection: Injection,
  target: InjectionTarget,
  deps: ApplicationDeps,
): Promise<Applied> {
  const { operation, principal, incarnation, allowance: charged } = target
  const { account, key, now } = principal
  if (charged === undefined || operation.quota === undefined) {
    return { effect: 'The path has no quota that could be used up.' }
  }
  const hits = { startedAt: now, used: charged.limit }
  const bucket = bucketOf(key.hash, operation.path, deps.contract.settings.quotaScope)
  const useUp = ({ counters }: Account) => ({ counters: setWindow(counters, bucket, hits), value: undefined })
  await deps.store.transact(account.id, useUp, incarnation)
  const allowance = whatIsLeft(hits, charged.limit, operation.quota.window, false)
  const applied = injectResponse({ error: 'rate_limited' }, injection, { ...target, allowance }, deps)
  return { ...applied, effect: 'The quota of the path was used up, and a whole window is left until the reset.' }
}

/**
 * Moves the account's clock forward to the next ending: of its own quota window, of the day (daily refresh), or of the
 * grace period of its key. A clock that is past the ending stays.
 */
async function passEnding(
  ending: Ending,
  { principal, incarnation, allowance }: InjectionTarget,
  { contract, store, clock }: ApplicationDeps,
): Promise<Applied> {
  const windowEnds = allowance === undefined ? [] : [allowance.resetAt * 1000]
  const instant = nextEnding(ending, { now: principal.now, windowEnds, keys: [principal.key] }, contract.settings)
  if (instant === undefined) {
    return { effect: 'There was no such instant to come, so the clock of the account stayed as it was.' }
  }
  const move = (state: AccountState) => {
    const next = changeClock(state.clock, { now: instant }, clock())
    return next === undefined ? accept(state, false) : accept({ ...state, clock: next }, true)
  }
  const moved = await store.update(principal.account.id, move, incarnation)
  const reached = writeInstant(instant)
  return {
    effect:
      moved.ok && moved.value
        ? `After the answer, the clock of the account moved on to ${reached}.`
        : `The clock of the account was past ${reached} already, so it stayed as it was.`,
  }
}

/** A response that is not one of the service. */
function foreignReply({ status, headers = {}, body }: Extract<InjectedResponse, { body?: unknown }>): Reply {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
  const typed = text === '' || names.includes('content-type') ? headers : { 'Content-Type': type, ...headers }
  return { status, headers: withSandbox(typed, text), body: contentOf(text), injected: true, foreign: true }
}

/** Types that no browser treats as a page. Any other type might be one, also because of the content of the body. */
const NO_PAGE = /^(application\/([\w.-]+\+)?json|text\/plain)(;\s*charset=[\w-]+)?$/i

/**
 * A page of this origin could read the token that the dashboard keeps. In a sandbox it has an origin of its own, and
 * runs no script. Only browsers obey the field, and the service's own responses never have it.
 */
function withSandbox(headers: Readonly<Record<string, string>>, text: string): Readonly<Record<string, string>> {
  const valuesOf = (field: string) =>
    Object.entries(headers).flatMap(([name, value]) => (name.toLowerCase() === field ? [value] : []))
  if (text === '' || valuesOf('content-type').every((value) => NO_PAGE.test(value))) return headers
  const policy = 'content-security-policy'
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== policy)
  // Commas separate the policies of one field, and a browser obeys all of them.
  return { ...Object.fromEntries(others), 'Content-Security-Policy': [...valuesOf(policy), 'sandbox'].join(', ') }
}

function corruptReply(kind: Corruption, draw: Draw, { operation }: InjectionTarget, reply: Reply): Applied {
  const response = operation.responses.get(reply.status)
  if (response === undefined) return {}
  const corrupted = corruptBody(kind, bytesOf(reply.body), response, draw)
  if (corrupted === undefined) return { effect: `The answer has nothing that ${kind} could change.` }
  const body = { held: corrupted.body, size: corrupted.body.length }
  return { effect: corrupted.change, reply: { ...reply, body, injected: true } }
}
