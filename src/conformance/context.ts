import { Explainer, type Explanation } from '../choices/explainer.ts'
import type { Permitted } from '../choices/permitted.ts'
import type { Asked } from '../choices/predictor.ts'
import type { Variants } from '../choices/variants.ts'
import type { RequestPurpose } from '../exchanges/purpose.ts'
import type { InvestigationResults } from './results.ts'

/** What all judgements of one investigation share. */
export interface JudgementContext {
  variants: Variants
  permitted: Permitted
  results: InvestigationResults
  /** Whether no other client changes the account. */
  isSoleWriter: boolean
  /** Whether no other client would use a domain or group name like this. */
  isOwnName(name: string): boolean
  /** Yields to other tasks if the present turn is over. */
  pause(): Promise<void> | undefined
}

/** Explains an exchange with the choices that are certain so far, or without them if they do not explain it. */
export async function explain(
  { variants, results, pause }: JudgementContext,
  purpose: RequestPurpose,
  asked: Omit<Asked, 'pause'>,
): Promise<Explanation> {
  const explainer = new Explainer(variants, purpose, { ...asked, pause })
  const { fixed } = results
  const explanation = await explainer.explain(fixed)
  if (explanation.isExplained || Object.keys(fixed).length === 0) return explanation
  const free = await explainer.explain({})
  if (free.isExplained) return free
  const open = explanation.open ?? free.open
  return { ...free, ...(open !== undefined && { open }) }
}
