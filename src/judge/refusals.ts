import { type Belief, hasOther } from './belief.ts'
import { Corridor, VAGUE } from './corridor.ts'
import { asciiLowered, comparable, isPlainHostname, isPlainName, mayBeHostname, shortest } from './names.ts'
import type { AskedRequest } from './request.ts'

/** The refusals of a body that cannot be read as intended. */
const UNREAD = ['invalid_json', 'invalid_request_body', 'invalid_field_type', 'missing_field', 'no_fields_to_update']
/** In bytes. No service is told how large a body may be, but each has to take bodies up to this size. */
const SMALL_BODY = 1_000

/**
 * The corridor of a request that the gate lets through. `belief` is what is known of the account. It states the refusals
 * of the specification apart from the stand-in, so that a mistake of the stand-in accuses nobody.
 */
export function corridorOf(asked: AskedRequest, belief: Belief): Corridor {
  const corridor = new Corridor()
  refuseQuery(asked, belief, corridor)
  refuseReading(asked, corridor)
  if (asked.body === 'object') {
    refuseFields(asked, corridor)
    if (asked.call === 'addDomains' || asked.call === 'deleteDomains') refuseDomains(asked, belief, corridor)
    else refuseGroup(asked, belief, corridor)
  }
  if (asked.isOdd) {
    corridor.loosen()
    corridor.may(...UNREAD, ...BODY_CODES)
  }
  return corridor
}

/** The codes about the content of a body: one that is read in another way may have any of them. */
const BODY_CODES = ['unknown_field', 'invalid_domain', 'invalid_name', 'not_monitored', 'duplicate_name']

function refuseQuery(asked: AskedRequest, belief: Belief, corridor: Corridor): void {
  const { call, ids } = asked
  if (asked.hasUnknownParameter) corridor.may('unknown_field', 'invalid_request_body', 'invalid_field_type')
  const isChange = call === 'updateDomainGroup' || call === 'deleteDomainGroup'
  const [id] = ids
  if (id === undefined) {
    const rule = call === 'updateDomainGroup' ? 'update-needs-id' : 'delete-needs-id'
    if (isChange) corridor.must(['missing_id'], 'The request has no `id`.', { rule })
    return
  }
  if (ids.length > 1) {
    // A service may take any of them, or none.
    corridor.may('not_found', 'missing_id', ...VAGUE)
    if (isChange && ids.every((each) => each === '')) corridor.must(['missing_id', 'not_found'], 'The `id` is empty.')
    return
  }
  if (id === '') {
    if (isChange) corridor.must(['missing_id', 'not_found'], 'The `id` is empty.')
    else corridor.may('missing_id', 'not_found')
    return
  }
  const isThere = belief.isGroup(id)
  if (isThere === undefined) corridor.may('not_found')
  if (isThere !== false) return
  const rule = UNKNOWN_ID[call]
  const deleted = belief.group(id)
  const because = deleted === undefined ? 'No group has this `id`.' : 'The group with this `id` was deleted.'
  corridor.must(['not_found'], because, { ...(rule !== undefined && { rule }), reliesOn: [deleted?.name ?? ''] })
}

const UNKNOWN_ID: Readonly<Record<string, string>> = {
  listDomainGroups: 'unknown-id-read',
  updateDomainGroup: 'unknown-id-update',
  deleteDomainGroup: 'unknown-id-delete',
}

/** What hinders a service from reading the body. */
function refuseReading({ call, body, size }: AskedRequest, corridor: Corridor): void {
  if (size > SMALL_BODY) corridor.may('request_too_large')
  if (body === 'ignored' && size > 0) corridor.may('invalid_request_body', 'invalid_json', 'unknown_field')
  const emptied = call === 'updateDomainGroup' ? ['no_fields_to_update'] : []
  if (body === 'empty') {
    corridor.must(
      ['invalid_request_body', 'invalid_json', 'missing_field', 'invalid_field_type', ...emptied],
      'The request has no body.',
    )
  } else if (body === 'not JSON') {
    corridor.must(['invalid_json', 'invalid_request_body'], 'The body is not JSON.')
  } else if (body === 'no object') {
    corridor.must([...UNREAD, 'unknown_field'], 'The body is JSON, but no object.')
  }
}

