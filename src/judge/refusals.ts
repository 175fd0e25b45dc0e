import { Belief } from './belief.ts'
import { certainPart, type Known } from './certainty.ts'
import { asciiLowered, comparable, isBadName, isPlainHostname, isUnusualName, mayBeHostname } from './names.ts'
import type { AskedRequest } from './request.ts'

/** Where the specification demands a refusal, or permits one, and shows no code that fits. */
export const VAGUE = [
  'invalid_request_body',
  'invalid_field_type',
  'invalid_domain',
  'missing_field',
  'request_too_large',
] as const

/** Why a service refuses a request. */
interface Reason {
  /** Any of these codes may stand for it; `undefined` if the specification does not speak of it, so that any code may. */
  codes: readonly string[] | undefined
  /** The id of the assumption that it is about, if it is one. */
  choice?: string | undefined
}

/** A reason of every admissible service. */
export interface SureReason extends Reason {
  codes: readonly string[]
  /** A sentence about the request. */
  because: string
  /** The rule of the specification that demands it, if it has one. */
  rule?: string | undefined
}

/** Stands for an assumption where no alternative of openapi.yaml refuses the request. */
const UNLISTED = 'unlisted'

/**
 * What admissible services may answer to a request. More than one reason can apply: the specification gives no order of
 * checks, so a service may answer with any of them.
 */
export class Corridor {
  readonly sure: SureReason[] = []
  readonly #may: Reason[] = []
  /** Whether the request is beyond what the specification speaks of: a service may do with it as it likes. */
  isOpen = false
  readonly #isOdd: boolean

  /** A body that services may read in another way leaves nothing sure: `isOdd`. */
  constructor(isOdd: boolean) {
    this.#isOdd = isOdd
  }

