import type { Json } from '../ground/json.ts'
import { type Assumption, assumptionsOf, overlayFor } from './assumptions.ts'
import { type Contract, compileContract, loadContract } from './contract.ts'
import { readSource } from './document.ts'
import { extensionsOf } from './extensions.ts'
import type { Overlay } from './overlay.ts'
import { createSharedSource } from './schema-compiler.ts'

/** Another choice than ours that the specification permits. */
export interface Alternative {
  /** The id of its assumption. */
  id: string
  /** Its number among those of the assumption, from 1, as the command `assumptions` counts them. */
  number: number
  assumption: Assumption
  /** What it changes: a merge patch of the object that holds the choice. */
  value: Json
  overlay: Overlay
}

/** All alternatives of a document, and what it takes to load the contract under any of them. */
export interface Choices {
  alternatives: readonly Alternative[]
  /** All, also those without an alternative. */
  assumptions: readonly Assumption[]
  /** The ids of all assumptions, also of those without an alternative. */
  ids: readonly string[]
  /** The contract with the overlays of the user, and no alternative. */
  contract: Contract
  /**
   * The contract under these alternatives, so fast that there can be hundreds: it is not validated again. That of a
   * single one is compiled once.
   * @throws ContractError where they do not fit together, as far as this shows without a validation
   */
  compile(alternatives: readonly Alternative[]): Promise<Contract>
  /**
   * The same for a server that makes accounts of fixtures, as a user gets it who applies their overlays: fixtures are held
   * to it. Beside overlays of the user, it is validated in every respect. @throws ContractError
   */
  load(alternatives: readonly Alternative[]): Promise<Contract>
}

let own: Promise<Choices> | undefined

/**
 * Reads the alternatives of the document with the overlays of the user. Without overlays, they are the same object each
 * time, so that what is compiled of them is compiled once for the process. @throws ContractError
 */
export function readChoices(overlays: readonly Overlay[]): Promise<Choices> {
  if (overlays.length > 0) return compareChoices(overlays)
  own ??= compareChoices([])
  return own
}

async function compareChoices(overlays: readonly Overlay[]): Promise<Choices> {
  const contract = await loadContract({ overlays })
  const source = await readSource(overlays)
  const compilers = createSharedSource()
  const compileAnew = (chosen: readonly Alternative[]) =>
    compileContract({ source, overlays: overlaysOf(chosen), validated: true }, compilers)
  const singles = new WeakMap<Alternative, Promise<Contract>>()
  const assumptions = assumptionsOf(source, extensionsOf(source))
  return {
    alternatives: assumptions.flatMap((assumption) =>
      assumption.alternatives.map((value, index) => ({
        id: assumption.id,
        number: index + 1,
        assumption,
        value,
        overlay: overlayFor(assumption, value, source),
      })),
    ),
    assumptions,
    ids: assumptions.map(({ id }) => id),
    contract,
    compile(chosen) {
      const [only] = chosen
      if (only === undefined || chosen.length > 1) return compileAnew(chosen)
      const known = singles.get(only) ?? compileAnew(chosen)
      singles.set(only, known)
      return known
    },
    async load(chosen) {
      if (overlays.length > 0) return loadContract({ overlays: [...overlays, ...overlaysOf(chosen)] })
      // Tests load our own alternatives, alone and together; to do that here takes a tenth of a second each time.
      const loaded = await compileAnew(chosen)
      loaded.document.validated = false
      return loaded
    },
  }
}

/** How a person names it: `success-status/1`. */
export function nameOf({ id, number }: Pick<Alternative, 'id' | 'number'>): string {
  return `${id}/${number}`
}

function overlaysOf(alternatives: readonly Alternative[]): Overlay[] {
  return alternatives.map(({ overlay }) => overlay)
}
