import type { Json } from '../ground/json.ts'

/** A rule of the specification, and its evidence. */
export interface Rule {
  id: string
  /** The demand of the specification, in one sentence. */
  says: string
  /** JSON pointer to the operation, the path or the security scheme that contains the rule. */
  place: string
  /** Each of these refusals shows the rule. If there are none, a success shows it. */
  refuses: readonly RefusalPattern[]
  /** JSON Schema for the evidence of a request that shows the rule. */
  when: Json | undefined
  /** The reason why no request can show it. */
  unobservable: string | undefined
  /** Whether a request with this evidence can show the rule; always true if the rule has no `when`. */
  matches(evidence: object): boolean
}

type RuleText = Omit<Rule, 'matches'>

/** Refusals with this code and this reason. `undefined` matches any. */
interface RefusalPattern {
  code: string | undefined
  reason: string | undefined
}

/** A rule of an `x-rule`. */
type WrittenRule = string | { says: string; refuses?: readonly string[]; when?: Json; unobservable?: string }

/** The rules of the object at `place`. `rules` is its `x-rule`, if it has one. */
export function readRules(rules: unknown, place: string): RuleText[] {
  return Object.entries((rules ?? {}) as Record<string, WrittenRule>).map(([id, rule]) => {
    const { says, refuses = [], when, unobservable } = typeof rule === 'string' ? { says: rule } : rule
    return { id, says, place, refuses: refuses.map(readPattern), when, unobservable }
  })
}

/** Whether the rule demands a refusal with this code and reason. */
export function isRefusedBy({ refuses }: Pick<Rule, 'refuses'>, code: string, reason: string | undefined): boolean {
  return refuses.some(
    (pattern) =>
      (pattern.code === undefined || pattern.code === code) &&
      (pattern.reason === undefined || pattern.reason === reason),
  )
}

/** `code`, `code/reason` or `/reason`. */
function readPattern(text: string): RefusalPattern {
  const [code, reason] = text.split('/')
  return { code: code === '' ? undefined : code, reason }
}
