import type { Explanation } from '../choices/behaviour.ts'
import type { Knowledge } from '../choices/knowledge.ts'
import type { Operation } from '../contract/api.ts'
import { isRefusedBy } from '../contract/rules.ts'
import { areTexts, groupIn } from '../exchanges/data.ts'
import { comparable, type RequestPurpose } from '../exchanges/purpose.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject } from '../ground/json.ts'

type OperationRule = Operation['rules'][number]
type ExpectedAnswer = Explanation['expected'][number]

/** The keyword of the limit that the service means, by the code of the refusal. */
const LIMITS: Readonly<Record<string, string>> = { request_too_large: 'maxItems', invalid_name: 'maxLength' }

/**
 * Finds the `x-rule` that is broken by a response that no choice explains. `expected` is what the service would have
 * answered under our choices. `undefined` if the specification has no rule about it.
 */
export function findBrokenRule(
  reading: ReadExchange,
  purpose: RequestPurpose,
  knowledge: Knowledge,
  expected: readonly ExpectedAnswer[],
): OperationRule | undefined {
  const { operation, outcome } = reading
  if (operation === undefined) return undefined
  // The rules at other places are about the key.
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

/** The rule that demands the missing refusal. */
function refusingRule(
  { outcome }: ReadExchange,
  rules: readonly OperationRule[],
  expected: readonly ExpectedAnswer[],
): OperationRule | undefined {
  for (const each of expected) {
    if (each.ok) continue
    const [{ code, reason }] = each.problems
    const rule = rules.find((candidate) => isRefusedBy(candidate, code, reason))
    // Few rules name the code of the refusal.
    if (rule !== undefined && (outcome.kind === 'success' || rule.says.includes(code))) return rule
  }
  return undefined
}

/** The rule about the limit that the service named in a refusal, although the request keeps it. */
function limitRule({ outcome }: ReadExchange, rules: readonly OperationRule[]): OperationRule | undefined {
  const code = outcome.kind === 'refusal' ? outcome.code : ''
  const reason = LIMITS[code]
  return reason === undefined ? undefined : rules.find((rule) => isRefusedBy(rule, code, reason))
}

/** If a request has nothing but `remove_domains`, only these entries can be the reason of the refusal. */
function withheld({ body = {} }: RequestPurpose): string {
  return Object.keys(body).join() === 'remove_domains' ? 'unknown-removals-ignored' : ''
}

/** The members that only one of the two groups has: the answered group or the expected group. */
function misplaced(data: unknown, demanded: ExpectedAnswer): string[] {
  const [seen, wanted] = [answeredGroup(data), demanded.ok ? answeredGroup(demanded.data) : undefined].map(
    (group) => new Set(group?.domains.map(comparable)),
  ) as [Set<string>, Set<string>]
  return [...seen, ...wanted].filter((name) => seen.has(name) !== wanted.has(name))
}

/** The id of the rule that an update broke, found from the members that differ; empty if there is none. */
function changeRule(members: readonly string[], { body = {}, ids }: RequestPurpose, knowledge: Knowledge): string {
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
