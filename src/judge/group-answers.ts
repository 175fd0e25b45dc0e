import { isObject } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { areSame, type Belief, type SeenGroup } from './belief.ts'
import { type Admitted, repeatedIn } from './domain-answers.ts'
import { comparable, mayBeStoredAs } from './names.ts'
import { areTexts } from './request.ts'

const LISTED = 'groups-with-count'
const BY_ID = 'one-group-by-id'

/** A list of all groups, or one group, whichever the request asks for. */
export function takeGroups(success: Admitted): boolean {
  const { asked, data, belief, report } = success
  const { groups: list, group: one } = isObject(data) ? data : {}
  const [id] = asked.ids
  const ruleOfId = id !== undefined && belief.isGroup(id) === true ? BY_ID : 'unknown-id-read'
  if (list !== undefined) {
    if (id === undefined || asked.ids.includes('')) return takeList(success, list)
    report({ rule: ruleOfId, what: 'data', message: 'The answer has a list of groups.' })
    return true
  }
  const group = readGroup(one, success)
  if (group === undefined) return false
  if (id === undefined) report({ rule: LISTED, what: 'data', message: 'The answer has one group.' })
  else if (!asked.asksForGroup(group.id)) {
    report({ rule: ruleOfId, what: 'data', message: `The answer has the group ${show(group.id)}.` })
    return true
  }
  compare(group, 'data', success)
  belief.seeGroup(group)
  believeMembers(group.members, success)
  return true
}

