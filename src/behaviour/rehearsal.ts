import type { Operation } from '../contract/api.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import { comparedName, cutName } from '../domain/groups.ts'
import type { Settings } from '../domain/settings.ts'
import type { Json } from '../ground/json.ts'
import { judge, type ReceivedRequest } from './judge.ts'
import type { SampleAccount, ServiceContract } from './operation.ts'
import type { PlannedRequest } from './planned-request.ts'

/** A sample that needs a domain in use adds this feature to a domain. */
const FEATURE = 'mta-sts'

/** An overlay has the service refuse what a sample needs. */
export class SampleRefused extends Error {}

/** Plans requests one after another, and applies them to a copy of an account. The account itself does not change. */
export class Rehearsal implements SampleAccount {
  readonly contract: ServiceContract
  /** Milliseconds on the account's clock, which does not advance during the rehearsal. */
  readonly now: number
  /** The requests in the order of sending. */
  readonly steps: PlannedRequest[] = []
  #state: AccountState
  #restoring: (() => void) | undefined
  readonly #spares: boolean

  /**
   * `spares`: whether the steps belong to a user, who must lose nothing by them. Then they remove only what they have
   * added.
   */
  constructor(
    contract: ServiceContract,
    account: AccountState,
    now = account.createdAt,
    { spares = false }: { spares?: boolean } = {},
  ) {
    this.contract = contract
    this.now = now
    this.#state = account
    this.#spares = spares
  }

  get state(): AccountState {
    return this.#state
  }

  /** Adds a request that changes nothing that a later request depends on. */
  plan(request: PlannedRequest): void {
    this.steps.push(request)
  }

  /** Adds requests that undo the changes that were made only for the last sample. */
  restore(): void {
    this.#restoring?.()
    this.#restoring = undefined
  }

  monitored(): string {
    return this.#state.domains.keySeq().first() ?? this.#add()
  }

  removable(): string {
    const isKept = this.contract.settings.deletionOfMembers === 'refused' ? this.#members() : new Set<string>()
    const free = this.#state.domains.find(({ name, features }) => features.length === 0 && !isKept.has(name))
    return this.#spares || free === undefined ? this.#add() : free.name
  }

  unmonitored(): string {
    for (let number = 1; ; number++) {
      const name = `example-${number}.com`
      if (!this.#state.domains.has(name)) return name
    }
  }

  member(): string {
    if (this.contract.settings.sharedDomains === 'allowed') return this.monitored()
    const taken = this.#members()
    return this.#state.domains.keySeq().find((name) => !taken.has(name)) ?? this.#add()
  }

  usedDomain(): string {
    const used = this.#state.domains.find(({ features }) => features.length > 0)
    if (used !== undefined) return used.name
    const name = this.monitored()
    this.#use(name, [FEATURE])
    this.#restoring = () => this.#use(name, [])
    return name
  }

  group(): DomainGroup {
    return this.#state.groups.first() ?? this.ownGroup()
  }

  /** A group that the steps create. */
  ownGroup(...domains: readonly string[]): DomainGroup {
    const name = this.freshName()
    const { group } = this.#send('createDomainGroup', domains.length === 0 ? { name } : { name, domains })
    return group as DomainGroup
  }

  groupWithMember(): DomainGroup {
    return this.#state.groups.find(({ domains }) => domains.length > 0) ?? this.ownGroup(this.member())
  }

  groupBeside({ id }: DomainGroup): DomainGroup {
    return this.#state.groups.find((group) => group.id !== id) ?? this.ownGroup()
  }

  unknownGroupId(): string {
    const { alphabet, length } = this.contract.groupIds
    for (let number = 0; ; number++) {
      const digits = number.toString(2).padStart(length, '0')
      const id = [...digits].map((digit) => alphabet[Number(digit)]).join('')
      if (!this.#state.groups.has(id)) return id
    }
  }

  /** A name that no group has: `base`, by default the contract's example, with a number if that is taken. */
  freshName(base?: string): string {
    const { document, settings } = this.contract
    const schemas = document.resolved.components?.schemas ?? {}
    const { example = 'Example', maxLength } = (schemas['DomainGroupName'] ?? {}) as Json
    return freshName(this.#state, base ?? String(example), settings, maxLength as number | undefined)
  }

  #members(): Set<string> {
    return new Set([...this.#state.groups.values()].flatMap((group) => group.domains))
  }

  #use(name: string, features: readonly string[]): void {
    const path = `/accounts/${encodeURIComponent(this.#state.id)}/domains/${encodeURIComponent(name)}/features`
    this.plan({ plane: 'admin', method: 'PUT', path, body: { features } })
    const domains = this.#state.domains.update(name, (domain) => domain && { ...domain, features })
    this.#state = { ...this.#state, domains: domains as AccountState['domains'] }
  }

  /** Adds a domain. */
  #add(): string {
    const name = this.unmonitored()
    this.#send('addDomains', { domains: [name] })
    return name
  }

  /** Plans a request that changes the account, and applies the change. Returns the `data` of its answer. */
  #send(operationId: string, body: Json): Json {
    const operation = this.contract.operations.find(({ id }) => id === operationId) as Operation
    const request: ReceivedRequest = { operation, query: {}, body: { ok: true, value: body } }
    const judgement = judge(request, this.#state, this.contract, this.now)
    if (!judgement.ok) throw new SampleRefused(`${operationId} refuses ${JSON.stringify(body)}.`)
    const { method, path } = operation
    this.plan({ plane: 'service', method, path, body })
    this.#state = judgement.state
    return judgement.value.source === undefined ? judgement.value.data : {}
  }
}

/** `base`, or `base 2` and so on: the first one that no group has. A long `base` is cut, so that it has its number. */
export function freshName(
  { groupNames }: AccountState,
  base: string,
  { nameComparison }: Pick<Settings, 'nameComparison'>,
  limit = Number.POSITIVE_INFINITY,
): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : ` ${number}`
    const name = cutName(base, limit - suffix.length) + suffix
    if (!groupNames.has(comparedName(name, nameComparison))) return name
  }
}
