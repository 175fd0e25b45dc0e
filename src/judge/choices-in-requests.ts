import { canonicalHostname } from '../contract/hostname.ts'
import { comparedName } from '../domain/groups.ts'
import type { Settings } from '../domain/settings.ts'
import { type Json, valueAt } from '../ground/json.ts'
import type { Belief } from './belief.ts'
import { isRefusedUnread } from './gate.ts'
import { isAscii, isPlainHostname } from './names.ts'
import type { ChoiceRow, ChoiceRows, SeenExchange } from './open-choice.ts'
import { MOST_ADDED } from './refusals.ts'
import type { AskedRequest } from './request.ts'

/*
 * The choices that show in what a service accepts. A success shows that the service refuses nothing in the request,
 * however much of it is open. A refusal shows something only if nothing else can be its reason.
 */

/** In bytes. No alternative of openapi.yaml refuses bodies up to this size. */
const SMALL_BODY = 16_384
/** In milliseconds: within this time, nobody can have used a new domain in a monitoring feature. */
const JUST_NOW = 60_000

/** A choice about a part of the request alone, such as its Content-Type: the value that each code shows, and a success. */
const part = (id: string, shows: Readonly<Record<string, string>>): ChoiceRow => ({
  read(seen, choice) {
    const { asked, code, parts, track } = seen
    const value = parts.has(id) && !asked.isOddlyWritten ? shows[code ?? 'success'] : undefined
    const isShown = code === undefined || (isOnlyOpen(seen, id) && !mayStateRefuse(asked, track.belief))
    return value !== undefined && isShown ? choice.of(value) : undefined
  },
})

