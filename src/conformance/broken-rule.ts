import { findBehaviour } from '../behaviour/operations/operations.ts'
import { groupIn, textsIn } from '../behaviour/shown-data.ts'
import type { Explanation } from '../choices/explainer.ts'
import type { Knowledge } from '../choices/knowledge.ts'
import type { Variants } from '../choices/variants.ts'
import type { Operation } from '../contract/api.ts'
import { isRefusedBy } from '../contract/rules.ts'
import { comparable, type RequestPurpose } from '../exchanges/purpose.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo, valueAt } from '../ground/json.ts'

type OperationRule = Operation['rules'][number]
type ExpectedAnswer = Explanation['expected'][number]

/** The keywords of the limits on what a request holds. */
const LIMITS = ['maxItems', 'maxLength'] as const

/**
 * Finds the `x-rule` that is broken by a response that no choice explains. `expected` is what the service would have
 * answered under our choices. `undefined` if the specification has no rule about it.
 */
export function findBrokenRule(
  reading: ReadExchange,
  purpose: RequestPurpose,
  knowledge: Knowledge,
  expected: readonly ExpectedAnswer[],
  variants: Variants,
): OperationRule | undefined {
  const { operation, outcome } = reading
  if (operation === undefined) return undefined
  // The rules at other places are about the key.
  const rules = operation.rules.filter(({ place }) => place.startsWith('/paths/'))
  const named = (id: string) => rules.find((rule) => rule.id === id)
  const demanded = expected.find((each) => each.ok)
  if (demanded === undefined) return refusingRule(reading, rules, expected)
  if (outcome.kind !== 'success') {
    return named(withheld(purpose)) ?? limitRule(reading, purpose, rules, variants)
  }
  const { ids, body = {} } = purpose
  const groups = [reading.shown.group, demanded.ok ? groupIn(demanded.data) : undefined]
  const [seen, wanted] = groups.map((group) => new Set(group?.domains.map(comparable))) as [Set<string>, Set<string>]
  const broken = findBehaviour(operation.id)?.brokenRule?.({
    shown: reading.shown,
    misplaced: [...seen, ...wanted].filter((name) => seen.has(name) !== wanted.has(name)),
    ids,
    former: new Set(knowledge.groups.get(ids[0] ?? '')?.domains),
    sent: (field) => (body[field] === undefined ? undefined : new Set(textsIn(body, field)?.map(comparable))),
  })
  return broken === undefined ? undefined : named(broken)
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

/**
 * The rule about the limit that the code of a refusal is about, or that the request just keeps, if the specification does
 * not show the code of that limit.
 */
function limitRule(
  { outcome, operation }: ReadExchange,
  { body = {} }: RequestPurpose,
  rules: readonly OperationRule[],
  variants: Variants,
): OperationRule | undefined {
  if (outcome.kind !== 'refusal' || operation === undefined) return undefined
  const { code } = outcome
  const keyword = LIMITS.find((limit) =>
    Object.entries(body).some(([field, value]) => {
      const schema = valueAt(operation.bodySchema, pointTo('/properties', field))
      if (valueAt(schema, `/x-error/${limit}`) === code) return true
      const isJustKept = Array.isArray(value) && valueAt(schema, `/${limit}`) === value.length
      return isJustKept && variants.openInBody(operation, limit).some(({ open }) => open.codes?.includes(code))
    }),
  )
  return keyword && rules.find((rule) => isRefusedBy(rule, code, keyword))
}

/** If a request has nothing but `remove_domains`, only these entries can be the reason of the refusal. */
function withheld({ body = {} }: RequestPurpose): string {
  return Object.keys(body).join() === 'remove_domains' ? 'unknown-removals-ignored' : ''
}
