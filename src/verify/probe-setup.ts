import type { DomainGroup } from '../domain/account.ts'
import type { CreatedItems } from './created-items.ts'
import type { Probe, ProbeRequest, ProbeScene } from './probe.ts'

/** How many domains are added at once, for later probes too. A request may add 50. */
const POOL = 10
const MOST_ADDED = 50

/** The names of a run, and the items that it has created in the account so far. */
export class ProbeSetup {
  readonly mark: string
  readonly items: CreatedItems
  readonly #suffix: string
  #names: number

  /** `suffix` is the suffix of all domains of the run, without a dot. `names` is how many names were used before. */
  constructor({
    mark,
    suffix,
    items,
    names = 0,
  }: { mark: string; suffix: string; items: CreatedItems; names?: number }) {
    this.mark = mark
    this.#suffix = suffix
    this.items = items
    this.#names = names
  }

  /** How many names were used. */
  get names(): number {
    return this.#names
  }

  /** The next request that sets up the probe; `undefined` if the probe is ready. */
  nextSetUp(probe: Probe): ProbeRequest | undefined {
    const { missing } = this.#groupsFor(probe)
    const members = missing ?? 0
    const lacking = (probe.domains ?? 0) + members - this.items.free(1_000).length
    if (lacking > 0) {
      const count = Math.min(MOST_ADDED, Math.max(lacking, POOL))
      return { method: 'POST', path: '/domains', body: { domains: Array.from({ length: count }, this.#freshDomain) } }
    }
    if (missing === undefined) return undefined
    const domains = this.items.free(members)
    return { method: 'POST', path: '/domaingroups', body: { name: this.#freshName(), ...(members > 0 && { domains }) } }
  }

  /** The items for the requests of the probe. Everything must be set up. */
  sceneFor(probe: Probe): ProbeScene {
    const groups = this.#groupsFor(probe).wanted
    return {
      mark: this.mark,
      groups,
      domains: this.items.free(probe.domains ?? 0),
      freshDomain: this.#freshDomain,
      freshName: this.#freshName,
      unknownId: this.mark,
    }
  }

  /** The existing groups for a probe, and the number of members of the first missing group. */
  #groupsFor({ groups = [] }: Probe): { wanted: DomainGroup[]; missing: number | undefined } {
    const wanted: DomainGroup[] = []
    const taken = new Set<string>()
    for (const members of groups) {
      const group = this.items.groupWith(members, taken)
      if (group === undefined) return { wanted, missing: members }
      wanted.push(group)
      taken.add(group.id)
    }
    return { wanted, missing: undefined }
  }

  readonly #freshDomain = (): string => `${this.mark}-${++this.#names}.${this.#suffix}`
  readonly #freshName = (): string => `${this.mark} ${++this.#names}`
}
