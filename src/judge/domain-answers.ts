import { isObject } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import type { Belief, Source } from './belief.ts'
import type { Report } from './findings.ts'
import { asciiLowered, comparable } from './names.ts'
import { type AskedRequest, areTexts } from './request.ts'

/** An answer to a request that the gate let through, with what is needed to judge it and to learn from it. */
export interface Admitted {
  asked: AskedRequest
  /** Whether a service may do with the request as it likes, and store what is sent in another form. */
  isUnusual: boolean
  /** Of a success. */
  data: unknown
  belief: Belief
  source: Source
  report: Report
}

/** In milliseconds: a day of processing, and the time to the next refresh. Then each domain has a record. */
export const LONGEST_WITHOUT_RECORD = 48 * 3_600_000

/** A list of all domains, against what is believed of the account. */
export function takeDomains(success: Admitted): boolean {
  const { data, belief, source } = success
  const spellings = compareList(isObject(data) ? data['domains'] : undefined, 'all-domains-listed', success, (name) =>
    belief.domains.get(name)?.isReleased === true ? 'members-stay-monitored' : 'all-domains-listed',
  )
  if (spellings !== undefined) belief.takeAllDomains(spellings, source)
  return spellings !== undefined
}

/** A list of all records, of which the figures are judged elsewhere. */
export function takeRecords(success: Admitted): boolean {
  const { data, belief, source } = success
  const names: unknown = Array.isArray(data) ? data.map((each) => (isObject(each) ? each['domain'] : undefined)) : data
  const spellings = compareList(names, 'one-record-per-domain', success, (name) => {
    const { hadRecord, knownSince = 0 } = belief.domains.get(name) ?? {}
    // A new domain may have no record at first; one that had a record keeps it.
    const isLate = hadRecord === true || source.at - knownSince > LONGEST_WITHOUT_RECORD
    return isLate ? 'one-record-per-domain' : undefined
  })
  for (const [name, spelling] of spellings ?? []) belief.seeDomain(name, spelling, source, true)
  return spellings !== undefined
}

/**
 * Compares the domains of a list with what is believed, and reports the first mismatch of each rule, and one of those that
 * another client may have caused. `missed` names the rule that a missing domain breaks, if it breaks one. Returns the
 * spellings by name; `undefined` for what is no list of domains.
 */
function compareList(
  list: unknown,
  rule: string,
  { belief, report }: Admitted,
  missed: (name: string) => string | undefined,
): ReadonlyMap<string, string> | undefined {
  if (!areTexts(list)) return undefined
  const spellings = new Map(list.map((entry) => [comparable(entry), entry]))
  const twice = spellings.size === list.length ? undefined : repeatedIn(list)
  if (twice !== undefined) report({ rule, what: 'data', message: `${show(twice)} is listed twice.` })
  const told = new Set<string>()
  const words = rule === 'one-record-per-domain' ? ['has a record', 'has no record'] : ['is listed', 'is not listed']
  const note = (name: string, broken: string, isDoubtful: boolean, what = '') => {
    const key = isDoubtful ? '' : broken
    if (told.has(key)) return
    told.add(key)
    const since = `${belief.domains.get(name)?.by || 'An earlier answer'} shows the opposite.`
    report({ rule: broken, what: 'state', message: `${show(name)} ${what}. ${since}`, isDoubtful })
  }
  for (const [name, { isMonitored }] of belief.domains) {
    const broken = isMonitored === true && !spellings.has(name) ? missed(name) : undefined
    if (broken !== undefined) note(name, broken, !belief.isSoleWriter, words[1])
  }
  for (const name of spellings.keys()) {
    if (belief.isMonitored(name) === false) note(name, rule, !belief.isOwn(name), words[0])
  }
  return spellings
}

/** The answer to an addition. Some services show only the domains that were not there before. */
export function takeAddition({ asked, isUnusual, data, belief, source, report }: Admitted): boolean {
  const answer = readCounted(data)
  if (answer === undefined) return false
  const names = [...asked.names('domains')]
  const { count, shown } = answer
  const note = (rule: string, message: string, isDoubtful = false) =>
    report({ rule, what: 'data', message, isDoubtful })
  if (!isUnusual) reportStrangers(answer, asked, report)
  const fresh = names.filter((name) => belief.isMonitored(name) === false)
  if (count < 0 || count > shown.size) {
    const isMonitored = names.some((name) => belief.isMonitored(name) === true)
    note(isMonitored ? 'no-duplicates' : 'count-of-added', differs(answer))
  } else if (count < fresh.length && !isUnusual) {
    const message = `count is ${count}, but ${fresh.length} of the domains were not monitored before.`
    note('count-of-added', message, !fresh.every(belief.isOwn))
  }
  const areAllNew = count === names.length
  for (const entry of asked.list('domains')) {
    const name = comparable(entry)
    const isMonitored = belief.isMonitored(name)
    if (isMonitored === true) continue
    if (!shown.has(name)) belief.doubtDomain(name)
    else if (areAllNew || isMonitored === false) belief.addDomain(name, entry, source)
    else belief.seeDomain(name, entry, source)
  }
  return true
}

/** The answer to a removal. Domains that were not monitored may be named in it, or left out. */
export function takeRemoval({ asked, isUnusual, data, belief, source, report }: Admitted): boolean {
  const answer = readCounted(data)
  if (answer === undefined) return false
  const names = [...asked.names('domains')]
  const { count, shown } = answer
  const note = (message: string, isDoubtful: boolean) =>
    report({ rule: 'deleted-domains-answered', what: 'data', message, isDoubtful })
  if (!isUnusual) reportStrangers(answer, asked, report)
  if (count !== shown.size) note(differs(answer), count >= 0 && count < shown.size && shown.size < names.length)
  else if (!isUnusual && count < names.length && names.every((name) => belief.isMonitored(name) === true)) {
    note(`count is ${count}, but ${names.length} domains were to be removed.`, !belief.isSoleWriter)
  }
  for (const name of names) {
    if (!isUnusual || shown.has(name)) belief.removeDomain(name, source.by)
    else belief.doubtDomain(name)
  }
  return true
}

interface Counted {
  entries: readonly string[]
  /** The names of the entries. */
  shown: ReadonlySet<string>
  count: number
}

function readCounted(data: unknown): Counted | undefined {
  const { domains, count } = isObject(data) ? data : {}
  if (!areTexts(domains) || !Number.isInteger(count)) return undefined
  return { shown: new Set(domains.map(comparable)), entries: domains, count: count as number }
}

function differs({ count, shown }: Counted): string {
  return `count is ${count}, but the answer names ${shown.size} domains.`
}

/** An answer names only domains that the request names, and each once. */
function reportStrangers({ entries, shown }: Counted, asked: AskedRequest, report: Report): void {
  const stranger = [...shown].find((name) => !asked.names('domains').has(name))
  if (stranger !== undefined) {
    report({ what: 'data', message: `The answer names ${show(stranger)}, and the request does not.` })
  }
  const twice = shown.size === entries.length ? undefined : repeatedIn(entries)
  if (twice !== undefined) report({ what: 'data', message: `The answer names ${show(twice)} twice.` })
}

/**
 * The first name that a list has twice. Hostnames are the same without regard to case (RFC 4343); the specification
 * shows nothing else that makes them so.
 */
export function repeatedIn(list: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return list.find((entry) => seen.size === seen.add(asciiLowered(entry)).size)
}
