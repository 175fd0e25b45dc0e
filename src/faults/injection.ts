import type { IncomingMessage } from 'node:http'
import type { Principal } from '../behaviour/gate.ts'
import type { Operation } from '../contract/api.ts'
import type { FaultRule } from '../domain/faults.ts'
import type { Allowance } from '../domain/quotas.ts'
import { fraction, scramble } from '../ground/chance.ts'
import type { Query } from '../http/target.ts'

/** What is injected into one exchange, and who asked for it. Every source yields the same kind of value. */
export interface Injection {
  source: 'rule' | 'prefer' | 'simulator'
  /** Of the fault rule that asked for it. */
  id: string | undefined
  rule: FaultRule
  /** A 32-bit word from which chance derives; without one, every draw is 0. */
  chance: number | undefined
  /** What the request itself prefers. */
  preference: HonouredPreference | undefined
  /** The domain that the response is about, where the request is known to name one. */
  domain: NamedDomain | undefined
}

/** Preferences of a request (RFC 7240) that are honoured. */
export interface HonouredPreference {
  code: string | undefined
  /** The only status with which a response honours the code; any does if it is absent. */
  status: number | undefined
  delay: number | undefined
}

/** Where a request names a domain. */
export interface NamedDomain {
  /** JSON pointer into the body. */
  field: string
  domain: string
}

/** The request that an injection acts on, as the stages before have left it. */
export interface InjectionTarget {
  request: IncomingMessage
  operation: Operation
  query: Query
  principal: Principal
  allowance: Allowance | undefined
}

/** Numbers from 0 up to 1, exclusive; the same at every run of the same seed. */
export type Draw = () => number

/** The draws of an injection from the first one on. */
export function drawsOf({ chance }: Injection): Draw {
  if (chance === undefined) return () => 0
  let drawn = 0
  return () => fraction(scramble(chance + ++drawn))
}
