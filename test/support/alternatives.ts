import { assumptionsOf, overlayFor } from '../../src/contract/assumptions.ts'
import { type Contract, compileContract, loadContract } from '../../src/contract/contract.ts'
import { applyOverlay, type Overlay } from '../../src/contract/overlay.ts'
import type { Json } from '../../src/ground/json.ts'

export const { document } = await loadContract()
export const assumptions = assumptionsOf(document.source)

/** Each alternative of each assumption, with its number counted from 1. */
export const alternatives = assumptions.flatMap((assumption) =>
  assumption.alternatives.map((alternative, index) => [assumption.id, index + 1, assumption, alternative] as const),
)

/**
 * The actions of an overlay that makes an alternative choice, which is named by its id and number: `body-limit-2`. A
 * test that names one which is none is mistaken.
 */
export function actionsFor(name: string): readonly Json[] {
  const [, , assumption, alternative] = alternatives.find(([id, number]) => `${id}-${number}` === name) ?? []
  if (assumption === undefined || alternative === undefined) throw new Error(`There is no alternative ${name}.`)
  return overlayFor(assumption, alternative, document.source).actions
}

/**
 * The contract with these alternatives, chosen together. The document is not validated anew, which takes ten times as long
 * as all else; `test/contract/assumptions.test.ts` does that.
 */
export async function contractWith(...names: string[]): Promise<Contract> {
  let source = document.source
  for (const name of names)
    source = await applyOverlay(source, { name, actions: actionsFor(name) as unknown as Overlay['actions'] })
  return compileContract(source)
}
