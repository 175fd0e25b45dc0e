import { judge } from '../behaviour/judge.ts'
import type { Contract } from '../contract/contract.ts'
import type { PlannedRequest } from '../coverage/planned-request.ts'
import { freshDomain, freshName, removableDomain, someGroup } from '../coverage/samples.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import type { Json } from '../ground/json.ts'

/** The account as a request will find it, and what has to be sent before so that it is so. */
export class Preparation {
  readonly contract: Contract
  readonly steps: PlannedRequest[] = []
  #state: AccountState

  constructor(state: AccountState, contract: Contract) {
    this.contract = contract
    this.#state = state
  }

  get state(): AccountState {
    return this.#state
  }

  /** A group of the account; where there is none, one that is created first. */
  someGroup(): DomainGroup {
    return someGroup(this.#state) ?? this.#createGroup()
  }

  /** A domain that may be removed; where there is none, one that is added first. */
  removableDomain(): string {
    const present = removableDomain(this.#state, this.contract.settings)
    if (present !== undefined) return present
    const domain = freshDomain(this.#state)
    this.#send('addDomains', { domains: [domain] })
    return domain
  }

  /** A name that no group has, like `base`. */
  freshName(base?: string): string {
    const schemas = this.contract.document.resolved.components?.schemas ?? {}
    const { example, maxLength } = (schemas['DomainGroupName'] ?? {}) as { example?: unknown; maxLength?: number }
    return freshName(this.#state, base ?? String(example ?? 'Example'), this.contract.settings, maxLength)
  }

  #createGroup(): DomainGroup {
    const { group } = this.#send('createDomainGroup', { name: this.freshName() }) as { group: DomainGroup }
    return group
  }

  #send(operationId: string, body: Json): unknown {
    const operation = this.contract.operations.find(({ id }) => id === operationId)
    if (operation === undefined) throw new Error(`There is no operation ${operationId}.`)
    const outcome = judge({ operation, query: {}, body }, this.#state, this.contract)
    if (!outcome.ok) throw new Error(`${operationId} refuses an example: ${JSON.stringify(outcome.problems)}.`)
    const { method, path } = operation
    this.steps.push({ plane: 'service', method, path, key: 'valid', body })
    this.#state = outcome.state
    return outcome.value
  }
}