  must(codes: readonly string[], because: string, more: Omit<SureReason, 'codes' | 'because'> = {}): void {
    if (this.#isOdd) this.may(codes, more.choice)
    else this.sure.push({ codes, because, ...more })
  }

  may(codes: readonly string[] | undefined, choice?: string): void {
    this.#may.push({ codes, choice })
    if (codes === undefined) this.isOpen = true
  }

  /** Whether some admissible service refuses the request with this code. */
  permits(code: string): boolean {
    return this.#reasonsFor(code).length > 0
  }

  /** The only choice that a refusal with this code can be about. */
  choiceBehind(code: string): string | undefined {
    const choices = new Set(this.#reasonsFor(code).map(({ choice }) => choice))
    choices.delete(UNLISTED)
    const [only, ...others] = choices
    return others.length === 0 ? only : undefined
  }

  #reasonsFor(code: string): Reason[] {
    return [...this.sure, ...this.#may].filter(({ codes }) => codes === undefined || codes.includes(code))
  }
}

/** The refusals of a body that cannot be read as intended. */
const UNREAD = ['invalid_json', 'invalid_request_body', 'invalid_field_type', 'missing_field', 'no_fields_to_update']
/**
 * In bytes. No service is told how large a body may be, but each has to take bodies up to the first size; and no alternative
 * of openapi.yaml refuses those up to the second.
 */
const [SMALL_BODY, SMALLEST_LIMIT] = [1_000, 16_384]

/**
 * The corridor of a request that the gate lets through. `belief` is what is known of the account. It states the refusals
 * of the specification apart from the stand-in, so that a mistake of the stand-in accuses nobody.
 */
export function corridorOf(asked: AskedRequest, belief: Known): Corridor {
  const corridor = new Corridor(asked.isOdd)
  if (asked.isOddlyTyped) corridor.may(undefined, 'content-type')
  if (asked.isOddlyWritten) corridor.may(undefined)
  if (asked.hasUnknownParameter) {
    corridor.may(['unknown_field', 'invalid_request_body', 'invalid_field_type'], 'unknown-query-parameters')
  }
  refuseId(asked, belief, corridor)
  refuseReading(asked, corridor)
  if (asked.body === 'object') {
    refuseFields(asked, corridor)
    if (asked.call === 'addDomains') refuseAddition(asked, belief, corridor)
    else if (asked.call === 'deleteDomains') refuseDeletion(asked, belief, corridor)
    else refuseGroup(asked, belief, corridor)
  }
  return corridor
}

const NEEDED_ID: Readonly<Record<string, string>> = {
  updateDomainGroup: 'update-needs-id',
  deleteDomainGroup: 'delete-needs-id',
}

function refuseId({ call, ids }: AskedRequest, belief: Known, corridor: Corridor): void {
  const rule = NEEDED_ID[call]
  const [id] = ids
  if (rule !== undefined && ids.every((each) => each === '')) {
    if (id === undefined) corridor.must(['missing_id'], 'The request has no `id`.', { rule })
    else corridor.must(['missing_id', 'not_found'], 'The `id` is empty.')
  }
  if (ids.length > 1 || ids.includes('')) corridor.may(undefined)
  if (id === undefined || id === '' || ids.length > 1) return
  const isThere = belief.isGroup(id)
  if (isThere === undefined) corridor.may(['not_found'])
  if (isThere !== false) return
  const deleted = belief.gone.get(id)
  const because = deleted === undefined ? 'No group has this `id`.' : 'The group with this `id` was deleted.'
  corridor.must(['not_found'], because, { rule: UNKNOWN_ID[call] })
}

const UNKNOWN_ID: Readonly<Record<string, string>> = {
  listDomainGroups: 'unknown-id-read',
  updateDomainGroup: 'unknown-id-update',
  deleteDomainGroup: 'unknown-id-delete',
}

/** What hinders a service from reading the body. */
function refuseReading({ body, size }: AskedRequest, corridor: Corridor): void {
  if (size > SMALL_BODY) corridor.may(['request_too_large'], size > SMALLEST_LIMIT ? 'body-limit' : UNLISTED)
  if (body === 'ignored' && size > 0) corridor.may(['invalid_request_body', 'invalid_json', 'unknown_field'])
  else if (body === 'empty') corridor.must(UNREAD, 'The request has no body.')
  else if (body === 'not JSON') corridor.must(['invalid_json', 'invalid_request_body'], 'The body is not JSON.')
  else if (body === 'no object') corridor.must([...UNREAD, 'unknown_field'], 'The body is JSON, but no object.')
}

/** Fields that are unknown, missing, or of the wrong type, and values that services may read in different ways. */
function refuseFields(asked: AskedRequest, corridor: Corridor): void {
  const { call, form, fields } = asked
  const { lists = [], texts = [], required = [] } = form ?? {}
  for (const [name, value] of fields) {
    const isList = lists.includes(name)
    const entries = asked.list(name)
    if (value === null) {
      // A service may take null for absent.
      corridor.may(undefined, 'null-fields')
      const codes = ['invalid_field_type', 'missing_field']
      if (required.includes(name)) corridor.must(codes, `\`${name}\` is null.`, { choice: 'null-fields' })
    } else if (!isList && !texts.includes(name)) {
      corridor.must(['unknown_field'], 'The body has a field that is not supported.')
    } else if (isList ? !Array.isArray(value) : typeof value !== 'string') {
      corridor.must(['invalid_field_type'], `\`${name}\` has the wrong type.`)
    } else if (Array.isArray(value) && entries.length < value.length) {
      corridor.must(['invalid_field_type', 'invalid_domain'], `An entry of \`${name}\` has the wrong type.`)
    }
    const isUnusual = entries.some((entry) => !isPlainHostname(entry) && mayBeHostname(entry))
    const isRepeated = call !== 'addDomains' && asked.names(name).size < entries.length
    if (isUnusual || isRepeated) corridor.may(undefined)
  }
  for (const name of required) if (!fields.has(name)) corridor.must(['missing_field'], `The body has no \`${name}\`.`)
}

/** The most domains that one request adds by the specification, whatever an overlay says. */
export const MOST_ADDED = 50
/** The specification rejects a domain that is named twice, or monitored already, and shows no code for it. */
const DUPLICATE = ['invalid_domain', 'invalid_request_body', 'invalid_field_type'] as const

function refuseAddition(asked: AskedRequest, belief: Known, corridor: Corridor): void {
  const entries = asked.list('domains')
  const names = asked.names('domains')
  if (asked.hasEmpty('domains')) corridor.may(VAGUE)
  const choice = 'too-many-domains'
  if (names.size > MOST_ADDED) {
    corridor.must(VAGUE, `The request adds ${entries.length} domains.`, { rule: 'at-most-50-domains', choice })
  } else if (entries.length > MOST_ADDED) corridor.may(VAGUE, choice)
  const bad = entries.find((entry) => !mayBeHostname(entry))
  if (bad !== undefined) corridor.must(['invalid_domain'], 'An entry is no hostname.', { rule: 'valid-hostnames' })
  if (new Set(entries.map(asciiLowered)).size < entries.length) {
    corridor.must(DUPLICATE, 'A domain is named twice.', { rule: 'no-duplicates', choice: 'repeated-domains' })
  }
  // A service may take a domain that it monitors for a duplicate, or be content.
  if (isOne(names, (name) => belief.isMonitored(name) !== false)) corridor.may(DUPLICATE, 'already-monitored')
}

function refuseDeletion(asked: AskedRequest, belief: Known, corridor: Corridor): void {
  const names = asked.names('domains')
  // Nothing shows which domains are used by monitoring features.
  if (isOne(names, (name) => belief.isMonitored(name) !== false)) {
    corridor.may(['domain_delete_failed'], 'deletion-of-members')
  }
  if (asked.hasEmpty('domains') || names.size > MOST_ADDED) corridor.may(VAGUE)
  const isUnmonitored = isOne(names, (name) => belief.isMonitored(name) !== true)
  // A service may be content with what is gone already.
  if (isUnmonitored) corridor.may([...UNKNOWN_MEMBER, 'domain_delete_failed'], 'unmonitored-deletion')
  if (!asked.list('domains').every(isPlainHostname)) corridor.may(UNKNOWN_MEMBER)
}

function isOne(names: ReadonlySet<string>, fits: (name: string) => boolean): boolean {
  for (const name of names) if (fits(name)) return true
  return false
}

/** What services refuse of the body of a request that creates or changes a group. */
function refuseGroup(asked: AskedRequest, belief: Known, corridor: Corridor): void {
  if (asked.call === 'updateDomainGroup') refuseChange(asked, corridor)
  const name = asked.text('name')
  if (name !== undefined) refuseName(name, asked, belief, corridor)
  for (const field of ['domains', 'add_domains']) {
    for (const entry of asked.list(field)) refuseMember(entry, asked, belief, corridor)
  }
}

/** Which fields a change may have together. */
function refuseChange(asked: AskedRequest, corridor: Corridor): void {
  const fields = ['name', 'domains', 'add_domains', 'remove_domains'].filter((field) => asked.has(field))
  if (fields.length === 0) {
    corridor.must(['no_fields_to_update'], 'The body changes nothing.', { rule: 'update-needs-a-field' })
  }
  const isMixed = asked.has('domains') && (asked.has('add_domains') || asked.has('remove_domains'))
  if (isMixed && fields.every((field) => asked.fields.get(field) !== null)) {
    const because = '`domains` is sent together with `add_domains` or `remove_domains`.'
    corridor.must(['conflicting_fields'], because, { rule: 'no-mixed-changes' })
  }
  if (fields.some((field) => asked.hasEmpty(field))) {
    corridor.may(['no_fields_to_update', 'missing_field', 'invalid_request_body'], 'empty-lists')
  }
}

function refuseName(name: string, asked: AskedRequest, belief: Known, corridor: Corridor): void {
  const isNew = asked.call === 'createDomainGroup'
  const [length, unique] = isNew ? ['name-length', 'name-unique'] : [undefined, 'new-name-unique']
  if (name === '') corridor.must(['invalid_name', 'missing_field'], 'The name is empty.', { rule: length })
  else if (isBadName(name)) corridor.must(['invalid_name'], 'The name is too long.', { rule: length ?? unique })
  else if (isUnusualName(name)) corridor.may(undefined)
  if (belief.mayBeTaken(name)) corridor.may(['duplicate_name'])
  for (const id of belief.groupsNamed(name)) {
    const taken = belief.groups.get(id)?.name ?? ''
    if (asked.ids.includes(id) || asciiLowered(taken) !== asciiLowered(name)) continue
    const because = `The group ${JSON.stringify(id)} has this name.`
    corridor.must(['duplicate_name'], because, { rule: unique })
    return
  }
}

const UNKNOWN_MEMBER = ['not_monitored', 'invalid_domain', 'invalid_request_body'] as const

function refuseMember(entry: string, asked: AskedRequest, belief: Known, corridor: Corridor): void {
  const rule = asked.call === 'createDomainGroup' ? 'members-monitored' : undefined
  const name = comparable(entry)
  const isMonitored = belief.isMonitored(name)
  if (!mayBeHostname(entry)) corridor.must(UNKNOWN_MEMBER, 'A member is no hostname.', { rule })
  else if (isMonitored === false) {
    corridor.must(['not_monitored'], 'A member is not monitored.', { rule })
  } else if (isMonitored === undefined) corridor.may(['not_monitored'])
  // A service may allow a domain in one group only, and the specification shows no code for that.
  if (belief.mayBeElsewhere(name, asked.ids)) corridor.may(['invalid_domain'], 'shared-domains')
}

const NOTHING_KNOWN = new Belief()

/** Whether some service refuses the request with this code, whatever the account holds. */
export function permitsAnywhere(asked: AskedRequest, code: string): boolean {
  return asked.body === 'unknown' || corridorOf(asked, NOTHING_KNOWN).permits(code)
}

/** The corridor of what is so whatever other clients have done. */
export function certainCorridorOf(asked: AskedRequest, belief: Belief): Corridor {
  return corridorOf(asked, certainPart(belief))
}

/** The corridor that shows what a service has chosen: for a request about what no other client uses. */
export function corridorOfOwn(asked: AskedRequest, belief: Belief): Corridor {
  const groups = asked.ids.map((id) => (belief.groups.get(id) ?? belief.gone.get(id))?.name ?? '')
  const named = asked.has('name') ? [asked.text('name') ?? ''] : []
  const isOwn = [...asked.allNames, ...groups, ...named].every(belief.isOwn)
  return corridorOf(asked, isOwn ? belief : NOTHING_KNOWN)
}
