import { Explainer, type Explanation } from './behaviour.ts'
import type { Gathered } from './gathered.ts'
import type { Permitted } from './permitted.ts'
import type { Asked } from './predictor.ts'
import type { Purpose } from './purpose.ts'
import type { Variants } from './variants.ts'

/** What the judgements of one investigation have in common. */
export interface Means {
  variants: Variants
  permitted: Permitted
  gathered: Gathered
  /** Whether nobody else changes the account. */
  isSoleWriter: boolean
  /** Whether a domain or the name of a group is one that nobody else would use. */
  isOwnName(name: string): boolean
  /** Lets others have their turn, when it is theirs. */
  pause(): Promise<void> | undefined
}

/** With what is certain by now; without it where that does not explain the exchange. */
export async function explain(
  { variants, gathered, pause }: Means,
  purpose: Purpose,
  asked: Omit<Asked, 'pause'>,
): Promise<Explanation> {
  const explainer = new Explainer(variants, purpose, { ...asked, pause })
  const { fixed } = gathered
  const explanation = await explainer.explain(fixed)
  if (explanation.isExplained || Object.keys(fixed).length === 0) return explanation
  const free = await explainer.explain({})
  return free.isExplained ? free : explanation
}
