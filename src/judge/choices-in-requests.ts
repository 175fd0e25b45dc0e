import { canonicalHostname } from '../contract/hostname.ts'
import { comparedName } from '../domain/groups.ts'
import type { Settings } from '../domain/settings.ts'
import { type Json, valueAt } from '../ground/json.ts'
import type { Belief } from './belief.ts'
import { isAscii, isPlainHostname } from './names.ts'
import type { ChoiceTable, ReadChoice, SeenExchange } from './open-choice.ts'
import type { AskedRequest } from './request.ts'

/*
 * The choices that show in what a service accepts. A success shows that the service refuses nothing in the request,
 * however much of it is open. A refusal shows something only if nothing else can be its reason.
 */

/** In milliseconds: within this time, nobody can have used a new domain in a monitoring feature. */
const JUST_NOW = 60_000

/** A choice about a part of the request alone, such as its Content-Type: the value that each code shows, and a success. */
const part =
  (id: string, isThere: (asked: AskedRequest) => boolean, shows: Readonly<Record<string, string>>): ReadChoice =>
  ({ asked, code, reason }) => {
    if (code !== undefined) return reason === id ? shows[code] : undefined
    return isThere(asked) && !asked.isOddlyWritten ? shows['success'] : undefined
  }

const readSharing: ReadChoice = (seen) => {
  const { asked, code, reason } = seen
  const removed = asked.names('remove_domains')
  const joining = plainNames(asked).filter((name) => !removed.has(name))
  if (code === undefined) return isMember(joining, seen) ? ({ value }) => value !== 'refused' : undefined
  return joining.length > 0 && reason === 'shared-domains' ? 'refused' : undefined
}

const readComparison: ReadChoice = ({ asked, code, track: { belief } }) => {
  const name = asked.text('name')
  if (name === undefined || asked.isOdd || (code !== undefined && code !== 'duplicate_name')) return undefined
  const others = [...belief.groupsNamed(name)].filter((id) => !asked.ids.includes(id))
  const names = others.map((id) => belief.groups.get(id)?.name ?? '').filter(belief.isOwn)
  const isTaken = ({ value }: Json) => names.some((other) => isEqual(name, other, value))
  if (code === undefined) return (holder) => !isTaken(holder)
  return belief.areGroupsComplete && belief.isOwn(name) ? isTaken : undefined
}

const readInternational: ReadChoice = ({ reading: { shown }, asked, code, track: { belief } }) => {
  const sent = asked.list('domains')
  if (asked.isOdd || sent.every((name) => isAscii(name) && !/xn--/i.test(name))) return undefined
  const isAccepted = !sent.every(isAscii)
  if (code !== undefined) {
    const names = [...asked.allNames]
    const isValid = names.length === sent.length && sent.every((name) => canonicalHostname(name) !== undefined)
    const areNew = names.every((name) => belief.isMonitored(name) === false && belief.isOwn(name))
    return code === 'invalid_domain' && isAccepted && isValid && areNew ? 'refused' : undefined
  }
  const changed = (shown.added ?? []).filter((name) => !sent.includes(name))
  if (changed.some((name) => !isAscii(name))) return 'u-label'
  const isALabel = changed.some((name) => name.includes('xn--'))
  return ({ value }) => !(isALabel && value === 'u-label') && !(isAccepted && value === 'refused')
}

export const IN_REQUESTS: ChoiceTable = {
  any: {
    'content-type': part('content-type', ({ isOddlyTyped }) => isOddlyTyped, {
      ...{ success: 'ignored', invalid_request_body: 'required' },
    }),
    'null-fields': part('null-fields', ({ fields }) => [...fields.values()].includes(null), {
      ...{ success: 'absent', missing_field: 'absent', no_fields_to_update: 'absent' },
      invalid_field_type: 'wrong-type',
    }),
    'unknown-query-parameters': part('unknown-query-parameters', ({ hasUnknownParameter }) => hasUnknownParameter, {
      ...{ success: 'ignored', unknown_field: 'refused' },
    }),
    'body-limit'({ asked: { size }, code, reason }) {
      if (code === undefined) return ({ value }) => Number(value) >= size
      return reason === 'body-limit' ? ({ value }) => Number(value) < size : undefined
    },
  },
  addDomains: {
    'repeated-domains': ({ code, reason }) => (reason === 'repeated-domains' ? code : undefined),
    'too-many-domains'({ code, reason }) {
      return reason === 'too-many-domains' ? (holder) => valueAt(holder, '/x-error/maxItems') === code : undefined
    },
    'already-monitored'({ asked, code, reason, track: { belief } }) {
      const mayBe = [...asked.allNames].some((name) => belief.isMonitored(name) !== false)
      if (code !== undefined) return mayBe && reason === 'already-monitored' ? code : undefined
      return isOneKnown(plainNames(asked), belief, true) ? 'skipped' : undefined
    },
    'international-names': readInternational,
  },
  deleteDomains: {
    'unmonitored-deletion'({ asked, code, reason, track: { belief } }) {
      if (code !== undefined) return reason === 'unmonitored-deletion' ? code : undefined
      return isOneKnown(plainNames(asked), belief, false) ? 'ignored' : undefined
    },
    'deletion-of-members'(seen) {
      const { asked, code, reason, track, now } = seen
      if (code === undefined) return isMember(plainNames(asked), seen) ? 'dropped' : undefined
      const { domains } = track.belief
      const areUnused = [...asked.allNames].every((name) => now - (domains.get(name)?.addedAt ?? 0) <= JUST_NOW)
      return reason === 'deletion-of-members' && areUnused ? 'refused' : undefined
    },
  },
  createDomainGroup: { 'shared-domains': readSharing, 'name-comparison': readComparison },
  updateDomainGroup: {
    'shared-domains': readSharing,
    'name-comparison': readComparison,
    'empty-lists'({ asked, code, reason }) {
      const isRefused = code === 'no_fields_to_update' && reason === 'empty-lists'
      const fields = [...asked.fields.keys()]
      // Another field is a reason to accept it.
      if (fields.length === 0 || !fields.every((field) => asked.hasEmpty(field))) return undefined
      if (asked.isOdd || (code !== undefined && !isRefused)) return undefined
      return (holder) => fields.some((field) => countsEmpty(holder, field)) !== isRefused
    },
  },
}

function isOneKnown(names: readonly string[], belief: Belief, isMonitored: boolean): boolean {
  return names.some((name) => belief.isMonitored(name) === isMonitored && belief.isOwn(name))
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
      return belief.isOwn(group.name) && belief.isOwn(name)
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
