import type { FaultTally } from '../../domain/faults.ts'
import { pointTo } from '../../ground/json.ts'
import { show } from '../../ground/show.ts'
import type { AccountRecord } from '../record.ts'

/** The parts of a valid file that are checked. */
interface Linked {
  account: AccountRecord
  tallies: Readonly<Record<string, FaultTally>>
}

/** Finds contradictions that a schema cannot express. Returns a JSON pointer and the rest of a sentence, if any. */
export function findBrokenLink({ account, tallies }: Linked): string | undefined {
  const { domains, formerDomains = [], groups, keys, faults } = account
  return (
    repeatedIn('/account/domains', 'name', domains) ??
    repeatedIn('/account/formerDomains', 'name', formerDomains) ??
    repeatedIn('/account/groups', 'id', groups) ??
    strangerIn(account) ??
    repeatedIn('/account/keys', 'hash', keys) ??
    repeatedIn('/account/faults', 'id', faults) ??
    wrongOrdinalIn(account) ??
    wrongTallyIn(tallies)
  )
}

function repeatedIn<Field extends string>(
  pointer: string,
  field: Field,
  items: readonly Readonly<Record<Field, string>>[],
): string | undefined {
  const index = repeatedAt(items.map(({ [field]: value }) => value))
  return index < 0 ? undefined : `${pointer}/${index}/${field} ${show(items[index]?.[field])} appears twice`
}

/** The place of the first text that is there before; -1 if all texts differ. */
function repeatedAt(texts: readonly string[]): number {
  const known = new Set<string>()
  return texts.findIndex((text) => known.size === known.add(text).size)
}

function strangerIn({ domains, groups }: AccountRecord): string | undefined {
  if (groups.length === 0) return undefined
  const names = new Set(domains.map(({ name }) => name))
  for (const [index, { domains: members }] of groups.entries()) {
    const stranger = members.findIndex((member) => !names.has(member))
    if (stranger >= 0) return `/account/groups/${index}/domains/${stranger} ${show(members[stranger])} is not monitored`
    const repeated = repeatedAt(members)
    if (repeated >= 0) return `/account/groups/${index}/domains/${repeated} ${show(members[repeated])} appears twice`
  }
  return undefined
}

/** Ids of fault rules are given in ascending order, so that no id is given twice. */
function wrongOrdinalIn({ faults, faultsCreated }: AccountRecord): string | undefined {
  for (const [index, { id }] of faults.entries()) {
    const ordinal = Number(/^fault_([1-9]\d*)$/.exec(id)?.[1] ?? Number.NaN)
    if (ordinal <= faultsCreated) continue
    return `/account/faults/${index}/id ${show(id)} is none of the ids fault_1 to fault_${faultsCreated} (/account/faultsCreated)`
  }
  return undefined
}

function wrongTallyIn(tallies: Linked['tallies']): string | undefined {
  for (const [id, { matched, hits }] of Object.entries(tallies)) {
    if (hits > matched)
      return `${pointTo('/tallies', id)}/hits is ${hits}, which is more than the ${matched} that matched`
  }
  return undefined
}