function takeList(success: Admitted, list: unknown): boolean {
  const { data, belief, report } = success
  const groups = Array.isArray(list) ? list.flatMap((item) => readGroup(item, success) ?? []) : []
  if (!Array.isArray(list) || groups.length < list.length) return false
  const note = (message: string, rule = LISTED) => report({ rule, what: 'data', message })
  const noteState = (message: string, isDoubtful: boolean) =>
    report({ rule: LISTED, what: 'state', message, isDoubtful })
  const count = isObject(data) ? data['count'] : undefined
  if (count !== groups.length) note(`count is ${show(count)}, but the list has ${groups.length} groups.`)
  const listed = new Set(groups.map(({ id }) => id))
  const twin = repeatedIn(groups.map(({ name }) => name))
  if (listed.size < groups.length) note('A group is listed twice.')
  else if (twin !== undefined) note(`Two groups of the list are called ${show(twin)}.`, 'name-unique')
  for (const [id, { by }] of belief.groups) {
    if (!listed.has(id)) noteState(`The group ${show(id)} is not there. ${by} shows it.`, !belief.isSoleWriter)
  }
  for (const group of groups) {
    if (belief.isGroup(group.id) === false && !belief.gone.has(group.id)) {
      noteState(`The group ${show(group.id)} is there, but no request has created it.`, !belief.isOwn(group.name))
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
  const note = (message: string, isDoubtful: boolean, rule?: string) => {
    report({ rule, what, message: `The group ${show(id)} ${message}. ${by} shows the opposite.`, isDoubtful })
  }
  if (deleted !== undefined) note('is there', !belief.isOwn(former), LISTED)
  if (known === undefined) return
  if (!mayBeStoredAs(former, name)) note(`is called ${show(name)}`, !belief.isOwn(name))
  // Lists show the same groups again and again.
  if (areSame(members, known.members)) return
  const wrong = differenceOf(members, known.members, (member) => known.mayHaveLeft.has(member))
  if (wrong === undefined) return
  const rule = known.isNew ? 'members-in-the-same-call' : undefined
  note(`has ${wrong.text}`, mayBeOfOthers(wrong, former, belief), rule)
}

/** Whether another client may have made the difference. None gives a member of the run to a group of the run. */
function mayBeOfOthers({ isMissing, member }: Difference, name: string, belief: Belief): boolean {
  return isMissing ? !belief.isSoleWriter : !(belief.isOwn(name) && belief.isOwn(member))
}

interface Difference {
  member: string
  isMissing: boolean
  text: string
}

/** The first member that is not expected, or else the first one that is missing, but for those that may be. */
function differenceOf(
  members: ReadonlySet<string>,
  expected: ReadonlySet<string>,
  mayMiss: (name: string) => boolean,
): Difference | undefined {
  const extra = [...members].find((member) => !expected.has(member))
  const missing = [...expected].find((member) => !members.has(member) && !mayMiss(member))
  if (extra !== undefined) return { member: extra, text: `the member ${show(extra)}`, isMissing: false }
  if (missing === undefined) return undefined
  return { member: missing, text: `not the member ${show(missing)}`, isMissing: true }
}

/** The answer to a creation shows the group as it was asked for. */
export function takeCreation(success: Admitted): boolean {
  const { asked, isUnusual, data, belief, report } = success
  const group = readGroup(isObject(data) ? data['group'] : undefined, success)
  if (group === undefined) return false
  const name = asked.text('name') ?? ''
  if (!asked.isOdd && !mayBeStoredAs(name, group.name)) {
    report({ what: 'data', message: `The group is called ${show(group.name)}, and the request says ${show(name)}.` })
  }
  const wrong = isUnusual ? undefined : differenceOf(group.members, asked.names('domains'), isStrange(belief))
  if (wrong !== undefined) {
    report({ rule: 'members-in-the-same-call', what: 'data', message: `The new group has ${wrong.text}.` })
  }
  belief.mayLeave(group.members, group.id)
  believeMembers(group.members, success)
  belief.addGroup(group)
  return true
}

/** The answer to a change of a group. The specification leaves open what it shows. */
export function takeChange(success: Admitted): boolean {
  const { asked, isUnusual, data, belief, source, report } = success
  const [id = ''] = asked.ids
  const shown = readGroup(isObject(data) ? data['group'] : undefined, success) ?? readGroup(data, success)
  const isOther = shown !== undefined && !asked.asksForGroup(shown.id)
  if (asked.ids.length !== 1 || isOther || (isUnusual && shown === undefined)) {
    if (isOther && asked.ids.length === 1) {
      report({ what: 'data', message: `The answer has the group ${show(shown.id)}.` })
    }
    belief.doubtGroups()
    return true
  }
  const before = belief.groups.get(id)
  const isWhole = Array.isArray(asked.fields.get('domains'))
  const [whole, added, removed] = [asked.names('domains'), asked.names('add_domains'), asked.names('remove_domains')]
  const kept = before && [...before.members, ...added].filter((name) => !removed.has(name))
  const members = isWhole ? whole : kept && new Set(kept)
  const name = asked.text('name') ?? before?.name
  const joined = isWhole ? whole : added
  belief.mayLeave(joined, shown?.id ?? id)
  if (shown !== undefined) {
    if (!isUnusual) reportChange(shown, { name, members, isWhole }, success)
    belief.seeGroup(shown)
  } else if (before === undefined || members === undefined || name === undefined) belief.doubtGroups([id])
  else belief.changeGroup(id, { by: source.by, name, members })
  believeMembers(shown === undefined || !isUnusual ? joined : shown.members, success)
  return true
}

/** Reports in what the group that the answer shows is not as the request asks. What is not known is not expected. */
function reportChange(
  { name, members }: SeenGroup,
  expected: { name: string | undefined; members: ReadonlySet<string> | undefined; isWhole: boolean },
  { asked, belief, report }: Admitted,
): void {
  const before = belief.groups.get(asked.ids[0] ?? '')
  const [added, removed] = [asked.names('add_domains'), asked.names('remove_domains')]
  const note = (message: string, rule?: string, isDoubtful = false) =>
    report({ rule, what: 'data', message, isDoubtful })
  if (expected.name !== undefined && !mayBeStoredAs(expected.name, name)) {
    const message = `The group is called ${show(name)}, and not ${show(expected.name)}.`
    note(message, undefined, !asked.has('name') && !belief.isOwn(name))
  }
  const isUnknown = isStrange(belief)
  const stays = [...removed].find((member) => members.has(member))
  const lacks = [...added].find((member) => !members.has(member) && !removed.has(member) && !isUnknown(member))
  if (stays !== undefined) {
    const rule = added.has(stays) ? 'additions-before-removals' : undefined
    note(`${show(stays)} was to be removed, and is a member.`, rule)
  } else if (lacks !== undefined) note(`${show(lacks)} was to be added, and is no member.`)
  else if (expected.members !== undefined) {
    const { isWhole } = expected
    const mayMiss = (member: string) => isUnknown(member) || (!isWhole && before?.mayHaveLeft.has(member) === true)
    const wrong = differenceOf(members, expected.members, mayMiss)
    const keeps = wrong?.isMissing && added.size > 0 ? 'additions-keep-members' : undefined
    if (wrong !== undefined) {
      note(
        `The group has ${wrong.text}.`,
        isWhole ? 'domains-replace-members' : keeps,
        !isWhole && mayBeOfOthers(wrong, before?.name ?? '', belief),
      )
    }
  }
}

export function takeDeletion({ asked, belief, source }: Admitted): boolean {
  const [id] = asked.ids
  // Of several ids, a service may take any.
  if (id === undefined || asked.ids.length > 1) belief.doubtGroups()
  else belief.removeGroup(id, source.by)
  return true
}

/** Which domains are not monitored, so that a service that takes them as members need not keep them. */
function isStrange(belief: Belief): (member: string) => boolean {
  return (member) => belief.isMonitored(member) === false
}

/** Members are monitored domains. */
function believeMembers(names: Iterable<string>, { belief, source }: Admitted): void {
  for (const name of names) if (belief.isMonitored(name) === undefined) belief.seeDomain(name, name, source)
}

/** The group that a value describes; `undefined` if it describes none. A member that it names twice is reported. */
function readGroup(value: unknown, { source, report }: Admitted): SeenGroup | undefined {
  const { id, name, domains } = isObject(value) ? value : {}
  if (typeof id !== 'string' || typeof name !== 'string' || !areTexts(domains)) return undefined
  const members = new Set(domains.map(comparable))
  const twice = members.size === domains.length ? undefined : repeatedIn(domains)
  if (twice !== undefined) report({ what: 'data', message: `The group ${show(id)} names ${show(twice)} twice.` })
  return { id, name, members, by: source.by }
}