/** Fields that are unknown, missing, or of the wrong type. */
function refuseFields(asked: AskedRequest, corridor: Corridor): void {
  const { form = { lists: [], texts: [], required: [] }, fields } = asked
  for (const [name, value] of fields) {
    const isList = form.lists.includes(name)
    if (!isList && !form.texts.includes(name)) {
      if (value === null) corridor.may('unknown_field', 'invalid_field_type')
      else corridor.must(['unknown_field'], 'The body has a field that is not supported.')
    } else if (value === null) {
      if (form.required.includes(name)) corridor.must(['invalid_field_type', 'missing_field'], `\`${name}\` is null.`)
      // A service may take it for absent.
      else corridor.may('invalid_field_type', 'no_fields_to_update', 'missing_field')
    } else if (isList ? !Array.isArray(value) : typeof value !== 'string') {
      corridor.must(['invalid_field_type'], `\`${name}\` has the wrong type.`)
    } else if (Array.isArray(value) && !value.every((each) => typeof each === 'string')) {
      corridor.must(['invalid_field_type', 'invalid_domain'], `An entry of \`${name}\` has the wrong type.`)
    }
  }
  for (const name of form.required) {
    if (!fields.has(name)) corridor.must(['missing_field'], `The body has no \`${name}\`.`)
  }
}

/** The most domains that one request adds. */
export const MOST_ADDED = 50
/** The specification rejects a domain that is named twice, or monitored already, and shows no code for it. */
const DUPLICATE = ['invalid_domain', 'invalid_request_body', 'invalid_field_type'] as const

/** What services refuse of the domains that a request wants to add or to remove. */
function refuseDomains(asked: AskedRequest, belief: Belief, corridor: Corridor): void {
  const entries = asked.list('domains')
  if (asked.has('domains') && entries.length === 0) corridor.may(...VAGUE)
  if (asked.call === 'addDomains') refuseAddition(entries, belief, corridor)
  else refuseDeletion(entries, belief, corridor)
}

function refuseAddition(entries: readonly string[], belief: Belief, corridor: Corridor): void {
  const names = new Set(entries.map(comparable))
  if (entries.length > MOST_ADDED) {
    const because = `The request adds ${entries.length} domains.`
    if (names.size > MOST_ADDED) corridor.must(VAGUE, because, { rule: 'at-most-50-domains' })
    else corridor.may(...VAGUE)
  }
  const bad = entries.find((entry) => !mayBeHostname(entry))
  if (bad !== undefined) corridor.must(['invalid_domain'], 'An entry is no hostname.', { rule: 'valid-hostnames' })
  if (!entries.every(isPlainHostname)) corridor.may('invalid_domain')
  if (new Set(entries.map(asciiLowered)).size < entries.length) {
    corridor.must(DUPLICATE, 'A domain is named twice.', { rule: 'no-duplicates' })
  } else if (names.size < entries.length) corridor.may(...DUPLICATE)
  for (const name of names) {
    if (belief.isMonitored(name) === false) continue
    // A service may take a domain that it monitors for a duplicate, or be content.
    corridor.may(...DUPLICATE)
    return
  }
}

function refuseDeletion(entries: readonly string[], belief: Belief, corridor: Corridor): void {
  // Nothing shows which domains are used by monitoring features.
  if (entries.length > 0) corridor.may('domain_delete_failed')
  if (entries.length > MOST_ADDED) corridor.may(...VAGUE)
  const names = new Set(entries.map(comparable))
  if (names.size < entries.length) corridor.may(...VAGUE)
  if (!entries.every(isPlainHostname)) corridor.may('invalid_domain', 'not_monitored', 'invalid_request_body')
  // A service may be content with what is gone already.
  for (const name of names) {
    if (belief.isMonitored(name) === true) continue
    corridor.may('not_monitored', 'invalid_request_body', 'invalid_domain')
    return
  }
}

const LONGEST_NAME = 100
const MEMBER_FIELDS = ['domains', 'add_domains'] as const

/** What services refuse of the body of a request that creates or changes a group. */
function refuseGroup(asked: AskedRequest, belief: Belief, corridor: Corridor): void {
  if (asked.call === 'updateDomainGroup') refuseChange(asked, corridor)
  const name = asked.text('name')
  if (name !== undefined) refuseName(name, asked, belief, corridor)
  refuseMembers(asked, belief, corridor)
}

/** Which fields a change may have together. */
function refuseChange(asked: AskedRequest, corridor: Corridor): void {
  const fields = ['name', 'domains', 'add_domains', 'remove_domains'].filter((field) => asked.has(field))
  if (fields.length === 0) {
    corridor.must(['no_fields_to_update'], 'The body changes nothing.', { rule: 'update-needs-a-field' })
  }
  if (asked.has('domains') && (asked.has('add_domains') || asked.has('remove_domains'))) {
    const isSure = fields.every((field) => asked.fields.get(field) !== null)
    const because = '`domains` is sent together with `add_domains` or `remove_domains`.'
    // A service may take null for absent.
    if (isSure) corridor.must(['conflicting_fields'], because, { rule: 'no-mixed-changes' })
    else corridor.may('conflicting_fields')
  }
  const isEmptied = fields.some((field) => field !== 'name' && asked.list(field).length === 0)
  if (isEmptied) corridor.may('no_fields_to_update', 'missing_field', 'invalid_request_body')
}

