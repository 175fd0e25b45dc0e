import type { AssumptionVerdict } from '../judge/verdict.ts'
import { tableSection } from '../reports/outline.ts'
import type { Section } from '../reports/report.ts'

/** `alternative 2` */
function wordVerdict({ verdict, alternative }: AssumptionVerdict): string {
  return alternative === undefined ? verdict : `${verdict} ${alternative}`
}

/** `alternative 2, seen in r-1` */
export function describeVerdict(found: AssumptionVerdict): string {
  const { evidence } = found
  return wordVerdict(found) + (evidence.length === 0 ? '' : `, seen in ${evidence.join(', ')}`)
}

/** `12 as chosen, 1 alternative, 0 contradicted, 52 undecided` */
export function countVerdicts(verdicts: readonly AssumptionVerdict[]): string {
  const all = ['as chosen', 'alternative', 'contradicted', 'undecided'] as const
  return all.map((each) => `${verdicts.filter(({ verdict }) => verdict === each).length} ${each}`).join(', ')
}

/** The assumptions that are decided or contradicted. `seen` is the title of the column with the exchanges. */
export function decidedSection(title: string, seen: string, verdicts: readonly AssumptionVerdict[]): Section[] {
  const decided = verdicts.filter(({ verdict }) => verdict !== 'undecided')
  const rows = decided.map((each) => [each.id, wordVerdict(each), each.evidence.join(', ')])
  return tableSection(title, ['Assumption', 'Verdict', seen], rows)
}
