import type { ReadExchange } from '../exchanges/reading.ts'
import type { Belief, Source } from './belief.ts'
import { takeChange } from './change-answers.ts'
import type { Corridor, SureRefusal } from './corridor.ts'
import { takeAddition, takeDomains, takeRecords, takeRemoval } from './domain-answers.ts'
import type { Report } from './findings.ts'
import { takeCreation, takeDeletion, takeGroups } from './group-answers.ts'
import { doubtAnswer, doubtPart, doubtWhatIsNamed } from './losses.ts'
import { codesOfState, corridorOf, MOST_ADDED } from './refusals.ts'
import type { AskedRequest } from './request.ts'
import type { Success } from './success.ts'

/** The answer to a request that the gate let through. */
export interface Admitted {
  reading: ReadExchange
  asked: AskedRequest
  belief: Belief
  source: Source
  report: Report
}

/**
 * By operation: compares the data of a success with what is known, and learns from it. The result is whether the data
 * could be read; if not, it breaks the contract.
 */
const TAKES: Readonly<Record<string, (success: Success) => boolean>> = {
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
export function judgeSuccess({ reading, asked, belief, source, report }: Admitted): void {
  if (reading.outcome.kind !== 'success') return
  const { sure } = corridorOf(asked, belief)
  const isCertain = ({ reliesOn = [] }: SureRefusal) => reliesOn.every((name) => belief.isCertain(name))
  const [missing = sure[0]] = sure.filter(isCertain)
  const isForbidden = missing !== undefined && isCertain(missing)
  if (missing !== undefined) {
    const message = `${missing.because} ${listed(missing.codes)} is missing: the service accepted the request.`
    report({ rule: missing.rule, what: 'data', message, isDoubtful: !isForbidden })
  }
  if (isForbidden) {
    doubtAnswer(asked, belief)
    return
  }
  const isRead = TAKES[asked.call]?.({ asked, data: reading.outcome.data, belief, source, report })
  if (isRead === false) doubtWhatIsNamed(asked, belief)
}

/** Judges a refusal: whether a reason is possible for it. */
export function judgeRefusal({ asked, belief, report }: Omit<Admitted, 'source'>, code: string): void {
  const corridor = corridorOf(asked, belief)
  if (!corridor.permits(code)) {
    const names = codesOfState(asked, belief).get(code)
    const isDoubtful = names?.every((name) => belief.isCertain(name)) === false
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
