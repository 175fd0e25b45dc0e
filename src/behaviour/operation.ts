import { type Operation, pointerOf } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { ContractError } from '../contract/extensions.ts'
import type { CachedData } from '../contract/reply.ts'
import type { AccountState, DomainGroup, MonitoredDomain } from '../domain/account.ts'
import type { Decision } from '../domain/errors.ts'
import { simulatedTraits } from '../domain/simulator.ts'
import type { Json } from '../ground/json.ts'
import type { Query } from '../ground/target.ts'
import type { ShownData } from './presentation.ts'

/** A contract with the behaviour of each operation. It decides all answers of the service. */
export interface ServiceContract extends Contract {
  behaviourOf(operation: Operation): OperationBehaviour
  /** The special properties of a domain from its addition on. */
  traitsOf(name: string): Partial<MonitoredDomain>
}

/** A request that conforms to the contract, from an authorised caller. */
export interface ConformingRequest {
  operation: Operation
  query: Readonly<Record<string, string>>
  /** Empty if the operation reads no body. */
  body: Json
}

/** The `data` of a success. */
export type Answer = { data: Json; source?: undefined } | CachedData

/** The parts of a request besides its method, its path and its key. */
export interface SampleRequest {
  query?: Query
  /** Sent as JSON; a string is sent as it is. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** The body is padded with spaces to this number of bytes. Only for ASCII bodies. */
  padTo?: number
}

/**
 * The account that a sample request is made for. If the account lacks something that the sample needs, earlier requests
 * create it.
 */
export interface SampleAccount {
  readonly contract: ServiceContract
  readonly state: AccountState
  /** A monitored domain. */
  monitored(): string
  /** A domain that the service can remove. */
  removable(): string
  /** A domain that is not monitored. */
  unmonitored(): string
  /** A monitored domain that the created or changed group can have as a member. */
  member(): string
  /** A domain that a monitoring feature uses, at least until the sample is sent. */
  usedDomain(): string
  /** A group. */
  group(): DomainGroup
  /** A group with a member. */
  groupWithMember(): DomainGroup
  /** Another group than this one. */
  groupBeside(group: DomainGroup): DomainGroup
  /** An id of a group that the account does not have. */
  unknownGroupId(): string
  /** A name that no group has. */
  freshName(): string
}

/** Creates a request that fits the account. */
export type RequestSample = (account: SampleAccount) => SampleRequest

/** The values of a body field in generated requests. */
export interface FieldSample {
  /** A value that the operation accepts. */
  make(account: SampleAccount): string | readonly string[]
  /** Whether the entries name items that are to be removed. A correction must not guess these. */
  removes?: boolean
}

/**
 * The behaviour of one operation that openapi.yaml cannot express. A new endpoint is its YAML, one of these, and tests.
 */
export interface OperationBehaviour {
  /**
   * The decision of the service: the account after the request and its answer, or the refusal. It is pure: if another
   * request came first, a change may be decided again. `now` is in milliseconds on the account's clock.
   */
  decide(
    request: ConformingRequest,
    account: AccountState,
    contract: ServiceContract,
    now: number,
  ): Decision<AccountState, Answer>
  /** What the `data` of a success shows of the account. It may be the data of another service, and have any form. */
  shows?(data: unknown): ShownData
  /** An accepted request, and then some that the contents of the account refuse, if the contract does. */
  samples: readonly RequestSample[]
  /** By name. The first field is enough for a body that needs any field. */
  fields?: Readonly<Record<string, FieldSample>>
}

/** Whether an operation may change the account. Safe methods may not (RFC 9110 §9.2.1). */
export function changesAccount({ method }: Operation): boolean {
  return method !== 'GET'
}

export interface ServiceOptions {
  /** By operationId. */
  behaviours: Readonly<Record<string, OperationBehaviour>>
  /** Whether the names of domains under understudy.test define their special properties. */
  simulator: boolean
}

const NO_TRAITS: Partial<MonitoredDomain> = {}

/** @throws ContractError for an operation without a behaviour. */
export function bindBehaviours(contract: Contract, { behaviours, simulator }: ServiceOptions): ServiceContract {
  const bound = new Map(contract.operations.map((operation) => [operation, findBehaviour(operation, behaviours)]))
  return {
    ...contract,
    behaviourOf: (operation) => bound.get(operation) as OperationBehaviour,
    traitsOf: simulator ? simulatedTraits : () => NO_TRAITS,
  }
}

function findBehaviour(operation: Operation, behaviours: ServiceOptions['behaviours']): OperationBehaviour {
  const behaviour = Object.hasOwn(behaviours, operation.id) ? behaviours[operation.id] : undefined
  if (behaviour !== undefined) return behaviour
  const reason = `No behaviour is written for the operation ${operation.id}.`
  throw new ContractError('openapi.yaml', pointerOf(operation), reason)
}
