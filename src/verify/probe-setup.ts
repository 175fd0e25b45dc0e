import type { DomainGroup } from '../domain/account.ts'
import type { Holdings } from './holdings.ts'
import { MOST_DOMAINS, type Probe, type ProbeRequest, type ProbeScene } from './probe.ts'

/** How many domains are added at once, for later probes too. */
const POOL = 10

/** Makes the names of a run, and sets up its probes with what it holds. */
export class ProbeSetup {
  /** How many names were used. */
  names: number
  readonly #holdings: Holdings
  readonly #suffix: string

  /** `suffix` is the suffix of all domains of the run, without a dot. `names` is how many names were used before. */
  constructor({ holdings, suffix, names = 0 }: { holdings: Holdings; suffix: string; names?: number }) {
    this.#holdings = holdings
    this.#suffix = suffix
    this.names = names
  }

  /** The next request that sets up the probe; `undefined` if the probe is ready. */
  nextSetUp(probe: Probe): ProbeRequest | undefined {
    const { missing } = this.#groupsFor(probe)
    const members = missing ?? 0
    const lacking = (probe.domains ?? 0) + members - this.#holdings.free(1_000).length
    if (lacking > 0) {
      const count = Math.min(MOST_DOMAINS, Math.max(lacking, POOL))
      return { method: 'POST', path: '/domains', body: { domains: Array.from({ length: count }, this.#freshDomain) } }
    }
    if (missing === undefined) return undefined
    const domains = this.#holdings.free(members)
    return { method: 'POST', path: '/domaingroups', body: { name: this.#freshName(), ...(members > 0 && { domains }) } }
  }

  /** The items for the requests of the probe. Everything must be set up. */
  sceneFor(probe: Probe): ProbeScene {
    const groups = this.#groupsFor(probe).wanted
    const { mark, before } = this.#holdings
    return {
      mark,
      groups,
      domains: this.#holdings.free(probe.domains ?? 0),
      freshDomain: this.#freshDomain,
      freshName: this.#freshName,
      unknownId: mark,
      readableId: before?.groups[0]?.id ?? mark,
    }
  }

  /** The existing groups for a probe, and the number of members of the first missing group. */
  #groupsFor({ groups = [] }: Probe): { wanted: DomainGroup[]; missing: number | undefined } {
    const wanted: DomainGroup[] = []
    const taken = new Set<string>()
    for (const members of groups) {
      const group = this.#holdings.groupWith(members, taken)
      if (group === undefined) return { wanted, missing: members }
      wanted.push(group)
      taken.add(group.id)
    }
    return { wanted, missing: undefined }
  }

  readonly #freshDomain = (): string => `${this.#holdings.mark}-${++this.names}.${this.#suffix}`
  readonly #freshName = (): string => `${this.#holdings.mark} ${++this.names}`
}
