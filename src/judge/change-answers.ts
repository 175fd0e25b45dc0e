import { isObject } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import type { GroupBelief, SeenGroup } from './belief.ts'
import { believeMembers, readGroup } from './group-answers.ts'
import { comparable, isPlainHostname, mayBeStoredAs } from './names.ts'
import type { AskedRequest } from './request.ts'
import type { Success } from './success.ts'

/** What a change asks for. Names are in comparable form. */
interface AskedChange {
  /** The group before, if it is known. */
  before: GroupBelief | undefined
  /** Whether the request lists all members. */
  isWhole: boolean
  added: ReadonlySet<string>
  removed: ReadonlySet<string>
  /** Entries to remove that some services may not recognise. */
  unclear: ReadonlySet<string>
  /** The members afterwards; `undefined` if they are not known. */
  members: ReadonlySet<string> | undefined
}

/** The answer to a change of a group. The specification leaves open what it shows. */
export function takeChange(success: Success): boolean {
  const { asked, data, belief } = success
  const [id = ''] = asked.ids
  if (asked.isOdd || asked.ids.length !== 1) {
    belief.doubtGroups()
    return true
  }
  const change = readChange(asked, belief.group(id))
  const shown = isObject(data) ? (readGroup(data['group'], success) ?? readGroup(data, success)) : undefined
  const joined = change.isWhole ? (change.members ?? change.added) : change.added
  if (shown === undefined) {
    belief.mayLeave(joined, id)
    learnUnseen(id, change, success)
  } else if (!asked.asksForGroup(shown.id)) {
    success.report({ what: 'data', message: `The answer has the group ${show(shown.id)}.` })
    belief.doubtGroups()
    return true
  } else {
    reportName(shown, change, success)
    reportMembers(shown, change, success)
    belief.mayLeave(joined, shown.id)
    belief.seeGroup(shown)
  }
  believeMembers(joined, success)
  return true
}

function readChange(asked: AskedRequest, known: GroupBelief | undefined): AskedChange {
  const before = known?.state === 'there' ? known : undefined
  const isWhole = Array.isArray(asked.fields.get('domains'))
  const [added, removed] = [asked.names('add_domains'), asked.names('remove_domains')]
  const unclear = new Set(
    asked
      .list('remove_domains')
      .filter((entry) => !isPlainHostname(entry))
      .map(comparable),
  )
  const kept = before?.members && [...before.members, ...added].filter((name) => !removed.has(name))
  const members = isWhole ? asked.names('domains') : kept && new Set(kept)
  return { before, isWhole, added, removed, unclear, members }
}

function reportName({ name }: SeenGroup, { before }: AskedChange, { asked, belief, report }: Success): void {
  const sent = asked.text('name')
  const expected = sent ?? before?.name
  if (expected === undefined || mayBeStoredAs(expected, name)) return
  const message = `The group is called ${show(name)}, and not ${show(expected)}.`
  report({ what: 'data', message, isDoubtful: sent === undefined && !belief.isCertain(expected) })
}

function reportMembers({ members }: SeenGroup, change: AskedChange, { belief, report }: Success): void {
  const { before, isWhole, added, removed, unclear, members: expected } = change
  const stays = [...removed].find((name) => members.has(name) && !unclear.has(name))
  if (stays !== undefined) {
    const rule = added.has(stays) ? 'additions-before-removals' : undefined
    report({ rule, what: 'data', message: `${show(stays)} was to be removed, and is a member.` })
    return
  }
  const isPossible = (name: string) => belief.isMonitored(name) !== false
  const lacks = [...added].find((name) => !members.has(name) && !removed.has(name) && isPossible(name))
  if (lacks !== undefined) {
    report({ what: 'data', message: `${show(lacks)} was to be added, and is no member.` })
    return
  }
  if (expected === undefined) return
  const mayStay = (name: string) => unclear.has(name) && (before?.members?.has(name) || added.has(name))
  const extra = [...members].find((name) => !expected.has(name) && !mayStay(name))
  const missing = [...expected].find((name) => {
    return !members.has(name) && isPossible(name) && (isWhole || !before?.mayHaveLeft.has(name))
  })
  if (extra === undefined && missing === undefined) return
  const message = `The group has ${extra === undefined ? 'not ' : ''}the member ${show(extra ?? missing)}.`
  const keeps = extra === undefined && added.size > 0 ? 'additions-keep-members' : undefined
  const rule = isWhole ? 'domains-replace-members' : keeps
  report({ rule, what: 'data', message, isDoubtful: !isWhole && !belief.isCertain(before?.name ?? '') })
}

/** Where the answer does not show the group, it is as the request asks. */
function learnUnseen(id: string, change: AskedChange, { asked, belief, source }: Success): void {
  const { before, added, unclear, members } = change
  const name = asked.text('name') ?? before?.name
  if (members === undefined || name === undefined || before === undefined) {
    belief.doubtGroup(id)
    return
  }
  const unsure = [...unclear].filter((each) => before.members?.has(each) || added.has(each))
  belief.changeGroup(id, {
    ...source,
    name,
    members: new Set([...members, ...unsure]),
    mayHaveLeft: new Map([...before.mayHaveLeft, ...unsure.map((each) => [each, 'unclear'] as const)]),
  })
}
