import { isObject } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import type { Report } from './findings.ts'
import { asciiLowered, comparable, isPlainHostname } from './names.ts'
import { areTexts } from './request.ts'
import type { Success } from './success.ts'

const ALL_LISTED = 'all-domains-listed'
const ONE_RECORD = 'one-record-per-domain'
/** In milliseconds: a day of processing, and the time to the next refresh. Then each domain has a record. */
const LONGEST_WITHOUT_RECORD = 48 * 3_600_000

/** A list of all domains, against what is believed of the account. */
export function takeDomains(success: Success): boolean {
  const { data, belief, source, report } = success
  const list = isObject(data) ? data['domains'] : undefined
  if (!areTexts(list)) return false
  reportTwice(list, ALL_LISTED, report)
  const spellings = new Map(list.map((entry) => [comparable(entry), entry]))
  compareList(spellings, success, (name, isThere) => {
    const rule = !isThere && belief.isReleased(name) ? 'members-stay-monitored' : ALL_LISTED
    return { rule, message: `${show(name)} is ${isThere ? '' : 'not '}listed.` }
  })
  belief.takeAllDomains(spellings, source)
  return true
}

/** A list of all records, of which the figures are judged elsewhere. */
export function takeRecords(success: Success): boolean {
  const { data, belief, source, report } = success
  const list: unknown = Array.isArray(data) ? data.map((each) => (isObject(each) ? each['domain'] : undefined)) : data
  if (!areTexts(list)) return false
  reportTwice(list, ONE_RECORD, report)
  const spellings = new Map(list.map((entry) => [comparable(entry), entry]))
  compareList(spellings, success, (name, isThere) => {
    const known = belief.domain(name)
    // A new domain may have no record at first; one that had a record keeps it.
    const isNew = known?.hadRecord === false && source.at - known.knownSince <= LONGEST_WITHOUT_RECORD
    if (!isThere && isNew) return undefined
    return { rule: ONE_RECORD, message: `${show(name)} has ${isThere ? 'a' : 'no'} record.` }
  })
  for (const [name, spelling] of spellings) belief.seeRecord(name, spelling, source)
  return true
}

/**
 * Compares the domains of a list with what is believed, and reports the first mismatch of each rule, and one of those
 * that another client may have caused. `describe` says what a mismatch is; `undefined` if it is none.
 */
function compareList(
  spellings: ReadonlyMap<string, string>,
  { belief, report }: Success,
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
    const by = belief.domain(name)?.by
    const since = by ? `${by} shows the opposite.` : 'Earlier answers show the opposite.'
    report({ rule, what: 'state', message: `${message} ${since}`, isDoubtful })
  }
  for (const [name, { isMonitored }] of belief.domains) {
    if (isMonitored === true && !spellings.has(name)) note(name, false)
  }
  for (const name of spellings.keys()) if (belief.isMonitored(name) === false) note(name, true)
}

/** The answer to an addition. Some services show only the domains that were not there before. */
export function takeAddition({ asked, data, belief, source, report }: Success): boolean {
  const answer = readCounted(data)
  if (answer === undefined) return false
  const names = asked.names('domains')
  const { count } = answer
  if (!asked.isOdd) reportStrangers(answer, names, report)
  const fresh = [...names].filter((name) => belief.isMonitored(name) === false)
  if (count < 0 || count > answer.names.size) {
    const isMonitored = [...names].some((name) => belief.isMonitored(name) === true)
    const message = `count is ${count}, but the answer names ${answer.names.size} domains.`
    report({ rule: isMonitored ? 'no-duplicates' : 'count-of-added', what: 'data', message })
  } else if (count < fresh.length && !asked.isOdd) {
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
export function takeRemoval({ asked, data, belief, source, report }: Success): boolean {
  const answer = readCounted(data)
  if (answer === undefined) return false
  const names = asked.names('domains')
  const entries = asked.list('domains')
  const { count } = answer
  const rule = 'deleted-domains-answered'
  if (!asked.isOdd) reportStrangers(answer, names, report)
  const areAllKnown = entries.every((entry) => isPlainHostname(entry) && belief.isMonitored(comparable(entry)) === true)
  if (count !== answer.names.size) {
    const isPossible = count >= 0 && count < answer.names.size && answer.names.size < names.size
    const message = `count is ${count}, but the answer names ${answer.names.size} domains.`
    report({ rule, what: 'data', message, isDoubtful: isPossible })
  } else if (areAllKnown && !asked.isOdd && count < names.size) {
    const isDoubtful = ![...names].every((name) => belief.isCertain(name))
    report({
      rule,
      what: 'data',
      message: `count is ${count}, but ${names.size} domains were to be removed.`,
      isDoubtful,
    })
  }
  for (const entry of entries) {
    const name = comparable(entry)
    if (isPlainHostname(entry) || answer.names.has(name)) belief.removeDomain(name, source.by)
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
  return areTexts(domains) && Number.isInteger(count)
    ? { names: new Set(domains.map(comparable)), entries: domains, count: count as number }
    : undefined
}

/** An answer names only domains that the request names, and each once. */
function reportStrangers({ entries, names }: Counted, asked: ReadonlySet<string>, report: Report): void {
  const stranger = [...names].find((name) => !asked.has(name))
  if (stranger !== undefined)
    report({ what: 'data', message: `The answer names ${show(stranger)}, and the request does not.` })
  const twice = repeatedIn(entries)
  if (twice !== undefined) report({ what: 'data', message: `The answer names ${show(twice)} twice.` })
}

function reportTwice(list: readonly string[], rule: string, report: Report): void {
  const twice = repeatedIn(list)
  if (twice !== undefined) report({ rule, what: 'data', message: `${show(twice)} is listed twice.` })
}

/**
 * The first name that a list has twice. Hostnames are the same without regard to case (RFC 4343); the specification
 * shows nothing else that makes them so.
 */
export function repeatedIn(list: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return list.find((entry) => seen.size === seen.add(asciiLowered(entry)).size)
}
