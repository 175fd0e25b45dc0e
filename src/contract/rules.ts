import { type Json, pointTo } from '../ground/json.ts'

/** A rule of the specification, and what shows that it holds. */
export interface Rule extends RuleText {
  /** Whether what is known of a request is what the rule asks for; true where it asks for nothing. */
  matches(evidence: object): boolean
}

export interface RuleText {
  id: string
  /** What the specification demands, in one sentence. */
  says: string
  /** JSON pointer of the operation, the path or the security scheme that it holds for. */
  place: string
  /** Refusals, of which any shows the rule. Where there are none, a success does. */
  refuses: readonly RefusalPattern[]
  /** JSON Schema of what must be known of a request so that it shows the rule. */
  when: Json | undefined
  /** Why no request shows it, where none does. */
  unobservable: string | undefined
}

/** Refusals with this code, for this reason; either may be left open. */
export interface RefusalPattern {
  code: string | undefined
  reason: string | undefined
}

/** The value of an `x-rule`. */
export type RulesText = Readonly<
  Record<string, string | { says: string; refuses?: readonly string[]; when?: Json; unobservable?: string }>
>

/** The rules of the `x-rule` of the object at `place`. */
export function readRules(rules: RulesText, place: string): RuleText[] {
  return Object.entries(rules).map(([id, rule]) => {
    const { says, refuses = [], when, unobservable } = typeof rule === 'string' ? { says: rule } : rule
    return { id, says, place, refuses: refuses.map(readPattern), when, unobservable }
  })
}

export function compileRules(
  rules: RulesText,
  place: string,
  compile: (schema: Json, pointer: string) => (value: unknown) => boolean,
): Rule[] {
  return readRules(rules, place).map((rule) => {
    const { id, when } = rule
    if (when === undefined) return { ...rule, matches: () => true }
    return { ...rule, matches: compile(when, `${pointTo(`${place}/x-rule`, id)}/when`) }
  })
}

/** Whether a refusal with this code and reason is one that the rule demands. */
export function isRefusedBy({ refuses }: Rule, code: string, reason: string | undefined): boolean {
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
