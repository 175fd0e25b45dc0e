import type { DomainGroup } from '../domain/account.ts'
import type { Intent } from './created-items.ts'
import type { Permission } from './harmful-requests.ts'
import type { Inventory, LedgerContent } from './ledger.ts'

/** Knows which parts of an account belong to a run, and which to other clients. */
export class Ownership implements Permission {
  /** The text that every name of a run contains, and no other name. */
  readonly mark: string
  readonly #groups = new Set<string>()
  /** Names, with or without the mark, that the run asked the service to create. */
  readonly #asked = new Set<string>()
  #foreignDomains: ReadonlySet<string> = new Set()
  readonly #foreignGroups = new Set<string>()
  #before: Inventory | undefined

  constructor(run: string) {
    this.mark = `verify-${run}`
  }

  static of({ head, before, intents, groups }: LedgerContent): Ownership {
    const ownership = new Ownership(head.run)
    if (before !== undefined) ownership.remember(before)
    for (const intent of intents) ownership.intend(intent)
    for (const id of groups) ownership.adopt(id)
    return ownership
  }

  /** The account before the run; `undefined` until it was read. */
  get before(): Inventory | undefined {
    return this.#before
  }

  /** Whether the run may have created anything. */
  hasIntents = false

  remember(before: Inventory): void {
    this.#before = before
    this.#foreignDomains = new Set(before.domains)
    for (const { id } of before.groups) this.#foreignGroups.add(id)
  }

  /** A listed group that is not the run's belongs to another client, whatever a later answer says of it. */
  notice(listed: readonly DomainGroup[]): void {
    for (const group of listed) if (!this.isOwnListedGroup(group)) this.#foreignGroups.add(group.id)
  }

  intend({ domains = [] }: Intent): void {
    this.hasIntents = true
    for (const name of domains) this.#asked.add(name)
  }

  /** Notes that the run created this group. A group that existed before the run is ignored. */
  adopt(id: string): void {
    if (!this.#foreignGroups.has(id)) this.#groups.add(id)
  }

  /** Its name has the mark, or the run asked for exactly this name. */
  isOwnDomain(name: string): boolean {
    return !this.#foreignDomains.has(name) && (name.toLowerCase().includes(this.mark) || this.#asked.has(name))
  }

  isOwnGroup(id: string): boolean {
    return this.#groups.has(id) || id === this.mark
  }

  /** Whether a listed group belongs to the run, even if its creation got no answer. */
  isOwnListedGroup({ id, name, domains }: DomainGroup): boolean {
    if (this.#foreignGroups.has(id)) return false
    if (this.#groups.has(id) || name.toLowerCase().includes(this.mark)) return true
    return domains.length > 0 && domains.every((domain) => this.isOwnDomain(domain))
  }

  hasOnlyOwn(what: 'groups' | 'domains'): boolean {
    const before = this.#before
    return before !== undefined && before[what].length === 0
  }
}
