import type { Belief } from './belief.ts'
import { type Admitted, takeAddition, takeDomains, takeRecords, takeRemoval } from './domain-answers.ts'
import { takeChange, takeCreation, takeDeletion, takeGroups } from './group-answers.ts'
import { type Corridor, certainCorridorOf, corridorOf, MOST_ADDED, VAGUE } from './refusals.ts'
import type { AskedRequest } from './request.ts'

/**
 * By operation: compares the data of a success with what is known, and learns from it. The result is whether the data
 * could be read; if not, it breaks the contract.
 */
const TAKES: Readonly<Record<string, (success: Admitted) => boolean>> = {
  listDmarc: takeRecords,
  listDomains: takeDomains,
  addDomains: takeAddition,
  deleteDomains: takeRemoval,
  listDomainGroups: takeGroups,
  createDomainGroup: takeCreation,
  updateDomainGroup: takeChange,
  deleteDomainGroup: takeDeletion,
}

/** Judges a success: whether the request had to be refused, and what is certain of the data. */
export function judgeSuccess({ asked, data, belief, source, report }: Omit<Admitted, 'isUnusual'>): void {
  const { sure, isOpen } = corridorOf(asked, belief)
  const [certain] = sure.length === 0 ? [] : certainCorridorOf(asked, belief).sure
  const missing = certain ?? sure[0]
  if (missing !== undefined) {
    const message = `${missing.because} ${listed(missing.codes)} is missing: the service accepted the request.`
    const isDoubtful = certain === undefined
    report({ rule: missing.rule, what: 'data', message, isDoubtful })
    if (!isDoubtful) {
      doubtAnswer(asked, belief)
      return
    }
  }
  const success = { asked, data, belief, source, report, isUnusual: isOpen }
  if (TAKES[asked.call]?.(success) === false) doubtWhatIsNamed(asked, belief)
}

/** Judges a refusal: whether a reason is possible for it. */
export function judgeRefusal(
  { asked, belief, report }: Pick<Admitted, 'asked' | 'belief' | 'report'>,
  code: string,
): void {
  const corridor = corridorOf(asked, belief)
  if (!corridor.permits(code)) {
    // Another client may have brought about a state of the account that explains it.
    const isDoubtful = certainCorridorOf(asked, belief).permits(code)
    report({ rule: ruleAgainst(code, corridor, asked), what: code, message: whyNot(code, corridor), isDoubtful })
  }
  doubtPart(asked, code, belief)
}

function whyNot(code: string, { sure: [sure] }: Corridor): string {
  if (sure === undefined) return `Nothing in the request is a reason for ${code}.`
  return `${sure.because} The code for that is ${listed(sure.codes)}, and not ${code}.`
}

function listed(codes: readonly string[]): string {
  return codes.length === 1 ? String(codes[0]) : `${codes.slice(0, -1).join(', ')} or ${codes.at(-1)}`
}

/** The rule that a refusal breaks which is not permitted. */
function ruleAgainst(code: string, { sure }: Corridor, asked: AskedRequest): string | undefined {
  const { call, fields } = asked
  const demanded = sure.find(({ rule, codes }) => rule !== undefined && NAMING_A_CODE.has(rule) && codes.length === 1)
  if (demanded !== undefined) return demanded.rule
  if (sure.length > 0) return undefined
  if (code === 'invalid_name') return call === 'createDomainGroup' ? 'name-length' : 'new-name-unique'
  // Who refuses the longest list that the specification allows has another limit.
  if (call === 'addDomains' && asked.list('domains').length === MOST_ADDED) return 'at-most-50-domains'
  return [...fields.keys()].join() === 'remove_domains' ? 'unknown-removals-ignored' : undefined
}

/** The rules whose sentence names the code of the refusal. */
const NAMING_A_CODE: ReadonlySet<string> = new Set([
  ...['update-needs-id', 'delete-needs-id', 'unknown-id-read', 'unknown-id-update', 'unknown-id-delete'],
])

/**
 * What becomes uncertain after a request that may have changed the account, and of which it is not known whether or when
 * it did: no answer came, the answer cannot be right, or other requests were on their way.
 */
export function doubtWhatIsNamed(asked: AskedRequest, belief: Belief): void {
  const { call, ids, allNames: names } = asked
  if (call === '' || asked.body === 'unknown' || asked.isOdd) {
    belief.forget()
    return
  }
  if (call === 'addDomains' || call === 'deleteDomains') doubtDomains(names, asked, belief)
  else if (call === 'createDomainGroup') belief.areGroupsComplete = false
  else if (call === 'updateDomainGroup' || call === 'deleteDomainGroup')
    belief.doubtGroups(ids.length === 1 ? ids : undefined)
  belief.doubtMembers(names)
}

/** After an addition, what was monitored before is so still. */
function doubtDomains(names: Iterable<string>, { call }: AskedRequest, belief: Belief): void {
  for (const name of names) {
    if (call === 'deleteDomains' || belief.isMonitored(name) !== true) belief.doubtDomain(name)
  }
}

/** After an answer that cannot be right, what it shows is in doubt, too. */
function doubtAnswer(asked: AskedRequest, belief: Belief): void {
  doubtWhatIsNamed(asked, belief)
  if (asked.call === 'addDomains' || asked.call === 'deleteDomains') belief.areDomainsComplete = false
  belief.doubtGroups()
}

/** The refusals of which a service may have carried out a part: nothing says that a request is done wholly or not at all. */
const IN_PART: ReadonlySet<string> = new Set([...VAGUE, 'not_monitored', 'domain_delete_failed'])

/** A service may add or remove a part of what it names in a request of which it refuses the rest. */
function doubtPart(asked: AskedRequest, code: string, belief: Belief): void {
  if (!IN_PART.has(code)) return
  const domains = asked.names('domains')
  if (asked.call === 'addDomains' && [...domains].some((name) => belief.isMonitored(name) !== false)) {
    doubtDomains(domains, asked, belief)
  } else if (asked.call === 'deleteDomains' && asked.list('domains').length > 1) doubtWhatIsNamed(asked, belief)
  else if (asked.call === 'updateDomainGroup' && asked.list('add_domains').length > 1) {
    belief.doubtGroups(asked.ids)
    belief.doubtMembers(asked.names('add_domains'))
  }
}