/** By the id of the assumption. */
export const IN_REQUESTS: ChoiceRows = {
  'content-type': part('content-type', { success: 'ignored', invalid_request_body: 'required' }),
  'null-fields': part('null-fields', {
    ...{ success: 'absent', missing_field: 'absent', no_fields_to_update: 'absent' },
    invalid_field_type: 'wrong-type',
  }),
  'unknown-query-parameters': part('unknown-query-parameters', { success: 'ignored', unknown_field: 'refused' }),
  'repeated-domains': part('repeated-domains', {
    ...{ invalid_domain: 'invalid_domain', invalid_request_body: 'invalid_request_body' },
  }),
  'body-limit': {
    read(seen, choice) {
      const { asked, code, parts } = seen
      if (!parts.has('body-limit')) return undefined
      if (code === undefined) return choice.those(({ value }) => Number(value) >= asked.size)
      const isTooLarge = code === 'request_too_large' && isOnlyOpen(seen, 'body-limit')
      return isTooLarge ? choice.those(({ value }) => Number(value) < asked.size) : undefined
    },
  },
  'too-many-domains': {
    on: 'refusal',
    read(seen, choice) {
      const { asked, code, track } = seen
      if (!isOnlyOpen(seen, 'too-many-domains')) return undefined
      const isShown = code === 'request_too_large' || !mayStateRefuse(asked, track.belief)
      return isShown ? choice.those((holder) => valueAt(holder, '/x-error/maxItems') === code) : undefined
    },
  },
  'empty-lists': {
    read(seen, choice) {
      const { asked, code } = seen
      const isRefused = code === 'no_fields_to_update'
      if (!isOnlyOpen(seen, 'empty-lists') || (code !== undefined && !isRefused)) return undefined
      const fields = [...asked.fields.keys()]
      // Another field is a reason to accept it.
      if (fields.some((field) => field === 'name' || asked.list(field).length > 0)) return undefined
      return choice.those((holder) => fields.some((field) => countsEmpty(holder, field)) !== isRefused)
    },
  },
  'already-monitored': {
    of: ['addDomains'],
    read(seen, choice) {
      const { asked, code, track } = seen
      const { belief } = track
      if (code === undefined) return isOneKnown(plainNames(asked), belief, true) ? choice.of('skipped') : undefined
      const mayBe = [...asked.allNames].some((name) => belief.isMonitored(name) !== false)
      return mayBe && isOnlyOpen(seen) ? choice.of(code) : undefined
    },
  },
  'unmonitored-deletion': {
    of: ['deleteDomains'],
    read(seen, choice) {
      const { asked, code, track } = seen
      const { belief } = track
      if (code === undefined) return isOneKnown(plainNames(asked), belief, false) ? choice.of('ignored') : undefined
      // A domain may also be refused because a feature or a group has it.
      const isShown = code !== 'domain_delete_failed' || areKnown(asked.allNames, belief, false)
      return isShown && isOnlyOpen(seen) ? choice.of(code) : undefined
    },
  },
  'deletion-of-members': {
    of: ['deleteDomains'],
    read(seen, choice) {
      const { asked, code, track, now } = seen
      const { belief } = track
      if (code === undefined) return isMember(plainNames(asked), seen) ? choice.of('dropped') : undefined
      const names = [...asked.allNames]
      const areUnused = names.every((name) => now - (belief.domains.get(name)?.addedAt ?? 0) <= JUST_NOW)
      const isShown = code === 'domain_delete_failed' && areUnused && areKnown(names, belief, true)
      return isShown && isOnlyOpen(seen) ? choice.of('refused') : undefined
    },
  },
  'shared-domains': {
    of: ['createDomainGroup', 'updateDomainGroup'],
    read(seen, choice) {
      const { asked, code } = seen
      const removed = asked.names('remove_domains')
      const joining = plainNames(asked).filter((name) => !removed.has(name))
      if (joining.length === 0) return undefined
      if (code === undefined) return isMember(joining, seen) ? choice.except('refused') : undefined
      return code === 'invalid_domain' && isOnlyOpen(seen) ? choice.of('refused') : undefined
    },
  },
  'name-comparison': {
    of: ['createDomainGroup', 'updateDomainGroup'],
    read({ asked, code, track: { belief } }, choice) {
      const name = asked.text('name')
      if (name === undefined || asked.isOdd || (code !== undefined && code !== 'duplicate_name')) return undefined
      const others = [...belief.groupsNamed(name)].filter((id) => !asked.ids.includes(id))
      const names = others.map((id) => belief.groups.get(id)?.name ?? '').filter((each) => belief.isCertain(each))
      const isTaken = ({ value }: Json) => names.some((other) => isEqual(name, other, value))
      if (code === undefined) return choice.those((holder) => !isTaken(holder))
      const areAllKnown = belief.areGroupsComplete && belief.isCertain(name)
      return areAllKnown ? choice.those(isTaken) : undefined
    },
  },
  'international-names': {
    of: ['addDomains'],
    read({ reading: { shown }, asked, code, track: { belief } }, choice) {
      const sent = asked.list('domains')
      const isPlain = (name: string) => isAscii(name) && !/xn--/i.test(name)
      if (asked.isOdd || sent.every(isPlain)) return undefined
      const isAccepted = !sent.every(isAscii)
      if (code !== undefined) {
        const isValid =
          asked.allNames.size === sent.length && sent.every((name) => canonicalHostname(name) !== undefined)
        const isShown = code === 'invalid_domain' && isAccepted && isValid && areKnown(asked.allNames, belief, false)
        return isShown ? choice.of('refused') : undefined
      }
      const changed = (shown.added ?? []).filter((name) => !sent.includes(name))
      if (changed.some((name) => !isAscii(name))) return choice.of('u-label')
      const isALabel = changed.some((name) => name.includes('xn--'))
      return choice.those(({ value }) => !(isALabel && value === 'u-label') && !(isAccepted && value === 'refused'))
    },
  },
}

/**
 * What is open about a request, by the id of the assumption, or `another` for what each service, or some service, may
 * refuse for another reason. The account plays no part.
 */
