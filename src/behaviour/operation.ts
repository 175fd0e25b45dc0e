import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState, DomainGroup, MonitoredDomain } from '../domain/account.ts'
import type { Decision } from '../domain/errors.ts'
import type { Json } from '../ground/json.ts'
import type { Reading } from '../http/reply.ts'
import type { Query } from '../http/target.ts'

/** A contract with the behaviour of each of its operations: everything that decides what the service answers. */
export interface ServiceContract extends Contract {
  behaviourOf(operation: Operation): OperationBehaviour
  /** What is special about a domain from the moment of its addition. */
  traitsOf(name: string): Partial<MonitoredDomain>
}

/** A request that obeys the contract, from a caller who may make it. */
export interface ConformingRequest {
  operation: Operation
  query: Readonly<Record<string, string>>
  /** Empty where the operation reads no body. */
  body: Json
}

/** The `data` of a success. */
export type Answer = { data: Json; source?: undefined } | Reading

/** What a request to an operation consists of, beside its method, its path and its key. */
export interface SampleRequest {
  /** A parameter with several values is sent several times. */
  query?: Query
  /** Sent as JSON; a string is sent as it is. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** Spaces follow the body until it has so many bytes. */
  padTo?: number
  /** How often it is sent; once by default. */
  times?: number
}

/**
 * The account for which a sample request is made. What the sample needs and the account lacks is created first, by
 * requests that are sent before the sample.
 */
export interface SampleAccount {
  readonly contract: ServiceContract
  readonly state: AccountState
  /** So many monitored domains, at least one. */
  monitored(count?: number): string[]
  /** So many domains that may be removed, at least one. */
  removable(count?: number): string[]
  /** So many domains that are not monitored, at least one. */
  unmonitored(count?: number): string[]
  /** Whether an account can have so many domains. */
  canMonitor(count: number): boolean
  /** Domains like `unmonitored`, and the account has room for them; `undefined` if it never has room for so many. */
  addable(count?: number): string[] | undefined
  /** So many monitored domains that can be members of the group that is created or changed, at least one. */
  members(count?: number): string[] | undefined
  /** Sees to it that a group can be created. */
  makeRoomForGroup(): void
  /** A domain that a monitoring feature uses, at least until the sample was sent. */
  usedDomain(): string
  /** One that has room for a member. */
  group(): DomainGroup
  /** One that has a member, and has room for another one. */
  groupWithMember(): DomainGroup
  /** Some group other than this one. */
  groupBeside(group: DomainGroup): DomainGroup
  /** An id of a group that the account does not have. */
  unknownGroupId(): string
  /** A name that no group has. */
  freshName(): string
  /** One of so many characters; `undefined` if all of them are taken. */
  nameOfLength(length: number): string | undefined
  /** How many entries the body of the operation must have in the field, at least one. */
  fewest(operationId: string, field: string): number
}

/** Makes a request that suits the account. */
export type Sample = (account: SampleAccount) => SampleRequest

/** What a field of a body holds in requests that are made up. */
export interface FieldSample {
  /**
   * A value that the operation accepts, of `size` entries or characters if that is given. `undefined` if there is none.
   */
  make(account: SampleAccount, size?: number): string | readonly string[] | undefined
  /** Why a correction filled the field in, as the end of a sentence: `a name is needed`. */
  because: string
  /** Whether the entries name what is to be removed. A correction must not guess there. */
  removes?: boolean
  /** The value and the words for it, where a correction left nothing of the list that was sent. */
  whenEmptied?(query: Readonly<Record<string, string>>, account: AccountState): Emptied | undefined
}

interface Emptied {
  value: readonly string[]
  /** One sentence. */
  change: string
}

/**
 * Everything about one operation that openapi.yaml cannot say. A new endpoint is its YAML, one of these, and tests.
 */
export interface OperationBehaviour {
  /**
   * What the service does: the account after the request, and its answer; or why it refuses. Pure: a request that
   * changes something may be decided again when another one came first. `now` is in milliseconds on the account's
   * clock.
   */
  decide(
    request: ConformingRequest,
    account: AccountState,
    contract: ServiceContract,
    now: number,
  ): Decision<AccountState, Answer>
  /** Requests that it accepts, the plainest first. Together they show every field of its body. */
  accepted: readonly Sample[]
  /** Requests that it refuses because of what the account holds. Some contracts accept some of them. */
  refused: readonly Sample[]
  /** By name; the first one is enough for a body that needs any. */
  fields?: Readonly<Record<string, FieldSample>>
}

/** Whether an operation may change the account. The methods that may not are the safe ones (RFC 9110 §9.2.1). */
export function changesAccount({ method }: Operation): boolean {
  return method !== 'GET'
}
