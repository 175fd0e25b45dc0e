import { camel, type Settings } from '../domain/settings.ts'
import { type Json, mergePatch } from '../ground/json.ts'
import { type Assumption, assumptionsOf, overlayFor } from './assumptions.ts'
import type { CodesBySetting } from './codes.ts'
import { type Contract, compileContract, loadContract } from './contract.ts'
import { readSource } from './document.ts'
import { extensionsOf } from './extensions.ts'
import { applyOverlay, type Overlay } from './overlay.ts'

/** A choice other than ours that the specification permits. */
export interface Alternative {
  /** The id of its assumption. */
  id: string
  /** Its number within the assumption, from 1, as in the command `assumptions`. */
  number: number
  assumption: Assumption
  /** The change: a merge patch of the object that contains the choice. */
  value: Json
  overlay: Overlay
}

/** All alternatives of a document, with functions that load the contract under any of them. */
export interface Choices {
  alternatives: readonly Alternative[]
  /** All assumptions, including those without an alternative. */
  assumptions: readonly Assumption[]
  /** The ids of all assumptions, including those without an alternative. */
  ids: readonly string[]
  /** The contract with the overlays of the user, and no alternative. */
  contract: Contract
  /**
   * The contract under these alternatives. It is not validated again. The contract under a single alternative is
   * compiled once.
   * @throws ContractError for alternatives that conflict, as far as this shows without validation
   */
  compile(alternatives: readonly Alternative[]): Promise<Contract>
}

let own: Promise<Choices> | undefined

/**
 * Reads the alternatives of the document with the overlays of the user. Without overlays, the result is always the same
 * object. So its contracts are compiled once for the process. @throws ContractError
 */
export function readChoices(overlays: readonly Overlay[]): Promise<Choices> {
  if (overlays.length > 0) return compareChoices(overlays)
  own ??= compareChoices([])
  return own
}

async function compareChoices(overlays: readonly Overlay[]): Promise<Choices> {
  const contract = await loadContract({ overlays })
  const source = await readSource(overlays)
  async function compileAnew(chosen: readonly Alternative[]): Promise<Contract> {
    let changed = source
    for (const { overlay } of chosen) changed = await applyOverlay(changed, overlay)
    return compileContract(changed)
  }
  const compiled = settingsCompiledInto(source)
  const singles = new WeakMap<Alternative, Promise<Contract>>()
  const assumptions = assumptionsOf(source)
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
      const known = singles.get(only) ?? withSetting(contract, only, compiled) ?? compileAnew(chosen)
      singles.set(only, known)
      return known
    },
  }
}

/**
 * The names of the settings that are compiled into a contract, or that decide which codes its operations declare. All
 * others are read when a request is answered.
 */
function settingsCompiledInto(source: Json): ReadonlySet<string> {
  const declaring = extensionsOf(source).filter(({ key }) => key === 'x-codes-by-setting')
  return new Set([
    ...(['internationalNames', 'spelling', 'decimals', 'quotaHeaders', 'grace'] satisfies (keyof Settings)[]),
    ...declaring.flatMap(({ value }) => Object.keys(value as CodesBySetting)).map(camel),
  ])
}

/** The contract with another value of a setting; `undefined` if the document must be compiled again. */
function withSetting(
  contract: Contract,
  alternative: Alternative,
  compiled: ReadonlySet<string>,
): Promise<Contract> | undefined {
  const name = settingOf(alternative)
  if (name === undefined || compiled.has(name)) return undefined
  const { value } = mergePatch({ value: contract.settings[name] }, alternative.value) as Json
  const document = { ...contract.document, isChanged: true }
  return Promise.resolve({ ...contract, document, settings: { ...contract.settings, [name]: value } })
}

/** The name of the setting that an alternative changes; `undefined` if it changes another part of the document. */
export function settingOf({ assumption: { place } }: Alternative): keyof Settings | undefined {
  return place.startsWith(SETTINGS_PLACE) ? (camel(place.slice(SETTINGS_PLACE.length)) as keyof Settings) : undefined
}

const SETTINGS_PLACE = '/x-settings/'

/** The name for a person: `success-status/1`. */
export function nameOf({ id, number }: Pick<Alternative, 'id' | 'number'>): string {
  return `${id}/${number}`
}