export function openPartsOf(asked: AskedRequest): ReadonlySet<string> {
  const { call, form, fields, ids, size, body } = asked
  const parts = new Set<string>()
  if (asked.hasUnknownParameter) parts.add('unknown-query-parameters')
  if (ids.length > 1 || ids.includes('')) parts.add('another')
  if (form === undefined) return parts
  if (body !== 'object' || asked.isOddlyWritten) parts.add('another')
  if (asked.isOddlyTyped) parts.add('content-type')
  if (size > SMALL_BODY) parts.add('body-limit')
  if (form.required.some((name) => !fields.has(name))) parts.add('another')
  const isAddition = call === 'addDomains'
  for (const [name, value] of fields) {
    const isList = form.lists.includes(name)
    const entries = asked.list(name)
    const isRight = isList ? Array.isArray(value) && entries.length === value.length : typeof value === 'string'
    if (value === null) parts.add('null-fields')
    if ((!isList && !form.texts.includes(name)) || (value !== null && !isRight)) parts.add('another')
    if (!entries.every(isPlainHostname)) parts.add('another')
    if (asked.names(name).size < entries.length) parts.add(isAddition ? 'repeated-domains' : 'another')
    if (Array.isArray(value) && value.length === 0 && call !== 'createDomainGroup') {
      parts.add(call === 'updateDomainGroup' ? 'empty-lists' : 'another')
    }
    if (!asked.isAboutGroup && entries.length > MOST_ADDED) parts.add(isAddition ? 'too-many-domains' : 'another')
  }
  return parts
}

/** Whether nothing else is open about the request, and the service has looked at it. */
function isOnlyOpen({ parts, reading }: SeenExchange, id?: string): boolean {
  return parts.size === (id === undefined ? 0 : 1) && (id === undefined || parts.has(id)) && !isRefusedUnread(reading)
}

/** Whether the account may be the reason of a refusal with a code that also has other reasons. */
function mayStateRefuse({ call, allNames }: AskedRequest, belief: Belief): boolean {
  if (call === 'addDomains') return !areKnown(allNames, belief, false)
  return call === 'deleteDomains' && !areKnown(allNames, belief, true)
}

function areKnown(names: Iterable<string>, belief: Belief, isMonitored: boolean): boolean {
  return [...names].every((name) => belief.isMonitored(name) === isMonitored && belief.isCertain(name))
}

function isOneKnown(names: readonly string[], belief: Belief, isMonitored: boolean): boolean {
  return names.some((name) => belief.isMonitored(name) === isMonitored && belief.isCertain(name))
}

/** The domains that are to be added or removed, or to join a group, and of which each service reads the same. */
function plainNames(asked: AskedRequest): readonly string[] {
  const entries = [...asked.list('domains'), ...asked.list('add_domains')]
  return entries.filter(isPlainHostname).map((entry) => entry.toLowerCase())
}

/** Whether one of the domains is certainly a member of a group that the request does not name. */
function isMember(names: readonly string[], { asked, track: { belief } }: SeenExchange): boolean {
  return names.some((name) => {
    return [...belief.groupsWith(name)].some((id) => {
      const group = belief.groups.get(id)
      if (group === undefined || asked.ids.includes(id) || group.mayHaveLeft.has(name)) return false
      return belief.isCertain(group.name) && belief.isCertain(name)
    })
  })
}

/** Whether an empty list in this field counts as a field, by the schema of changes. */
function countsEmpty({ anyOf }: Json, field: string): boolean {
  if (!Array.isArray(anyOf)) return true
  return anyOf.some((each) => {
    const isAbout = valueAt(each, '/required/0') === field
    return isAbout && valueAt(each, `/properties/${field}/minItems`) === undefined
  })
}

function isEqual(one: string, other: string, comparison: unknown): boolean {
  const [name, taken] = [one, other].map((each) => comparedName(each, comparison as Settings['nameComparison']))
  return name === taken
}
