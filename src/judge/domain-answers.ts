import { isObject } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import type { Belief, Source } from './belief.ts'
import type { Report } from './findings.ts'
import { asciiLowered, comparable } from './names.ts'
import { type AskedRequest, areTexts } from './request.ts'

/** An answer to a request that the gate let through, with what is needed to judge it and to learn from it. */
export interface Admitted {
  asked: AskedRequest
  /** Of a success. */
  data: unknown
  belief: Belief
  source: Source
  report: Report
}

const ALL_LISTED = 'all-domains-listed'
const ONE_RECORD = 'one-record-per-domain'
/** In milliseconds: a day of processing, and the time to the next refresh. Then each domain has a record. */
const LONGEST_WITHOUT_RECORD = 48 * 3_600_000

/** A list of all domains, against what is believed of the account. */
export function takeDomains(success: Admitted): boolean {
  const { data, belief, source } = success
  const spellings = readList(isObject(data) ? data['domains'] : undefined, ALL_LISTED, success)
  if (spellings === undefined) return false
  compareList(spellings, success, (name, isThere) => {
    const isReleased = !isThere && belief.domains.get(name)?.isReleased === true
    const rule = isReleased ? 'members-stay-monitored' : ALL_LISTED
    return { rule, message: `${show(name)} is ${isThere ? '' : 'not '}listed.` }
  })
  belief.takeAllDomains(spellings, source)
  return true
}

/** A list of all records, of which the figures are judged elsewhere. */
export function takeRecords(success: Admitted): boolean {
  const { data, belief, source } = success
  const names: unknown = Array.isArray(data) ? data.map((each) => (isObject(each) ? each['domain'] : undefined)) : data
  const spellings = readList(names, ONE_RECORD, success)
  if (spellings === undefined) return false
  compareList(spellings, success, (name, isThere) => {
    const known = belief.domains.get(name)
    // A new domain may have no record at first; one that had a record keeps it.
    const isNew = known?.hadRecord !== true && source.at - (known?.knownSince ?? 0) <= LONGEST_WITHOUT_RECORD
    if (!isThere && isNew) return undefined
    return { rule: ONE_RECORD, message: `${show(name)} has ${isThere ? 'a' : 'no'} record.` }
  })
  for (const [name, spelling] of spellings) belief.seeDomain(name, spelling, source, true)
  return true
}

/** The spellings of the domains of a list, by name. A domain that is listed twice is reported. */
function readList(list: unknown, rule: string, { report }: Admitted): ReadonlyMap<string, string> | undefined {
  if (!areTexts(list)) return undefined
  const spellings = new Map(list.map((entry) => [comparable(entry), entry]))
  const twice = spellings.size === list.length ? undefined : repeatedIn(list)
  if (twice !== undefined) report({ rule, what: 'data', message: `${show(twice)} is listed twice.` })
  return spellings
}

/**
 * Compares the domains of a list with what is believed, and reports the first mismatch of each rule, and one of those
 * that another client may have caused. `describe` says what a mismatch is; `undefined` if it is none.
 */
function compareList(
  spellings: ReadonlyMap<string, string>,
  { belief, report }: Admitted,
  describe: (name: string, isThere: boolean) => { rule: string; message: string } | undefined,
): void {
  const told = new Set<string>()
  const note = (name: string, isThere: boolean) => {
    const mismatch = describe(name, isThere)
    if (mismatch === undefined) return
    const { rule, message } = mismatch
    const isDoubtful = !belief.isCertain(name)
    const key = isDoubtful ? '' : rule
    if (told.has(key)) return
    told.add(key)
    const since = `${belief.domains.get(name)?.by || 'An earlier answer'} shows the opposite.`
    report({ rule, what: 'state', message: `${message} ${since}`, isDoubtful })
  }
  for (const [name, { isMonitored }] of belief.domains) {
    if (isMonitored === true && !spellings.has(name)) note(name, false)
  }
  for (const name of spellings.keys()) if (belief.isMonitored(name) === false) note(name, true)
}

/** The answer to an addition. Some services show only the domains that were not there before. */
export function takeAddition({ asked, data, belief, source, report }: Admitted): boolean {
  const answer = readCounted(data)
  if (answer === undefined) return false
  const names = asked.names('domains')
  const { count } = answer
  if (!asked.isUnusual) reportStrangers(answer, names, report)
  const fresh = [...names].filter((name) => belief.isMonitored(name) === false)
  if (count < 0 || count > answer.names.size) {
    const isMonitored = [...names].some((name) => belief.isMonitored(name) === true)
    const rule = isMonitored ? 'no-duplicates' : 'count-of-added'
    report({ rule, what: 'data', message: differs(answer) })
  } else if (count < fresh.length && !asked.isUnusual) {
    const isDoubtful = !fresh.every((name) => belief.isCertain(name))
    const message = `count is ${count}, but ${fresh.length} of the domains were not monitored before.`
    report({ rule: 'count-of-added', what: 'data', message, isDoubtful })
  }
  const areAllNew = count === names.size
  for (const entry of asked.list('domains')) {
    const name = comparable(entry)
    const isMonitored = belief.isMonitored(name)
    if (isMonitored === true) continue
    if (!answer.names.has(name)) belief.doubtDomain(name)
    else if (areAllNew || isMonitored === false) belief.addDomain(name, entry, source)
    else belief.seeDomain(name, entry, source)
  }
  return true
}

/** The answer to a removal. Domains that were not monitored may be named in it, or left out. */
export function takeRemoval({ asked, data, belief, source, report }: Admitted): boolean {
  const answer = readCounted(data)
  if (answer === undefined) return false
  const names = asked.names('domains')
  const { count } = answer
  const note = (message: string, isDoubtful: boolean) =>
    report({ rule: 'deleted-domains-answered', what: 'data', message, isDoubtful })
  if (!asked.isUnusual) reportStrangers(answer, names, report)
  if (count !== answer.names.size) {
    note(differs(answer), count >= 0 && count < answer.names.size && answer.names.size < names.size)
  } else if (!asked.isUnusual && count < names.size && [...names].every((name) => belief.isMonitored(name) === true)) {
    const isDoubtful = ![...names].every((name) => belief.isCertain(name))
    note(`count is ${count}, but ${names.size} domains were to be removed.`, isDoubtful)
  }
  for (const name of names) {
    if (!asked.isUnusual || answer.names.has(name)) belief.removeDomain(name, source.by)
    else belief.doubtDomain(name)
  }
  return true
}

interface Counted {
  names: ReadonlySet<string>
  entries: readonly string[]
  count: number
}

function readCounted(data: unknown): Counted | undefined {
  const { domains, count } = isObject(data) ? data : {}
  if (!areTexts(domains) || !Number.isInteger(count)) return undefined
  return { names: new Set(domains.map(comparable)), entries: domains, count: count as number }
}

function differs({ count, names }: Counted): string {
  return `count is ${count}, but the answer names ${names.size} domains.`
}

/** An answer names only domains that the request names, and each once. */
function reportStrangers({ entries, names }: Counted, asked: ReadonlySet<string>, report: Report): void {
  const stranger = [...names].find((name) => !asked.has(name))
  if (stranger !== undefined)
    report({ what: 'data', message: `The answer names ${show(stranger)}, and the request does not.` })
  const twice = repeatedIn(entries)
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
