import type { Operation } from '../contract/api.ts'
import { isRefusedBy } from '../contract/rules.ts'
import { isObject } from '../ground/json.ts'
import type { Explanation } from './behaviour.ts'
import { areTexts, groupIn } from './data.ts'
import type { Knowledge } from './knowledge.ts'
import { comparable, type Purpose } from './purpose.ts'
import type { Reading } from './reading.ts'

type Rule = Operation['rules'][number]
type Prediction = Explanation['expected'][number]

/** What a refusal says about the limit that the service has in mind. */
const LIMITS: Readonly<Record<string, string>> = { request_too_large: 'maxItems', invalid_name: 'maxLength' }

/**
 * The sentence of the specification that a response does not keep which no choice explains: `expected` is what would have
 * come under our choices. `undefined` where the specification has no sentence about it.
 */
export function findBrokenRule(
  reading: Reading,
  purpose: Purpose,
  knowledge: Knowledge,
  expected: readonly Prediction[],
): Rule | undefined {
  const { operation, outcome } = reading
  if (operation === undefined) return undefined
  // Those of the key speak of something else.
  const rules = operation.rules.filter(({ place }) => place.startsWith('/paths/'))
  const named = (id: string) => rules.find((rule) => rule.id === id)
  const demanded = expected.find((each) => each.ok)
  if (demanded === undefined) return refusingRule(reading, rules, expected)
  if (outcome.kind !== 'success') {
    return named(withheld(purpose)) ?? limitRule(reading, rules)
  }
  switch (operation.id) {
    case 'addDomains':
      return named('count-of-added')
    case 'deleteDomains':
      return named('deleted-domains-answered')
    case 'listDomainGroups':
      return answeredGroup(outcome.data)?.id === purpose.ids[0] ? undefined : named('one-group-by-id')
    case 'createDomainGroup':
      return misplaced(outcome.data, demanded).length === 0 ? undefined : named('members-in-the-same-call')
    case 'updateDomainGroup':
      return named(changeRule(misplaced(outcome.data, demanded), purpose, knowledge))
    default:
      return undefined
  }
}

/** The rule that demands the refusal that did not come. */
function refusingRule({ outcome }: Reading, rules: readonly Rule[], expected: readonly Prediction[]): Rule | undefined {
  for (const each of expected) {
    if (each.ok) continue
    const [{ code, reason }] = each.problems
    const rule = rules.find((candidate) => isRefusedBy(candidate, code, reason))
    // Few rules say with which code a request is refused.
    if (rule !== undefined && (outcome.kind === 'success' || rule.says.includes(code))) return rule
  }
  return undefined
}

/** The rule about the limit that a refused request keeps. */
function limitRule({ outcome }: Reading, rules: readonly Rule[]): Rule | undefined {
  const code = outcome.kind === 'refusal' ? outcome.code : ''
  const reason = LIMITS[code]
  return reason === undefined ? undefined : rules.find((rule) => isRefusedBy(rule, code, reason))
}

/** Only entries that are to be removed can be in the way of a request that names nothing else. */
function withheld({ body = {} }: Purpose): string {
  return Object.keys(body).join() === 'remove_domains' ? 'unknown-removals-ignored' : ''
}

/** The members that are there and should not be, and the other way round. */
function misplaced(data: unknown, demanded: Prediction): string[] {
  const [seen, wanted] = [answeredGroup(data), demanded.ok ? answeredGroup(demanded.data) : undefined].map(
    (group) => new Set(group?.domains.map(comparable)),
  ) as [Set<string>, Set<string>]
  return [...seen, ...wanted].filter((name) => seen.has(name) !== wanted.has(name))
}

/** What an update did wrong with the members on which it differs. */
function changeRule(members: readonly string[], { body = {}, ids }: Purpose, knowledge: Knowledge): string {
  if (members.length === 0) return ''
  if (body['domains'] !== undefined) return 'domains-replace-members'
  const [added, removed] = ['add_domains', 'remove_domains'].map((name) => {
    const list = body[name]
    return new Set(areTexts(list) ? list.map(comparable) : [])
  }) as [Set<string>, Set<string>]
  if (members.some((name) => added.has(name) && removed.has(name))) return 'additions-before-removals'
  const former = new Set(knowledge.groups.get(ids[0] ?? '')?.domains)
  const isLost = members.some((name) => former.has(name) && !added.has(name) && !removed.has(name))
  return isLost && added.size > 0 ? 'additions-keep-members' : ''
}

function answeredGroup(data: unknown): ReturnType<typeof groupIn> {
  return isObject(data) ? groupIn(data['group']) : undefined
}
