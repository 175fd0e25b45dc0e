import type { Principal } from '../behaviour/gate.ts'
import type { Operation } from '../contract/api.ts'
import type { Allowance } from '../domain/quotas.ts'
import { fraction, scramble } from '../ground/chance.ts'
import type { Arrival } from '../ground/message.ts'
import type { Query } from '../ground/target.ts'
import type { InjectionRecord } from '../journal/entry.ts'

/** The fault that is injected into one exchange, and its source. Every source yields the same kind of value. */
export interface Injection extends Omit<InjectionRecord, 'effect'> {
  /** A 32-bit word from which the random numbers derive. Without it, every draw is 0. */
  chance?: number | undefined
  /** The preferences of the request itself. */
  preference?: HonouredPreference
  /** The domain of the response, if the request is known to name one. */
  domain?: NamedDomain
}

/** Preferences of a request (RFC 7240) that are honoured. */
export interface HonouredPreference {
  code: string | undefined
  /** The only status with which a response honours the code; if it is absent, any status does. */
  status: number | undefined
  delay: number | undefined
}

/** The place where a request names a domain. */
export interface NamedDomain {
  /** JSON pointer into the body. */
  field: string
  domain: string
}

/** The request that an injection acts on, with the results of the stages before. */
export interface InjectionTarget {
  request: Arrival
  operation: Operation
  query: Query
  principal: Principal
  /** That of its account. During a delay, another account may get the id. */
  incarnation: number | undefined
  allowance: Allowance | undefined
  /** Aborted when the account is reset or deleted. */
  ending: AbortSignal | undefined
}

/** Numbers from 0 to 1, exclusive; the same in every run with the same seed. */
export type Draw = () => number

/** The draws of an injection, from the first one on. */
export function drawsOf({ chance }: Injection): Draw {
  if (chance === undefined) return () => 0
  let drawn = 0
  return () => fraction(scramble(chance + ++drawn))
}