function refuseName(name: string, asked: AskedRequest, belief: Belief, corridor: Corridor): void {
  const isNew = asked.call === 'createDomainGroup'
  if (name === '') {
    corridor.must(['invalid_name', 'missing_field'], 'The name is empty.', { ...(isNew && { rule: 'name-length' }) })
  } else if (shortest(name) > LONGEST_NAME) {
    corridor.must(['invalid_name'], 'The name is too long.', { rule: isNew ? 'name-length' : 'new-name-unique' })
  } else if (!isPlainName(name)) corridor.may('invalid_name', 'missing_field')
  const namesakes = [...belief.groupsNamed(name)]
  if (namesakes.length > 0) corridor.may('duplicate_name')
  if (!belief.areGroupsComplete || hasOther(belief.groupsInDoubt, asked.ids)) corridor.may('duplicate_name')
  const taken = namesakes.find((id) => {
    const group = belief.group(id)
    return group?.state === 'there' && !asked.ids.includes(id) && asciiLowered(group.name) === asciiLowered(name)
  })
  if (taken === undefined) return
  const because = `The group ${JSON.stringify(taken)} has this name.`
  const rule = isNew ? 'name-unique' : 'new-name-unique'
  corridor.must(['duplicate_name'], because, { rule, reliesOn: [belief.group(taken)?.name ?? ''] })
}

function refuseMembers(asked: AskedRequest, belief: Belief, corridor: Corridor): void {
  for (const field of MEMBER_FIELDS) {
    const entries = asked.list(field)
    if (new Set(entries.map(comparable)).size < entries.length) corridor.may(...VAGUE)
    for (const entry of entries) refuseMember(entry, asked, belief, corridor)
  }
  if (!asked.list('remove_domains').every(isPlainHostname)) corridor.may('invalid_domain')
}

const UNKNOWN_MEMBER = ['not_monitored', 'invalid_domain', 'invalid_request_body'] as const

function refuseMember(entry: string, asked: AskedRequest, belief: Belief, corridor: Corridor): void {
  const isNew = asked.call === 'createDomainGroup'
  const rule = isNew ? { rule: 'members-monitored' } : {}
  const name = comparable(entry)
  const isPlain = isPlainHostname(entry)
  const isMonitored = belief.isMonitored(name)
  if (!mayBeHostname(entry)) corridor.must(UNKNOWN_MEMBER, 'A member is no hostname.', rule)
  else if (isMonitored === false) {
    const codes = isPlain ? ['not_monitored'] : UNKNOWN_MEMBER
    corridor.must(codes, 'A member is not monitored.', { ...rule, reliesOn: [name] })
  } else if (!isPlain) corridor.may(...UNKNOWN_MEMBER)
  else if (isMonitored === undefined) corridor.may('not_monitored')
  // A service may allow a domain in one group only, and the specification shows no code for that.
  if (hasOther(belief.groupsWith(name), asked.ids) || !belief.areGroupsComplete) corridor.may('invalid_domain')
}

/**
 * The codes with which some state of the account could explain a refusal, whatever is believed of it: another client may
 * have brought it about. For each code, the names that it would be about.
 */
export function codesOfState(asked: AskedRequest, belief: Belief): ReadonlyMap<string, readonly string[]> {
  const codes = new Map<string, readonly string[]>()
  const { call, ids } = asked
  const domains = [...asked.names('domains'), ...asked.names('add_domains')]
  const note = (names: readonly string[], ...all: readonly string[]) => {
    for (const code of all) codes.set(code, names)
  }
  if (ids.length > 0)
    note(
      ids.map((id) => belief.group(id)?.name ?? ''),
      'not_found',
    )
  if (call === 'addDomains' && domains.length > 0)
    note(domains, 'invalid_domain', 'invalid_request_body', 'invalid_field_type')
  if (call === 'deleteDomains' && domains.length > 0) {
    note(domains, 'domain_delete_failed', 'not_monitored', 'invalid_request_body')
  }
  if (call === 'createDomainGroup' || call === 'updateDomainGroup') {
    if (domains.length > 0) note(domains, 'not_monitored', 'invalid_domain')
    const name = asked.text('name')
    if (name !== undefined) note([name], 'duplicate_name')
  }
  return codes
}
