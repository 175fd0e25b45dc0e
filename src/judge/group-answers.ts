import { isObject } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import type { SeenGroup } from './belief.ts'
import { repeatedIn } from './domain-answers.ts'
import { comparable, mayBeHostname, mayBeStoredAs } from './names.ts'
import { areTexts } from './request.ts'
import type { Success } from './success.ts'

const LISTED = 'groups-with-count'
const BY_ID = 'one-group-by-id'

/** A list of all groups, or one group, whichever the request asks for. */
export function takeGroups(success: Success): boolean {
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

function takeList(success: Success, list: unknown): boolean {
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
  for (const [id, { name, by }] of belief.groupsThere()) {
    if (listed.has(id)) continue
    const message = `The group ${show(id)} is not there. ${by} shows it.`
    report({ rule: LISTED, what: 'state', message, isDoubtful: !belief.isCertain(name) })
  }
  for (const group of groups) {
    if (belief.isGroup(group.id) === false && belief.group(group.id) === undefined) {
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
function compare({ id, name, members }: SeenGroup, what: string, { belief, report }: Success): void {
  const known = belief.group(id)
  if (known === undefined || known.state === 'in doubt') return
  const isDoubtful = !belief.isCertain(known.name)
  const since = `${known.by} shows the opposite.`
  if (known.state === 'gone') {
    report({ rule: LISTED, what, message: `The group ${show(id)} is there. ${since}`, isDoubtful })
    return
  }
  const rule = known.isNew ? 'members-in-the-same-call' : undefined
  if (!mayBeStoredAs(known.name, name)) {
    report({ what, message: `The group ${show(id)} is called ${show(name)}. ${since}`, isDoubtful })
  }
  const { members: expected } = known
  if (expected === undefined) return
  const extra = [...members].find((member) => !expected.has(member))
  const missing = [...expected].find((member) => !members.has(member) && !known.mayHaveLeft.has(member))
  if (extra === undefined && missing === undefined) return
  const message = `The group ${show(id)} has ${extra === undefined ? 'not ' : ''}the member ${show(extra ?? missing)}. ${since}`
  report({ rule, what, message, isDoubtful })
}

/** The answer to a creation shows the group as it was asked for. */
export function takeCreation(success: Success): boolean {
  const { asked, data, belief, report } = success
  const group = isObject(data) ? readGroup(data['group'], success) : undefined
  if (group === undefined) return false
  const asksFor = asked.names('domains')
  if (!asked.isOdd) {
    const name = asked.text('name') ?? ''
    if (!mayBeStoredAs(name, group.name)) {
      report({ what: 'data', message: `The group is called ${show(group.name)}, and the request says ${show(name)}.` })
    }
    const extra = [...group.members].find((member) => !asksFor.has(member))
    const missing = [...asksFor].find(
      (member) => !group.members.has(member) && belief.isMonitored(member) !== false && mayBeHostname(member),
    )
    if (extra !== undefined || missing !== undefined) {
      const message = `The new group has ${extra === undefined ? 'not ' : ''}the member ${show(extra ?? missing)}.`
      report({ rule: 'members-in-the-same-call', what: 'data', message })
    }
  }
  belief.mayLeave(group.members, group.id)
  believeMembers(group.members, success)
  belief.addGroup(group)
  return true
}

export function takeDeletion({ asked, belief, source }: Success): boolean {
  const [id] = asked.ids
  // Of several ids, a service may take any.
  if (id === undefined || asked.ids.length > 1) belief.doubtGroups()
  else belief.removeGroup(id, source)
  return true
}

/** Members are monitored domains. */
export function believeMembers(names: Iterable<string>, { belief, source }: Success): void {
  for (const name of names) if (belief.isMonitored(name) === undefined) belief.seeDomain(name, name, source)
}

/** The group that a value describes; `undefined` if it describes none. A member that it names twice is reported. */
export function readGroup(value: unknown, { source, report }: Success): SeenGroup | undefined {
  const { id, name, domains } = isObject(value) ? value : {}
  if (typeof id !== 'string' || typeof name !== 'string' || !areTexts(domains)) return undefined
  const twice = repeatedIn(domains)
  if (twice !== undefined) report({ what: 'data', message: `The group ${show(id)} names ${show(twice)} twice.` })
  return { id, name, members: new Set(domains.map(comparable)), ...source }
}
