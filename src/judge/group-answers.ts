import { isObject } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import type { GroupBelief, SeenGroup } from './belief.ts'
import { type Admitted, repeatedIn } from './domain-answers.ts'
import { comparable, mayBeStoredAs } from './names.ts'
import { areTexts } from './request.ts'

const LISTED = 'groups-with-count'
const BY_ID = 'one-group-by-id'

/** A list of all groups, or one group, whichever the request asks for. */
export function takeGroups(success: Admitted): boolean {
  const { asked, data, report } = success
  const list = isObject(data) ? data['groups'] : undefined
  const [id] = asked.ids
  const mayBeList = asked.ids.includes('') || id === undefined
  if (list !== undefined && mayBeList) {
    return takeList(success, list)
  }
  if (list !== undefined) {
    const isUnknown = id !== undefined && success.belief.isGroup(id) !== true
    report({ rule: isUnknown ? 'unknown-id-read' : BY_ID, what: 'data', message: 'The answer has a list of groups.' })
    return true
  }
  const group = isObject(data) ? readGroup(data['group'], success) : undefined
  if (group === undefined) return false
  if (id === undefined) report({ rule: LISTED, what: 'data', message: 'The answer has one group.' })
  else if (!asked.asksForGroup(group.id)) {
    const rule = success.belief.isGroup(id) === true ? BY_ID : 'unknown-id-read'
    report({ rule, what: 'data', message: `The answer has the group ${show(group.id)}.` })
    return true
  }
  compare(group, 'data', success)
  success.belief.seeGroup(group)
  believeMembers(group.members, success)
  return true
}

function takeList(success: Admitted, list: unknown): boolean {
  const { data, belief, report } = success
  const groups = Array.isArray(list) ? list.map((item) => readGroup(item, success)) : [undefined]
  if (!groups.every((group) => group !== undefined)) return false
  const count = isObject(data) ? data['count'] : undefined
  if (count !== groups.length) {
    const message = `count is ${show(count)}, but the list has ${groups.length} groups.`
    report({ rule: LISTED, what: 'data', message })
  }
  const listed = new Set(groups.map(({ id }) => id))
  if (listed.size < groups.length) report({ rule: LISTED, what: 'data', message: 'A group is listed twice.' })
  const twin = repeatedIn(groups.map(({ name }) => name))
  if (twin !== undefined && listed.size === groups.length) {
    report({ rule: 'name-unique', what: 'data', message: `Two groups of the list are called ${show(twin)}.` })
  }
  for (const [id, { name, by }] of belief.groups) {
    if (listed.has(id)) continue
    const message = `The group ${show(id)} is not there. ${by} shows it.`
    report({ rule: LISTED, what: 'state', message, isDoubtful: !belief.isCertain(name) })
  }
  for (const group of groups) {
    if (belief.isGroup(group.id) === false && !belief.gone.has(group.id)) {
      const message = `The group ${show(group.id)} is there, but no request has created it.`
      report({ rule: LISTED, what: 'state', message, isDoubtful: !belief.isCertain(group.name) })
    }
    compare(group, 'state', success)
  }
  belief.takeAllGroups(groups)
  for (const { members } of groups) believeMembers(members, success)
  return true
}

/** Compares a group that a response shows with what is believed of it. */
function compare({ id, name, members }: SeenGroup, what: string, { belief, report }: Admitted): void {
  const [known, deleted] = [belief.groups.get(id), belief.gone.get(id)]
  const { by, name: former = '' } = known ?? deleted ?? {}
  const note = (message: string, rule?: string) => {
    const isDoubtful = !belief.isCertain(former)
    report({ rule, what, message: `The group ${show(id)} ${message}. ${by} shows the opposite.`, isDoubtful })
  }
  if (deleted !== undefined) note('is there', LISTED)
  if (known === undefined) return
  if (!mayBeStoredAs(former, name)) note(`is called ${show(name)}`)
  const { extra, missing } = differenceOf(members, known.members, (member) => known.mayHaveLeft.has(member))
  const rule = known.isNew ? 'members-in-the-same-call' : undefined
  if (extra ?? missing) note(`has ${extra === undefined ? 'not ' : ''}the member ${show(extra ?? missing)}`, rule)
}

/** The first member beyond those that are expected, and the first of these that is missing, but for those that may be. */
function differenceOf(members: ReadonlySet<string>, expected: ReadonlySet<string>, mayMiss: (name: string) => boolean) {
  const extra = [...members].find((member) => !expected.has(member))
  return { extra, missing: [...expected].find((member) => !members.has(member) && !mayMiss(member)) }
}

/** The answer to a creation shows the group as it was asked for. */
export function takeCreation(success: Admitted): boolean {
  const { asked, data, belief, report } = success
  const group = isObject(data) ? readGroup(data['group'], success) : undefined
  if (group === undefined) return false
  const name = asked.text('name') ?? ''
  if (!asked.isOdd && !mayBeStoredAs(name, group.name)) {
    report({ what: 'data', message: `The group is called ${show(group.name)}, and the request says ${show(name)}.` })
  }
  if (!asked.isUnusual) {
    const isUnknown = (member: string) => belief.isMonitored(member) === false
    const { extra, missing } = differenceOf(group.members, asked.names('domains'), isUnknown)
    if (extra ?? missing) {
      const message = `The new group has ${extra === undefined ? 'not ' : ''}the member ${show(extra ?? missing)}.`
      report({ rule: 'members-in-the-same-call', what: 'data', message })
    }
  }
  belief.mayLeave(group.members, group.id)
  believeMembers(group.members, success)
  belief.addGroup(group)
  return true
}

