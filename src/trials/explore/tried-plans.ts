import type { FaultRule } from '../../domain/faults.ts'
import { canonical, type Fault } from './faults.ts'
import type { Observation } from './observation.ts'
import { type Failure, isFailure, type Verdict } from './verdict.ts'

/** A plan that was tried. */
export interface Tried {
  plan: readonly FaultRule[]
  faults: readonly Fault[]
  observation: Observation
  verdict: Verdict
  /** Whether each of its rules met its request, and changed something. */
  hasApplied: boolean
}

/** What plans have in common that show the same weakness of a client. */
export interface Weakness {
  verdict: Failure
  tried: Tried[]
  /** Whether it broke the command again; set once it was repeated. */
  confirmed?: boolean
  /** The plan that was repeated, and its repetition. */
  repeated?: Tried
  again?: Tried
}

/** How many requests of all runs are kept. Runs beyond that are not looked at for pairs. */
export const KEPT = 200_000
const NO_EFFECTS = { accounts: [], changes: [] }

/** What became of the plans that were tried, and the weaknesses that they show. */
export class TriedPlans {
  readonly #plans = new Map<string, Tried>()
  readonly #weaknesses = new Map<string, Weakness>()
  /** How many requests are kept. */
  #requests = 0

  get all(): Tried[] {
    return [...this.#plans.values()]
  }

  /** In the order in which they were found. */
  get weaknesses(): Weakness[] {
    return [...this.#weaknesses.values()]
  }

  find(plan: readonly FaultRule[]): Tried | undefined {
    return this.#plans.get(canonical(plan))
  }

  /** Keeps what became of a plan, and its requests only while there is room. */
  keep(tried: Tried): void {
    const { length } = tried.observation.requests
    const hasRoom = this.#requests + length <= KEPT
    if (hasRoom) this.#requests += length
    this.#plans.set(canonical(tried.plan), hasRoom ? tried : forgetRequests(tried))
  }

  /** Adds a plan that broke the command to the weakness that it shows. */
  note(tried: Tried, verdict: Failure): void {
    const places = tried.faults.map(({ point, family }) => `${point.operation.id} ${family}`)
    const id = [verdict, ...places].join(' / ')
    const weakness = this.#weaknesses.get(id) ?? { verdict, tried: [] }
    weakness.tried.push(tried)
    this.#weaknesses.set(id, weakness)
  }
}

/** The same without its requests, unless they are reported, or lead to pairs. */
export function withoutIdleRequests(tried: Tried): Tried {
  return isFailure(tried.verdict) || isSurvived(tried) ? tried : forgetRequests(tried)
}

function forgetRequests(tried: Tried): Tried {
  return { ...tried, observation: { ...tried.observation, requests: [], effects: NO_EFFECTS } }
}

/** Whether a client that met the fault can meet another one. */
export function isSurvived({ verdict, hasApplied, faults }: Tried): boolean {
  return verdict === 'tolerated' && hasApplied && faults.length === 1 && faults[0]?.survivable === true
}