/** What a change asks for. Names are in comparable form. */
interface AskedChange {
  /** The group before, if it is known. */
  before: GroupBelief | undefined
  /** Whether the request lists all members. */
  isWhole: boolean
  added: ReadonlySet<string>
  removed: ReadonlySet<string>
  /** The name and the members afterwards; `undefined` if they are not known. */
  name: string | undefined
  members: ReadonlySet<string> | undefined
}

/** The answer to a change of a group. The specification leaves open what it shows. */
export function takeChange(success: Admitted): boolean {
  const { asked, data, belief, source, report } = success
  const [id = ''] = asked.ids
  const shown = isObject(data) ? (readGroup(data['group'], success) ?? readGroup(data, success)) : undefined
  if (asked.ids.length !== 1 || (asked.isUnusual && shown === undefined)) {
    belief.doubtGroups()
    return true
  }
  const change = readChange(success)
  const joined = change.isWhole ? asked.names('domains') : change.added
  if (shown !== undefined && !asked.asksForGroup(shown.id)) {
    report({ what: 'data', message: `The answer has the group ${show(shown.id)}.` })
    belief.doubtGroups()
    return true
  }
  belief.mayLeave(joined, shown?.id ?? id)
  if (shown !== undefined) {
    if (!asked.isUnusual) reportChange(shown, change, success)
    belief.seeGroup(shown)
  } else if (change.before === undefined || change.members === undefined || change.name === undefined) {
    belief.doubtGroups([id])
  } else belief.changeGroup(id, { by: source.by, name: change.name, members: change.members })
  believeMembers(shown === undefined || !asked.isUnusual ? joined : shown.members, success)
  return true
}

function readChange({ asked, belief }: Admitted): AskedChange {
  const before = belief.groups.get(asked.ids[0] ?? '')
  const isWhole = Array.isArray(asked.fields.get('domains'))
  const [added, removed] = [asked.names('add_domains'), asked.names('remove_domains')]
  const kept = before && [...before.members, ...added].filter((name) => !removed.has(name))
  const members = isWhole ? asked.names('domains') : kept && new Set(kept)
  return { before, isWhole, added, removed, name: asked.text('name') ?? before?.name, members }
}

/** Reports in what the group that the answer shows is not as the request asks. */
function reportChange({ name, members }: SeenGroup, change: AskedChange, { asked, belief, report }: Admitted): void {
  const { before, isWhole, added, removed, name: expectedName, members: expected } = change
  const isSure = belief.isCertain(before?.name ?? '')
  const note = (message: string, rule?: string, isDoubtful = false) =>
    report({ rule, what: 'data', message, isDoubtful })
  if (expectedName !== undefined && !mayBeStoredAs(expectedName, name)) {
    note(`The group is called ${show(name)}, and not ${show(expectedName)}.`, undefined, !asked.has('name') && !isSure)
  }
  const isUnknown = (member: string) => belief.isMonitored(member) === false
  const stays = [...removed].find((member) => members.has(member))
  const lacks = [...added].find((member) => !members.has(member) && !removed.has(member) && !isUnknown(member))
  if (stays !== undefined) {
    const rule = added.has(stays) ? 'additions-before-removals' : undefined
    note(`${show(stays)} was to be removed, and is a member.`, rule)
  } else if (lacks !== undefined) note(`${show(lacks)} was to be added, and is no member.`)
  else if (expected !== undefined) {
    const mayMiss = (member: string) => isUnknown(member) || (!isWhole && before?.mayHaveLeft.has(member) === true)
    const { extra, missing } = differenceOf(members, expected, mayMiss)
    const keeps = extra === undefined && added.size > 0 ? 'additions-keep-members' : undefined
    const message = `The group has ${extra === undefined ? 'not ' : ''}the member ${show(extra ?? missing)}.`
    if (extra ?? missing) note(message, isWhole ? 'domains-replace-members' : keeps, !isWhole && !isSure)
  }
}

export function takeDeletion({ asked, belief, source }: Admitted): boolean {
  const [id] = asked.ids
  // Of several ids, a service may take any.
  if (id === undefined || asked.ids.length > 1) belief.doubtGroups()
  else belief.removeGroup(id, source)
  return true
}

/** Members are monitored domains. */
function believeMembers(names: Iterable<string>, { belief, source }: Admitted): void {
  for (const name of names) if (belief.isMonitored(name) === undefined) belief.seeDomain(name, name, source)
}

/** The group that a value describes; `undefined` if it describes none. A member that it names twice is reported. */
function readGroup(value: unknown, { source, report }: Admitted): SeenGroup | undefined {
  const { id, name, domains } = isObject(value) ? value : {}
  if (typeof id !== 'string' || typeof name !== 'string' || !areTexts(domains)) return undefined
  const twice = repeatedIn(domains)
  if (twice !== undefined) report({ what: 'data', message: `The group ${show(id)} names ${show(twice)} twice.` })
  return { id, name, members: new Set(domains.map(comparable)), ...source }
}
